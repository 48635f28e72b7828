"""Text that remembers, for each of its characters, where in the original it came from.

Folding rewrites a text many times; the page must still highlight the real characters.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traced:
    """A rewritten text; character `i` stands for the original's `starts[i]:ends[i]`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The original's span behind `text[start:end]`, which must not be empty."""
        return self.starts[start], self.ends[end - 1]


@dataclass(frozen=True, slots=True)
class Kept:
    """A replacement that is a part of the text being rewritten, offsets kept."""

    start: int
    end: int


def traced(text: str) -> Traced:
    """A text nothing has been done to yet."""
    return Traced(text, tuple(range(len(text))), tuple(range(1, len(text) + 1)))


Replace = Callable[[re.Match[str]], "str | Kept"]


def rewrite(old: Traced, pattern: re.Pattern[str], replace: Replace) -> Traced:
    """`pattern.sub(replace, ...)`; each new character stands for the whole match it came from."""
    matches = list(pattern.finditer(old.text))
    if not matches:
        return old
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []

    def keep(start: int, end: int) -> None:
        text.append(old.text[start:end])
        starts.extend(old.starts[start:end])
        ends.extend(old.ends[start:end])

    done = 0
    for match in matches:
        keep(done, match.start())
        done = match.end()
        new = replace(match)
        if isinstance(new, Kept):
            keep(new.start, new.end)
        elif new:
            start, end = _reach(old, match)
            text.append(new)
            starts.extend([start] * len(new))
            ends.extend([end] * len(new))
    keep(done, len(old.text))
    return Traced("".join(text), tuple(starts), tuple(ends))


def _reach(old: Traced, match: re.Match[str]) -> tuple[int, int]:
    if match.end() > match.start():
        return old.original(match.start(), match.end())
    place = old.starts[match.start()] if match.start() < len(old.starts) else 0
    return place, place
