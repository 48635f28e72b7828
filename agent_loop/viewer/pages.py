"""Pages of a trace: which events, in which order, found how. Bounded in events, bytes and time."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agent_loop.ports import Json
from agent_loop.viewer.events import DEFAULT_CHARS, Line, kind_of, parsed, shown
from agent_loop.viewer.traces import Traces

MAX_PAGE = 1_000
MAX_PAGE_BYTES = 4 << 20
"""Of previews in one answer."""
SLICE_S = 0.5
"""A search through a large trace answers after this, and says where to go on."""
_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a page is to hold."""

    after: int = 0
    """Only lines behind this one (ascending)."""
    before: int | None = None
    """Only lines in front of this one (descending); `None`: from the end."""
    order: Literal["asc", "desc"] = "asc"
    limit: int = 200
    chars: int = DEFAULT_CHARS
    kinds: frozenset[str] = frozenset()
    node: str = ""
    role: str = ""
    lap: int | None = None
    words: tuple[str, ...] = ()
    """Each must stand somewhere in the line, case aside."""

    @property
    def plain(self) -> bool:
        """Every event fits."""
        return not (self.kinds or self.node or self.role or self.words or self.lap is not None)


def page(traces: Traces, thread: str, wanted: Wanted) -> dict[str, Json]:
    """One page; `next` says where the one after it begins, `done` that there is none."""
    extent = traces.extent(thread)
    until = time.monotonic() + SLICE_S
    events: list[Json] = []
    seen, size, whole = _start(wanted), 0, True
    for line in _lines(traces, thread, wanted, extent.lines):
        seen = line.seq
        if _fits(line, wanted):
            event = shown(line, wanted.chars)
            events.append(event)
            size += min(line.bytes, _weight(event))
        if len(events) >= wanted.limit or size > MAX_PAGE_BYTES or time.monotonic() > until:
            whole = seen >= extent.lines if wanted.order == "asc" else seen <= 1
            break
    else:
        seen = extent.lines if wanted.order == "asc" else min(seen, 1)
    return {
        "events": events,
        "next": None if whole else seen,
        "scanned": seen,
        "total": extent.lines,
        "generation": extent.generation,
        "torn": extent.torn,
        "done": whole,
    }


def _start(wanted: Wanted) -> int:
    return wanted.after if wanted.order == "asc" else (wanted.before or 0)


def _lines(traces: Traces, thread: str, wanted: Wanted, total: int) -> Iterator[Line]:
    if wanted.order == "asc":
        for first in range(wanted.after + 1, total + 1, _BATCH):
            yield from traces.read(thread, first, min(total, first + _BATCH - 1))
        return
    last = total if wanted.before is None else min(total, wanted.before - 1)
    for seq in range(last, 0, -1):
        yield from traces.read(thread, seq, seq)


def _fits(line: Line, wanted: Wanted) -> bool:
    if wanted.plain:
        return True
    if wanted.kinds and kind_of(line.raw) not in wanted.kinds:
        return False
    if not (wanted.node or wanted.role or wanted.words or wanted.lap is not None):
        return True
    fields = parsed(line.raw)
    if fields is None:
        return _holds(line.raw.decode("utf-8", "replace"), wanted.words) and not wanted.node
    if wanted.node and fields.get("node") != wanted.node:
        return False
    if wanted.role and fields.get("role") != wanted.role:
        return False
    if wanted.lap is not None and fields.get("lap") != wanted.lap:
        return False
    return not wanted.words or _holds(_texts(fields), wanted.words)


def _holds(text: str, words: tuple[str, ...]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _texts(value: Json) -> str:
    """All texts of a value, so that a search is not fooled by how JSON writes them."""
    found: list[str] = []
    waiting: list[Json] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        elif one is not None:
            found.append(str(one))
    return "\n".join(found)


def _weight(value: Json) -> int:
    """About how many bytes a preview becomes."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, dict):
        return sum(len(key) + 4 + _weight(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(_weight(item) + 1 for item in value)
    return 8
