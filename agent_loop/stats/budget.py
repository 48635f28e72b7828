"""Success by budget: one run scored at every smaller cap of laps, tokens or seconds."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_loop.stats.intervals import Interval, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """How one judged attempt went: what it had used when it first passed, if it did."""

    passed_at: float | None
    """Used up to the first lap with which it passed; `None`: it never passed."""
    used: float
    """Used in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapPoint:
    """What a smaller cap would have left of the passes."""

    cap: float
    passed: int
    judged: int
    rate: Interval | None


def success_by(attempts: Sequence[Spending], *, points: int = 24) -> list[CapPoint]:
    """The pass rate at every cap at which it changes, and at the largest use; at most `points`.

    Empty without attempts. Holds for caps that the model is not told of: one that knows its budget
    would behave otherwise.
    """
    if not attempts:
        return []
    steps = sorted({a.passed_at for a in attempts if a.passed_at is not None})
    caps = sorted({*_thinned(steps, points - 1), max(a.used for a in attempts)})
    return [_at(cap, attempts) for cap in caps]


def _at(cap: float, attempts: Sequence[Spending]) -> CapPoint:
    passed = sum(a.passed_at is not None and a.passed_at <= cap for a in attempts)
    return CapPoint(
        cap=cap, passed=passed, judged=len(attempts), rate=wilson(passed, len(attempts))
    )


def _thinned(steps: Sequence[float], most: int) -> list[float]:
    if len(steps) <= most:
        return list(steps)
    return [steps[round(at * (len(steps) - 1) / (most - 1))] for at in range(most)]
