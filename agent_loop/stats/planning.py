"""What an experiment of a given size could see, before it is run."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agent_loop.stats.science import scipy_stats

ALPHA = 0.05
POWER = 0.8
_STEP = 1 / 1024
_MOST_PAIRS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """What an experiment could see. Rates and differences are shares between 0 and 1."""

    tasks: int
    attempts: int
    baseline: float
    gain: float | None
    """Smallest true rise of the pass rate found with `power`; `None`: not even the largest."""
    loss: float | None
    """Smallest true fall found with `power`, as a positive number."""
    best: float
    """Chance to find the largest difference there can be."""
    alpha: float = ALPHA
    power: float = POWER

    @property
    def pairs(self) -> int:
        return self.tasks * self.attempts


def power(pairs: int, baseline: float, difference: float, *, alpha: float = ALPHA) -> float:
    """Chance that exact McNemar on `pairs` finds a true `difference` from the rate `baseline`.

    Assumes that the two attempts of a pair are independent and that every task is equally hard: the
    case with the most noise. Where tasks differ, the same difference shows in fewer discordant
    pairs, so a real experiment sees a little more than this says.
    """
    changed = baseline + difference
    if not (0 <= baseline <= 1 and -1e-9 <= changed <= 1 + 1e-9):
        raise ValueError(f"a rate of {changed} from {baseline}")
    changed = min(1.0, max(0.0, changed))
    lost, won = baseline * (1 - changed), changed * (1 - baseline)
    either = lost + won
    if pairs < 1 or either <= 0:
        return 0.0
    binom = scipy_stats().binom
    sizes, edges = _edges(pairs, alpha)
    share = won / either
    tails = binom.cdf(edges, sizes, share) + binom.sf(sizes - edges - 1, sizes, share)
    found = float((binom.pmf(sizes, pairs, either) * tails).sum())
    return min(1.0, found)


def mde(
    pairs: int,
    baseline: float,
    *,
    rise: bool = True,
    alpha: float = ALPHA,
    wanted: float = POWER,
) -> float | None:
    """Smallest true difference that `pairs` find with the chance `wanted`; `None`: none is."""
    top = 1 - baseline if rise else baseline

    def enough(size: float) -> bool:
        return power(pairs, baseline, size if rise else -size, alpha=alpha) >= wanted

    if top <= 0 or not enough(top):
        return None
    return _smallest(enough, top)


def sensitivity(
    *, tasks: int, attempts: int, baseline: float, alpha: float = ALPHA, wanted: float = POWER
) -> Sensitivity:
    """Everything to print before a run of `tasks` x `attempts` for each variant."""
    pairs = tasks * attempts
    ends = [power(pairs, baseline, end, alpha=alpha) for end in (1 - baseline, -baseline)]
    return Sensitivity(
        tasks=tasks,
        attempts=attempts,
        baseline=baseline,
        gain=mde(pairs, baseline, rise=True, alpha=alpha, wanted=wanted),
        loss=mde(pairs, baseline, rise=False, alpha=alpha, wanted=wanted),
        best=max(ends),
        alpha=alpha,
        power=wanted,
    )


def chance_within(pairs: int, baseline: float, difference: float, *, most_below: float) -> float:
    """Chance that the variant has at most `most_below` passes fewer than the control.

    Both make `pairs` independent attempts, the control at `baseline`, the variant at
    `baseline + difference`: what a rule on passes decides where the truth is that.
    """
    import numpy as np  # noqa: PLC0415

    binom = scipy_stats().binom
    control = np.arange(pairs + 1)
    weight = binom.pmf(control, pairs, baseline)
    changed = min(1.0, max(0.0, baseline + difference))
    enough = np.ceil(control - most_below - 1e-9) - 1
    return float((weight * binom.sf(enough, pairs, changed)).sum())


def pairs_needed(
    baseline: float, difference: float, *, alpha: float = ALPHA, wanted: float = POWER
) -> int | None:
    """Pairs that find this true difference with the chance `wanted`; `None`: more than 4,096."""
    small, size = 0, 4
    while power(size, baseline, difference, alpha=alpha) < wanted:
        small, size = size, size * 5 // 4 + 1
        if size > _MOST_PAIRS:
            return None
    while size - small > 1:  # exact tests saw up and down a little: one edge of several
        middle = (small + size) // 2
        enough = power(middle, baseline, difference, alpha=alpha) >= wanted
        small, size = (small, middle) if enough else (middle, size)
    return size


def _smallest(enough: Callable[[float], bool], top: float) -> float:
    low, high = 0.0, top
    while high - low > _STEP:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=32)
def _edges(pairs: int, alpha: float) -> tuple[Any, Any]:
    """Numbers of discordant pairs, and how many of each the weaker side may win for p <= alpha.

    -1 where p is above alpha even with none.
    """
    import numpy as np  # noqa: PLC0415

    binom = scipy_stats().binom
    sizes = np.arange(1, pairs + 1)
    reached = binom.ppf(alpha / 2, sizes, 0.5)
    over = 2 * binom.cdf(reached, sizes, 0.5) > alpha * (1 + 1e-12)
    return sizes, np.where(over, reached - 1, reached)
