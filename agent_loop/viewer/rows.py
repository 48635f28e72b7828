"""The list of runs: one row each, kept until its record changes."""

import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_loop.errors import ThreadError
from agent_loop.paths import thread_name
from agent_loop.ports import FINAL, Json
from agent_loop.viewer.places import Places
from agent_loop.viewer.standing import Standings
from agent_loop.viewer.traces import Traces

OUTCOMES = FINAL | {"paused", "budget", "cancelled", "error"}
FRESH_S = 0.4
"""Twenty pages that ask at once share one look."""
_HEAD_BYTES = 4_096
_WHOLE_BYTES = 1 << 20
_MARK = b'"summary": '
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which rows are wanted, and in which order."""

    words: tuple[str, ...] = ()
    statuses: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    evals: bool = False
    sort: str = "started"
    descending: bool = True


class Rows:
    """Every run as a row. Any thread may ask."""

    def __init__(
        self,
        places: Places,
        traces: Traces,
        standings: Standings,
        eval_threads: Callable[[], frozenset[str]],
    ) -> None:
        self._places = places
        self._traces = traces
        self._standings = standings
        self._eval_threads = eval_threads
        self._known: dict[str, tuple[tuple[int, int, int], Row | None]] = {}
        self._lock = threading.Lock()
        self._all: list[Row] = []
        self._at = -math.inf

    def all(self, *, fresh: bool = False) -> list[Row]:
        """Every run's row, as it stands now; not to be changed."""
        with self._lock:
            if fresh or time.monotonic() - self._at > FRESH_S:
                self._all = self._look()
                self._at = time.monotonic()
            return self._all

    def one(self, thread: str) -> Row | None:
        """The row of one run, looked at anew."""
        stored = self._read(thread)
        if stored is None and not self._places.there(thread):
            return None
        return self._standing(stored or _unrecorded(thread), self._eval_threads())

    def _look(self) -> list[Row]:
        evals = self._eval_threads()
        found = [self._standing(row, evals) for row in self._stored_rows()]
        return sorted(found, key=lambda row: (row["started"], row["thread"]), reverse=True)

    def _stored_rows(self) -> list[Row]:
        known: dict[str, tuple[tuple[int, int, int], Row | None]] = {}
        try:
            with os.scandir(self._places.root) as entries:
                for entry in entries:
                    if entry.name.endswith(".json") and not entry.name.startswith("."):
                        self._note(entry, known)
        except OSError:
            known = {}
        self._known = known  # of removed runs nothing is kept
        return [row for _, row in known.values() if row is not None]

    def _note(
        self,
        entry: "os.DirEntry[str]",
        known: dict[str, tuple[tuple[int, int, int], Row | None]],
    ) -> None:
        try:
            about = entry.stat(follow_symlinks=False)
        except OSError:
            return
        mark = (about.st_ino, about.st_mtime_ns, about.st_size)
        before = self._known.get(entry.name)
        if before is not None and before[0] == mark:
            known[entry.name] = before
        else:
            known[entry.name] = (mark, self._read(entry.name.removesuffix(".json")))

    def _read(self, thread: str) -> Row | None:
        try:
            thread_name(thread)
        except ThreadError:
            return None
        raw = self._places.record(thread, _HEAD_BYTES)
        row = _stored(raw, thread) if raw is not None else None
        if row is None and raw is not None:
            row = _stored(self._places.record(thread, _WHOLE_BYTES) or b"", thread)
        return row

    def _standing(self, stored: Row, evals: frozenset[str]) -> Row:
        """What the record cannot know."""
        thread, outcome = stored["thread"], stored["outcome"]
        row = {**stored, "eval": thread in evals, "live": None, "status": outcome or "interrupted"}
        if outcome in FINAL:
            return row
        driver = self._standings.driver(thread)
        if driver is None:
            return row
        doing = self._standings.doing(thread)
        row["status"] = "running" if doing.paused is None else "paused"
        row["live"] = {
            "driver": driver,
            "node": doing.node,
            "lap": doing.lap,
            "since": doing.since,
            "events": self._traces.extent(thread).lines,
        }
        return row


def chosen(rows: Iterable[Row], wanted: Filter) -> list[Row]:
    """The rows that fit, in order."""
    fitting = [row for row in rows if _fits(row, wanted)]
    if wanted.sort != "started" or not wanted.descending:
        fitting.sort(key=_KEYS[wanted.sort], reverse=wanted.descending)
    return fitting


def counts(rows: Iterable[Row], name: str) -> dict[str, Json]:
    """How many rows have each value."""
    found: dict[str, Json] = {}
    for row in rows:
        found[row[name]] = int(str(found.get(row[name], 0))) + 1
    return found


_KEYS: Mapping[str, Callable[[Row], Any]] = {
    "started": lambda row: (row["started"], row["thread"]),
    "seconds": lambda row: (row["seconds"], row["thread"]),
    "tokens": lambda row: (row["input_tokens"] + row["output_tokens"], row["thread"]),
    "laps": lambda row: (row["laps"], row["thread"]),
    "task": lambda row: (row["task"].casefold(), row["thread"]),
}


def _fits(row: Row, wanted: Filter) -> bool:
    if row["eval"] and not wanted.evals:
        return False
    if wanted.statuses and row["status"] not in wanted.statuses:
        return False
    if wanted.kinds and row["kind"] not in wanted.kinds:
        return False
    if not wanted.words:
        return True
    text = f"{row['thread']}\n{row['task']}\n{row['status']}\n{row['outcome']}".casefold()
    return all(word in text for word in wanted.words)


def _stored(raw: bytes, thread: str) -> Row | None:
    """The row a record's first lines give; `None` where it is no record of this thread."""
    lines = raw.split(b"\n", 3)
    try:
        if len(lines) > 3 and lines[2].startswith(_MARK):
            fields = json.loads(lines[2][len(_MARK) :].rstrip(b","))
        else:
            fields = json.loads(raw)["summary"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.get("thread") != thread:
        return None
    outcome = fields.get("outcome")
    return {
        "thread": thread,
        "task": _text(fields.get("task"), 200),
        "kind": _text(fields.get("kind"), 20),
        "outcome": outcome if isinstance(outcome, str) and outcome in OUTCOMES else None,
        "laps": _count(fields.get("laps")),
        "started": _text(fields.get("started"), 40),
        "ended": _text(fields.get("ended"), 40),
        "look": fields.get("look") is True,
        "input_tokens": _count(fields.get("input_tokens")),
        "output_tokens": _count(fields.get("output_tokens")),
        "seconds": _seconds(fields.get("seconds")),
    }


def _unrecorded(thread: str) -> Row:
    """A folder whose record is missing or broken."""
    zero = {"laps": 0, "input_tokens": 0, "output_tokens": 0, "seconds": 0.0, "look": False}
    texts = {"task": "", "kind": "", "started": "", "ended": ""}
    return {"thread": thread, "outcome": None, **texts, **zero}


def _text(value: Json, most: int) -> str:
    return value[:most] if isinstance(value, str) else ""


def _count(value: Json) -> int:
    return value if type(value) is int and 0 <= value < 1 << 53 else 0


def _seconds(value: Json) -> float:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    number = value if fits and isinstance(value, int | float) else 0.0
    return float(number) if 0 <= number < 1e12 else 0.0
