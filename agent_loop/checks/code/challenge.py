"""Runs that must fail: what the tests say when one expected value is altered.

A solution that is its own referee, or that has taken the process of the tests over, says the same
to the real tests and to a twin, or it guesses. So each assert needs a twin that fails, and then
the real tests and failing twins are run again in an order drawn by lot: guessing right every time
is improbable.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ROUNDS = 6
"""Runs drawn by lot: a guess survives one run in two."""

Passes = Callable[[str], bool]
Twins = Mapping[int, Sequence[Sequence[str]]]


@dataclass(frozen=True, kw_only=True)
class Challenged:
    """What the runs that must fail have shown."""

    passed: tuple[int, ...]
    """Asserts of which every twin passes."""
    count: int
    """Asserts that have twins."""
    steady: bool
    """The same tests ended the same way each time."""


def challenge(
    passes: Passes, text: str, twins: Mapping[int, Sequence[Sequence[str]]]
) -> Challenged:
    """Run the twins of each assert until one fails, then some of all again.

    Args:
        passes: runs tests in a fresh container; whether they pass.
        text: the real tests, which have passed once.
        twins: number of the assert -> groups of texts; of each group at least one must fail.
    """
    failing: list[str] = []
    passed: list[int] = []
    for number, groups in twins.items():
        failed = [next((twin for twin in group if not passes(twin)), "") for group in groups]
        if all(failed):
            failing += failed
        else:
            passed.append(number)
    steady = bool(passed) or _steady(passes, text, failing)
    return Challenged(passed=tuple(passed), count=len(twins), steady=steady)


def _steady(passes: Passes, text: str, failing: Sequence[str]) -> bool:
    for _ in range(ROUNDS if failing else 0):
        real = secrets.randbelow(2) == 0
        if passes(text if real else secrets.choice(failing)) != real:
            return False
    return True
