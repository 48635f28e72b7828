"""What pages hear without asking again: changed rows, and the events of one run.

Nobody has a queue of his own. Rows stand in one ring that all subscribers read from their own
place, events on the disk; a subscriber costs a place, however slow it is.
"""

import secrets
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Protocol

import anyio
from anyio.to_thread import run_sync

from agent_loop.ports import Json
from agent_loop.viewer.events import shown
from agent_loop.viewer.jsontext import dumps
from agent_loop.viewer.rows import Row, Rows
from agent_loop.viewer.sse import OPENING, event
from agent_loop.viewer.standing import Standings
from agent_loop.viewer.traces import Traces
from agent_loop.webguard import WebError

EVERY_S = 0.25
ROWS_EVERY_S = 0.5
RING = 4_000
BATCH = 100
BATCH_BYTES = 512 << 10
MAX_STREAMS = 200


class Texts(Protocol):
    """Pieces of answers that models are giving, where somebody hears them (the job server)."""

    def since(self, thread: str, seen: int) -> tuple[int, Sequence[tuple[str, str]]]:
        """(Number of the newest piece, `(node, text)` of those behind `seen`)."""
        ...


class Seats:
    """How many streams are open at once."""

    def __init__(self, most: int = MAX_STREAMS) -> None:
        self._left = most
        self._lock = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One of them, for as long as the block lasts."""
        with self._lock:
            if self._left == 0:
                raise WebError(503, "streams", "Too many open pages.", retry_after_s=5)
            self._left -= 1
        try:
            yield
        finally:
            with self._lock:
                self._left += 1

    def check(self) -> None:
        """Raises WebError when none is left, before an answer has begun."""
        with self.taken():
            pass


@dataclass(frozen=True, slots=True)
class _Change:
    number: int
    raw: bytes


class RowFeed:
    """Changes of the list of runs, numbered. Any thread may note."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._launch = secrets.token_hex(4)
        self._ring: deque[_Change] = deque(maxlen=RING)
        self._number = 0
        self._known: dict[str, Row] = {}
        self._noted: Sequence[Row] | None = None
        self._lock = threading.Lock()

    def note(self, rows: Sequence[Row]) -> str:
        """Compare with what is known; gives the id from which a page with these rows goes on."""
        with self._lock:
            if rows is self._noted:  # twenty pages share one look
                return self._id(self._number)
            if self._noted is not None:
                self._compare(rows)
            self._noted = rows
            self._known = {row["thread"]: row for row in rows}
            return self._id(self._number)

    async def stream(self, last_id: str, seats: Seats) -> AsyncIterator[bytes]:
        """Everything behind this id."""
        with seats.taken():
            yield OPENING
            await run_sync(self._look)
            seen = self._place(last_id)
            if seen is None:
                seen = self._number
                yield event("reset", {}, id_=self._id(seen))
            while True:
                with self._lock:
                    waiting = [change for change in self._ring if change.number > seen]
                    lost = bool(waiting) and waiting[0].number > seen + 1
                    newest = self._number
                if lost:
                    yield event("reset", {}, id_=self._id(newest))
                elif waiting:
                    yield b"".join(change.raw for change in waiting)
                seen = newest
                await anyio.sleep(ROWS_EVERY_S)
                await run_sync(self._look)

    def _look(self) -> None:
        self.note(self._rows.all())

    def _compare(self, rows: Sequence[Row]) -> None:
        gone = set(self._known)
        for row in rows:
            gone.discard(row["thread"])
            if self._known.get(row["thread"]) != row:
                self._add("row", row)
        for thread in gone:
            self._add("gone", {"thread": thread})

    def _add(self, name: str, data: object) -> None:
        self._number += 1
        raw = event(name, data, id_=self._id(self._number))
        self._ring.append(_Change(self._number, raw))

    def _id(self, number: int) -> str:
        return f"{self._launch}.{number}"

    def _place(self, last_id: str) -> int | None:
        launch, _, number = last_id.partition(".")
        if launch != self._launch or not number.isascii() or not number.isdigit():
            return None
        place = int(number[:12])
        return place if place <= self._number else None


@dataclass(slots=True)
class Place:
    """How far one subscriber has heard."""

    generation: str
    seq: int
    state: bytes = b""
    piece: int = 0


def placed(last_id: str, after: int) -> Place:
    """The place behind an event id, or behind line `after` where there is none."""
    generation, _, number = last_id.partition(".")
    known = number.isascii() and number.isdigit()
    return Place(generation, int(number[:9])) if known else Place("", after)


class RunFeed:
    """The events of one run and where it stands, to any number of subscribers."""

    def __init__(
        self, rows: Rows, traces: Traces, standings: Standings, texts: Texts | None
    ) -> None:
        self._rows = rows
        self._traces = traces
        self._standings = standings
        self._texts = texts

    async def stream(
        self, thread: str, last_id: str, after: int, chars: int, seats: Seats
    ) -> AsyncIterator[bytes]:
        """Everything behind the id (or behind line `after`), for ever."""
        with seats.taken():
            yield OPENING
            place = placed(last_id, after)
            while True:
                more = await run_sync(self.more, thread, place, chars)
                if more:
                    yield b"".join(more)
                if len(more) < BATCH:
                    await anyio.sleep(EVERY_S)

    def state(self, thread: str) -> dict[str, Json]:
        """Row, pause and trace of a run, as they are now."""
        row = self._rows.one(thread)
        driver = row["live"]["driver"] if row and row["live"] else None
        waits = row is not None and row["status"] == "paused"
        pause = self._standings.pause(thread, driver) if waits else None
        extent = self._traces.extent(thread)
        return {
            "row": row,
            "pause": asdict(pause) if pause else None,
            "trace": {
                "bytes": extent.bytes,
                "events": extent.lines,
                "generation": extent.generation,
                "torn": extent.torn,
            },
        }

    def more(self, thread: str, place: Place, chars: int) -> list[bytes]:
        """What a subscriber at this place has not heard; moves the place on."""
        out = [*self._state(thread, place), *self._events(thread, place, chars)]
        return out + self._pieces(thread, place)

    def _state(self, thread: str, place: Place) -> list[bytes]:
        state = self.state(thread)
        raw = dumps(state)
        if raw == place.state:
            return []
        place.state = raw
        return [event("state", state)]

    def _events(self, thread: str, place: Place, chars: int) -> list[bytes]:
        extent = self._traces.extent(thread)
        out: list[bytes] = []
        if place.generation not in ("", "0", extent.generation) or place.seq > extent.lines:
            place.seq = 0
            out.append(event("reset", {"generation": extent.generation}))
        place.generation = extent.generation
        size = 0
        for line in self._traces.read(thread, place.seq + 1, min(extent.lines, place.seq + BATCH)):
            raw = event("event", shown(line, chars), id_=f"{extent.generation}.{line.seq}")
            out.append(raw)
            place.seq = line.seq
            size += len(raw)
            if size > BATCH_BYTES:
                break
        return out

    def _pieces(self, thread: str, place: Place) -> list[bytes]:
        if self._texts is None:
            return []
        place.piece, pieces = self._texts.since(thread, place.piece)
        return [event("text", {"node": node, "text": text}) for node, text in pieces]
