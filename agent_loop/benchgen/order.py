"""In which order bugs are tried: functions in turn, rare kinds first, chance by the seed alone."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

from agent_loop.benchgen.bugs import Bug, combined

HELD_OUT_OF = 4
"""One task in this many is held out."""


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


def split(tasks: Sequence[Sequence[str]], seed: int) -> list[str]:
    """`held_out` or `dev` for each task; what a function has is all on one side.

    Both sides have tasks as soon as they share no function: about one task in `HELD_OUT_OF`
    is held out, and never none.

    Args:
        tasks: the functions of each task.
        seed: chooses which.
    """
    groups = _connected(tasks)
    random.Random(f"split:{seed}").shuffle(groups)  # noqa: S311 - no secret
    groups.sort(key=len)
    most = max(1, len(tasks) // HELD_OUT_OF)
    held: set[int] = set()
    for number, group in enumerate(groups[:-1]):
        if number == 0 or len(held) + len(group) <= most:
            held.update(group)
    return ["held_out" if number in held else "dev" for number in range(len(tasks))]


def _connected(tasks: Sequence[Sequence[str]]) -> list[list[int]]:
    """Tasks by number, together where they share a function."""
    groups: list[tuple[set[str], list[int]]] = []
    for number, functions in enumerate(tasks):
        names, members = set(functions), [number]
        apart = []
        for known, others in groups:
            if known & names:
                names |= known
                members = [*others, *members]
            else:
                apart.append((known, others))
        groups = [*apart, (names, members)]
    return [sorted(members) for _, members in groups]


def grouped(bugs: Sequence[Bug], seed: str) -> list[tuple[Bug, tuple[Bug, ...]]]:
    """Combined bugs and their two or three parts, of one file where it has so many."""
    chance = random.Random(f"groups:{seed}")  # noqa: S311 - no secret
    left = list(bugs)
    found: list[tuple[Bug, tuple[Bug, ...]]] = []
    while len(left) > 1:
        first = left.pop(0)
        group, both = [first], None
        size = chance.choice((2, 2, 2, 3))
        near = [one for one in left if one.paths == first.paths]
        for one in [*near, *(one for one in left if one not in near)]:
            more = combined([*group, one]) if len(group) < size else None
            if more is not None:
                both = more
                group.append(one)
        if both is not None:
            found.append((both, tuple(group)))
            left = [one for one in left if one not in group]
    return found
