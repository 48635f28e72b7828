"""Two variants on the same attempts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_loop.stats.science import multipletests, scipy_stats

EXACT_TASKS = 15
"""Up to here every assignment of signs is tried (2 ** 15); above, 9,999 drawn ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """Pairs of outcomes of the same task and attempt number."""

    both: int = 0
    neither: int = 0
    only_first: int = 0
    only_second: int = 0

    @property
    def pairs(self) -> int:
        return self.both + self.neither + self.only_first + self.only_second


def pair_counts(pairs: Iterable[tuple[bool, bool]]) -> PairCounts:
    """Count (first, second) outcomes."""
    counted = list(pairs)
    return PairCounts(
        both=sum(a and b for a, b in counted),
        neither=sum(not a and not b for a, b in counted),
        only_first=sum(a and not b for a, b in counted),
        only_second=sum(b and not a for a, b in counted),
    )


def mcnemar_exact(b: int, c: int) -> float | None:
    """Two-sided p value of `b` pairs that only the first passed and `c` only the second.

    `None` without a discordant pair: the pairs say nothing about a difference. Source: McNemar 1947
    in its exact binomial form; SciPy's `binomtest(b, b + c, 0.5)`.
    """
    if b + c == 0:
        return None
    return float(scipy_stats().binomtest(b, b + c, 0.5).pvalue)


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """Two-sided p value of "the mean of these per-task differences is 0", by flipping signs.

    Exact up to 15 tasks. `None` when nothing differs. It counts tasks, not attempts, so it holds
    where attempts at one task hang together; SciPy's `permutation_test`.
    """
    import numpy as np  # noqa: PLC0415

    if not any(differences):
        return None
    if len(differences) == 1:
        return 1.0  # one task flipped either way is as far from 0
    found = scipy_stats().permutation_test(
        (np.asarray(differences, dtype=float),),
        np.mean,
        permutation_type="samples",
        n_resamples=2**EXACT_TASKS if len(differences) <= EXACT_TASKS else 9_999,
        rng=np.random.default_rng(20_240_229),
    )
    return float(found.pvalue)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """The p values of several comparisons corrected by Holm's method, in the same order.

    `None` stays `None` and counts as no comparison. Holm 1979; statsmodels' `multipletests`.
    """
    known = [p for p in ps if p is not None]
    if not known:
        return list(ps)
    corrected = iter(multipletests().multipletests(known, method="holm")[1])
    return [None if p is None else float(next(corrected)) for p in ps]
