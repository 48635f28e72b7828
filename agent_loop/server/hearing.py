"""What models are saying right now, for the pages that watch. Forgotten soon, never written."""

import threading
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_loop.ports import Json

PIECES = 400
PIECE_CHARS = 2_000
THREADS = 64


@dataclass(slots=True)
class _Said:
    number: int = 0
    pieces: deque[tuple[int, str, str]] = field(default_factory=lambda: deque(maxlen=PIECES))


class Hearing:
    """The newest pieces of every run's answer (`viewer.feeds.Texts`). Any thread may ask."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, _Said] = OrderedDict()
        self._lock = threading.Lock()

    def listener(self, thread: str) -> "Listener":
        """The `Events` of one run."""
        return Listener(self, thread)

    def since(self, thread: str, seen: int) -> tuple[int, Sequence[tuple[str, str]]]:
        """Pieces behind `seen`; those that were too many to be kept are gone."""
        with self._lock:
            said = self._said.get(thread)
            if said is None:
                return 0, ()
            if seen > said.number:
                seen = 0
            return said.number, [(node, text) for n, node, text in said.pieces if n > seen]

    def add(self, thread: str, node: str, text: str) -> None:
        with self._lock:
            said = self._said.setdefault(thread, _Said())
            self._said.move_to_end(thread)
            while len(self._said) > THREADS:
                self._said.popitem(last=False)
            said.number += 1
            said.pieces.append((said.number, node[:100], text[:PIECE_CHARS]))

    def end(self, thread: str) -> None:
        """The answer is whole: it stands in the trace now."""
        with self._lock:
            said = self._said.get(thread)
            if said is not None:
                said.pieces.clear()


class Listener:
    """Hears one run."""

    def __init__(self, hearing: Hearing, thread: str) -> None:
        self._hearing = hearing
        self._thread = thread

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        if kind == "model_text":
            node, text = fields.get("node"), fields.get("text")
            self._hearing.add(self._thread, str(node or ""), str(text or ""))
        elif kind in ("model_replied", "run_ended"):
            self._hearing.end(self._thread)
