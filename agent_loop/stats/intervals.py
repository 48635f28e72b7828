"""Values with the range they may lie in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from agent_loop.stats.science import scipy_stats

CONFIDENCE = 0.95
RESAMPLES = 9_999
SEED = 20_240_229
"""Fixed, so that a report printed twice says the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A value with the range it may lie in. `low` = `high`: too few values for a range."""

    value: float
    low: float
    high: float


def wilson(k: int, n: int, *, confidence: float = CONFIDENCE) -> Interval | None:
    """Pass rate of `k` in `n` with its Wilson interval; `None` without attempts.

    Source: Wilson 1927; SciPy's `binomtest(...).proportion_ci(method="wilson")`.
    """
    if n == 0:
        return None
    found = scipy_stats().binomtest(k, n).proportion_ci(confidence, method="wilson")
    return Interval(value=k / n, low=float(found.low), high=float(found.high))


def bootstrap_mean(values: Sequence[float], *, confidence: float = CONFIDENCE) -> Interval | None:
    """A mean with its expanded percentile bootstrap interval; `None` without values.

    One value, or equal ones, give a range without width: nothing is known about their spread.
    """
    if not values:
        return None
    mean = fmean(values)
    if min(values) == max(values):
        return Interval(value=mean, low=mean, high=mean)
    low, high = _percentiles(values, confidence)
    return Interval(value=mean, low=low, high=high)


def paired_bootstrap_by_task(
    first: Mapping[str, Sequence[float]],
    second: Mapping[str, Sequence[float]],
    *,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Mean of the per-task differences, second - first, with a bootstrap over tasks.

    Tasks are drawn, not attempts: attempts at one task are not independent of one another. Tasks
    without a value on either side are left out; `None` when none is left. With fewer than six tasks
    the range is too narrow (docs/evals.md has the simulated coverage).
    """
    return bootstrap_mean(list(task_differences(first, second).values()), confidence=confidence)


def task_differences(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """Second mean - first mean of every task that has values on both sides."""
    shared = sorted(task for task in first if first[task] and second.get(task))
    return {task: fmean(second[task]) - fmean(first[task]) for task in shared}


def _percentiles(values: Sequence[float], confidence: float) -> tuple[float, float]:
    import numpy as np  # noqa: PLC0415

    found = (
        scipy_stats()
        .bootstrap(
            (np.asarray(values, dtype=float),),
            np.mean,
            n_resamples=RESAMPLES,
            confidence_level=_expanded(confidence, len(values)),
            method="percentile",
            rng=np.random.default_rng(SEED),
        )
        .confidence_interval
    )
    return float(found.low), float(found.high)


def _expanded(confidence: float, n: int) -> float:
    """The level at which a percentile interval of `n` values is as wide as a t interval.

    A bootstrap of few values is too narrow: it draws from values whose spread is that of a sample,
    divided by n instead of n - 1, and knows no t. Source: Hesterberg 2015, "What Teachers Should
    Know About the Bootstrap", section 5.3 (expanded percentile interval).
    """
    stats = scipy_stats()
    quantile = stats.t.ppf((1 + confidence) / 2, n - 1) * sqrt(n / (n - 1))
    return min(1 - 2 / RESAMPLES, float(1 - 2 * stats.norm.sf(quantile)))
