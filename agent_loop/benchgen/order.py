"""In which order bugs are tried: functions in turn, rare kinds first, chance by the seed alone."""

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from agent_loop.benchgen.bugs import Bug

HELD_OUT_OF = 4
"""One function in this many is held out."""


def ordered(bugs: Sequence[Bug], seed: int) -> Iterator[Bug]:
    """Every bug once. Each round takes one of every function, of the kind seen least so far."""
    chance = random.Random(f"order:{seed}")  # noqa: S311 - no secret
    waiting: dict[str, list[Bug]] = {}
    for bug in bugs:
        waiting.setdefault(bug.functions[0], []).append(bug)
    functions = sorted(waiting)
    chance.shuffle(functions)
    for name in functions:
        chance.shuffle(waiting[name])
    seen: Counter[str] = Counter()
    while functions:
        for name in list(functions):
            bug = min(waiting[name], key=lambda one: seen[one.kind])
            waiting[name].remove(bug)
            seen[bug.kind] += 1
            yield bug
            if not waiting[name]:
                functions.remove(name)


def split_of(function: str, seed: int) -> str:
    """`held_out` or `dev`: all bugs of one function are on one side."""
    number = int(hashlib.sha256(f"split:{seed}:{function}".encode()).hexdigest()[:8], 16)
    return "held_out" if number % HELD_OUT_OF == 0 else "dev"


def pairs(killed: Sequence[Bug], count: int, seed: str) -> list[tuple[Bug, ...]]:
    """Groups of two or three bugs of one side of the split, each of which fails tests alone."""
    chance = random.Random(f"pairs:{seed}")  # noqa: S311 - no secret
    found: list[tuple[Bug, ...]] = []
    for _ in range(count * 4):
        if len(found) == count or len(killed) < 2:
            break
        size = min(len(killed), chance.choice((2, 2, 2, 3)))
        found.append(tuple(chance.sample(list(killed), size)))
    return found
