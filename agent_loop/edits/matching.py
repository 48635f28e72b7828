"""Where some lines stand in a file: exactly once, or why not."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_MANY = 20
_UNITS = (4, 2, 8, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The one place."""

    start: int
    stop: int
    replacement: tuple[str, ...]
    """The new lines, indented as the file is."""
    how: str = ""
    """What had to be overlooked; empty for an exact match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """No place, or several."""

    several: tuple[int, ...] = ()
    """Line numbers from 1 where it stands; empty: nowhere."""


def locate(
    lines: Sequence[str], search: Sequence[str], new: Sequence[str], *, at: int | None = None
) -> Match | Miss:
    """Find `search` in `lines`, forgiving blanks but never words.

    `at` is the line (from 0) that a diff states: it decides between several equal places.
    """
    for wanted, instead in _variants(search, new):
        for tier in (_exactly, _without_trailing_blanks, _by_other_indent):
            found = tier(lines, wanted, instead)
            if len(found) > 1 and at is not None:
                found = [match for match in found if match.start == at] or found
            if len(found) == 1:
                return found[0]
            if found:
                return Miss(several=tuple(match.start + 1 for match in found))
    return Miss()


def _variants(
    search: Sequence[str], new: Sequence[str]
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """As given, and without blank lines at the edges."""
    given = (tuple(search), tuple(new))
    trimmed = (_trim(search), _trim(new))
    return [given] if trimmed[0] == given[0] or not trimmed[0] else [given, trimmed]


def _trim(lines: Sequence[str]) -> tuple[str, ...]:
    start, stop = 0, len(lines)
    while start < stop and not lines[start].strip():
        start += 1
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return tuple(lines[start:stop])


def _exactly(lines: Sequence[str], search: Sequence[str], new: Sequence[str]) -> list[Match]:
    return _matches(lines, search, new, key=str, how="")


def _without_trailing_blanks(
    lines: Sequence[str], search: Sequence[str], new: Sequence[str]
) -> list[Match]:
    return _matches(lines, search, new, key=str.rstrip, how="trailing blanks")


def _matches(
    lines: Sequence[str],
    search: Sequence[str],
    new: Sequence[str],
    *,
    key: Callable[[str], str],
    how: str,
) -> list[Match]:
    return [
        Match(start=start, stop=start + len(search), replacement=tuple(new), how=how)
        for start in positions([key(line) for line in lines], [key(line) for line in search])
    ]


def _by_other_indent(
    lines: Sequence[str], search: Sequence[str], new: Sequence[str]
) -> list[Match]:
    found: list[Match] = []
    places = positions([line.strip() for line in lines], [line.strip() for line in search])
    for start in places:
        window = lines[start : start + len(search)]
        shift = _shift(search, window)
        if shift is not None:
            moved = tuple(shift(_indent(line)) + line.lstrip(" \t") for line in new)
            found.append(
                Match(start=start, stop=start + len(search), replacement=moved, how="indentation")
            )
    return found


def positions(lines: Sequence[str], search: Sequence[str]) -> list[int]:
    """Indexes at which `search` stands in `lines`; at most 20. Linear: the search is C's."""
    if not search:
        return []
    hay = "\n" + "\n".join(lines) + "\n"
    needle = "\n" + "\n".join(search) + "\n"
    found: list[int] = []
    line, seen, at = 0, 0, hay.find(needle)
    while at >= 0 and len(found) < _MANY:
        line += hay.count("\n", seen, at)
        seen = at
        found.append(line)
        at = hay.find(needle, at + 1)
    return found


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _shift(search: Sequence[str], window: Sequence[str]) -> Callable[[str], str] | None:
    """How the reply's indentation becomes the file's, if one rule fits every line."""
    pairs = {
        (_indent(asked), _indent(real))
        for asked, real in zip(search, window, strict=True)
        if asked.strip()
    }
    for rule in (_deeper, _shallower, _to_tabs, _to_spaces):
        change = rule(pairs)
        if change is not None:
            return change
    return None


def _deeper(pairs: set[tuple[str, str]]) -> Callable[[str], str] | None:
    asked, real = min(pairs)
    if not real.endswith(asked):
        return None
    prefix = real[: len(real) - len(asked)]
    if all(there == prefix + here for here, there in pairs):
        return lambda indent: prefix + indent
    return None


def _shallower(pairs: set[tuple[str, str]]) -> Callable[[str], str] | None:
    asked, real = min(pairs)
    if not asked.endswith(real):
        return None
    prefix = asked[: len(asked) - len(real)]
    if all(here == prefix + there for here, there in pairs):
        return lambda indent: indent.removeprefix(prefix) if indent.startswith(prefix) else ""
    return None


def _to_tabs(pairs: set[tuple[str, str]]) -> Callable[[str], str] | None:
    for unit in _UNITS:
        if all(
            there == "\t" * (len(here) // unit) and here == " " * len(here) and not len(here) % unit
            for here, there in pairs
        ):
            return lambda indent, unit=unit: (  # type: ignore[misc]
                "\t" * (len(indent.expandtabs(unit)) // unit)
                + " " * (len(indent.expandtabs(unit)) % unit)
            )
    return None


def _to_spaces(pairs: set[tuple[str, str]]) -> Callable[[str], str] | None:
    for unit in _UNITS:
        if all(there == here.expandtabs(unit) for here, there in pairs):
            return lambda indent, unit=unit: indent.expandtabs(unit)  # type: ignore[misc]
    return None


def nearest(lines: Sequence[str], search: Sequence[str]) -> str:
    """The region most like `search`, with line numbers, and the first line that differs."""
    wanted = _trim(search)
    start = _best_start(lines, wanted)
    if start is None:
        return ""
    stop = min(len(lines), start + min(len(wanted), 30))
    differs = _first_difference(lines, wanted, start)
    shown = "\n".join(
        f"{number + 1:>5} | {lines[number][:200]}"
        for number in range(max(0, start - 2), min(len(lines), stop + 2))
    )
    return f"{differs}The nearest lines of the file are:\n{shown}"


def _best_start(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Each line of the search votes for where the block would start."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        places.setdefault(line.strip(), []).append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted[:200]):
        known = places.get(line.strip(), []) if line.strip() else []
        for number in known[:_MANY]:
            votes[max(0, number - offset)] += 1 + len(line.strip()) // 20
    if votes:
        best = max(votes.values())
        return min(start for start, count in votes.items() if count == best)
    return _by_words(lines, wanted)


def _by_words(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """No line is the same: the line that shares most words with the first lines of the search."""
    words = {word for line in wanted[:5] for word in _words(line)}
    scored = [(len(words.intersection(_words(line))), -number) for number, line in enumerate(lines)]
    best = max(scored, default=(0, 0))
    return -best[1] if best[0] else None


def _words(line: str) -> set[str]:
    plain = "".join(char if char.isalnum() or char == "_" else " " for char in line[:400])
    return {word for word in plain.split() if len(word) > 2}


def _first_difference(lines: Sequence[str], wanted: Sequence[str], start: int) -> str:
    for offset, line in enumerate(wanted):
        at = start + offset
        real = lines[at] if at < len(lines) else None
        if real is None:
            return f"The file ends before line {offset + 1} of your SEARCH. "
        if real.strip() != line.strip():
            return (
                f"Line {offset + 1} of your SEARCH is {line.strip()[:120]!r}, "
                f"line {at + 1} of the file is {real.strip()[:120]!r}. "
            )
    return "Only the indentation differs, and not evenly. "
