"""`trace.jsonl`: what a run did, one event a line, keys taken out."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from agent_loop.errors import StoreFault
from agent_loop.paths import append_line
from agent_loop.ports import Clock, Events, Json
from agent_loop.redact import redact

VERSION = 1
LIVE_ONLY = frozenset({"model_text"})
_SHORTEST_SECRET = 7
"""`//a:b@c`; most texts in an event are shorter, and there are hundreds."""
_TAIL_BYTES = 1 << 16


class Trace:
    """Writes the events of one thread; numbers go on where the file stopped.

    Raises:
        StoreFault: on making and on every event, when the disk refuses.
    """

    def __init__(self, path: Path, thread: str, clock: Clock) -> None:
        self._path = path
        self._thread = thread
        self._clock = clock
        # A prompt repeats the texts of every lap before it.
        self._redact = lru_cache(maxsize=256)(redact)
        try:
            self._n = last_number(path)
        except OSError as error:
            raise StoreFault(f"{path}: the trace cannot be read: {error}.") from error

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        """Append one event; those that are for the live view only are dropped."""
        if kind in LIVE_ONLY:
            return
        if taken := {"v", "n", "at", "thread", "kind"} & set(fields):
            raise ValueError(f"event '{kind}': the names {sorted(taken)} are the trace's own")
        self._n += 1
        head = {"v": VERSION, "n": self._n, "at": self._clock.now_iso(), "thread": self._thread}
        event = {**head, "kind": kind, **clean(fields, self._redact)}
        try:
            if self._n == 1:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            append_line(self._path, json.dumps(event, ensure_ascii=False))
        except OSError as error:
            raise StoreFault(f"{self._path}: the trace cannot be written: {error}.") from error


class Tee:
    """Says every event to several listeners, in order."""

    def __init__(self, *listeners: Events) -> None:
        self._listeners = listeners

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        for listener in self._listeners:
            listener.emit(kind, fields)


def clean(fields: Mapping[str, Json], redacted: Callable[[str], str] = redact) -> dict[str, Json]:
    """The fields with every key-shaped text redacted, at any depth."""

    def text(value: str) -> str:
        # JSON can carry a lone surrogate, UTF-8 cannot.
        whole = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
        return whole if len(whole) < _SHORTEST_SECRET else redacted(whole)

    def any_value(value: Json) -> Json:
        if isinstance(value, str):
            return text(value)
        if value is None or isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        # Concrete types first: asking an abstract class costs as much as the redaction.
        if isinstance(value, list | tuple):
            return [any_value(item) for item in value]
        if isinstance(value, dict | Mapping):
            return {text(str(key)): any_value(item) for key, item in value.items()}
        return [any_value(item) for item in value]

    return {text(str(key)): any_value(item) for key, item in fields.items()}


def read_trace(path: Path) -> Iterator[Mapping[str, Json]]:
    """Every whole event of a trace; torn and foreign lines are passed over."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            event = _event(line)
            if event is not None:
                yield event


def last_event(path: Path, kinds: Sequence[str] = ()) -> Mapping[str, Json] | None:
    """The newest whole event, of these kinds where given. Reads backwards in growing pieces."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            span = _TAIL_BYTES
            while True:
                start = max(0, size - span)
                file.seek(start)
                lines = file.read(size - start).split(b"\n")
                for line in reversed(lines if start == 0 else lines[1:]):
                    event = _event(line)
                    if event is not None and (not kinds or event.get("kind") in kinds):
                        return event
                if start == 0:
                    return None
                span *= 8
    except FileNotFoundError:
        return None


def last_number(path: Path) -> int:
    """The number of the newest whole event; 0 for no trace."""
    event = last_event(path)
    number = event.get("n") if event else 0
    return number if isinstance(number, int) else 0


def _event(line: bytes) -> Mapping[str, Json] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("n"), int) else None
