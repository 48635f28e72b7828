"""How hard a bug is likely to be to find, from what its tests show. An estimate, not a measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_loop.benchgen.bugs import Bug

_PLAIN = frozenset(
    [
        "condition_negated",
        "comparison_flipped",
        "return_dropped",
        "guard_removed",
        "call_removed",
        "not_removed",
        "break_continue",
        "assignment_removed",
        "update_removed",
        "exception_type",
    ]
)
"""Kinds that usually show at once."""
_FAR = 5
_MANY = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """The parts of the estimate and their sum."""

    score: float
    """0 (plain to see) to 1."""
    label: str
    failing: int
    distance: int | None
    """Calls between a failing test and the changed function; `None`: not measured."""


def estimate(bug: Bug, failing: Sequence[str], depths: Mapping[str, int]) -> Difficulty:
    """Few failing tests, a long way from test to bug, a quiet kind and several sites are hard."""
    known = [depths[one] for one in failing if one in depths]
    distance = min(known) if known else None
    far = 0.5 if distance is None else min(distance - 1, _FAR) / _FAR
    few = 1.0 - min(len(failing) - 1, _MANY) / _MANY
    kinds = bug.parts or (bug.kind,)
    quiet = sum(kind not in _PLAIN for kind in kinds) / len(kinds)
    several = min(len(bug.edits) - 1, 2) / 2
    score = round(0.35 * far + 0.2 * few + 0.2 * quiet + 0.25 * several, 3)
    label = "hard" if score >= 0.55 else "medium" if score >= 0.35 else "easy"
    return Difficulty(score=score, label=label, failing=len(failing), distance=distance)
