"""The traces of all runs: an index of lines for each that was looked at lately."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import BinaryIO, TypeVar

from agent_loop.viewer.events import Line
from agent_loop.viewer.lines import Extent, Lines
from agent_loop.viewer.places import TRACE, Places

KEPT = 128
T = TypeVar("T")


class Recent(OrderedDict[str, T]):
    """The newest values by name; the oldest goes. Any thread may ask."""

    def __init__(self, most: int, make: Callable[[str], T]) -> None:
        super().__init__()
        self._most = most
        self._make = make
        self._guard = threading.Lock()

    def of(self, name: str) -> T:
        """The value of this name, made if it is not there."""
        with self._guard:
            if name not in self:
                self[name] = self._make(name)
                while len(self) > self._most:
                    self.popitem(last=False)
            self.move_to_end(name)
            return self[name]


class Traces:
    """Lines of traces by thread."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._lines = Recent(KEPT, self._index)

    def extent(self, thread: str) -> Extent:
        """How far the trace goes now."""
        return self._lines.of(thread).extent()

    def read(self, thread: str, first: int, last: int) -> Iterator[Line]:
        """Whole lines in order; call `extent` before, or nothing new is seen."""
        lines = self._lines.of(thread)
        for seq, raw in lines.read(first, last):
            yield Line(seq=seq, raw=raw, bytes=lines.bytes_of(seq))

    def back(self, thread: str, extent: Extent, most: int) -> Iterator[Line]:
        """The newest lines first, at most this many."""
        for seq in range(extent.lines, max(0, extent.lines - most), -1):
            yield from self.read(thread, seq, seq)

    def one(self, thread: str, seq: int) -> Line | None:
        """One line."""
        extent = self.extent(thread)
        if not 1 <= seq <= extent.lines:
            return None
        return next(self.read(thread, seq, seq), None)

    def _index(self, thread: str) -> Lines:
        opened: Callable[[], AbstractContextManager[BinaryIO | None]]
        opened = partial(self._places.opened, thread, TRACE)
        return Lines(opened)
