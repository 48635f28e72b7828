"""Where the lines of a growing file begin: read once, remembered, gone on with."""

import os
import threading
import zlib
from array import array
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

MAX_LINES = 1_000_000
"""Later lines of a trace are not shown: no run writes so many."""
MAX_LINE_BYTES = 64 << 20
_PIECE = 1 << 20
_HEAD_BYTES = 256
Opened = Callable[[], AbstractContextManager[BinaryIO | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How far a file was read."""

    generation: str
    """Of the file itself: a replaced one has another."""
    lines: int
    bytes: int
    torn: bool
    """Its end is a line without an end: being written, or cut off by a kill."""


class Lines:
    """The whole lines of one append-only file. Any thread may ask."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._ends: array[int] = array("Q")
        self._generation = "0"
        self._size = 0
        self._read_to = 0
        self._lock = threading.Lock()

    def extent(self) -> Extent:
        """Look how far the file goes now."""
        with self._lock, self._opened() as file:
            self._take_in(file)
            return self._extent()

    def read(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """Lines `first` to `last` (1 is the first of the file), each without its end."""
        at = max(1, first)
        while at <= last:
            # The file is closed again before anything is handed out: who stops in the middle
            # leaves nothing open.
            lines = self._some(at, last)
            if not lines:
                return
            yield from lines
            at += len(lines)

    def _some(self, first: int, last: int) -> list[tuple[int, bytes]]:
        """At least one line, and more while they are small together."""
        found: list[tuple[int, bytes]] = []
        size = 0
        with self._opened() as file:
            while file is not None and first <= last and size < _PIECE:
                span = self._span(first)
                if span is None:
                    break
                file.seek(span[0])
                raw = file.read(min(span[1] - span[0], MAX_LINE_BYTES))
                found.append((first, raw.rstrip(b"\r\n")))
                first, size = first + 1, size + len(raw)
        return found

    def bytes_of(self, number: int) -> int:
        """Length of a line in bytes, its end included."""
        span = self._span(number)
        return span[1] - span[0] if span else 0

    def _span(self, number: int) -> tuple[int, int] | None:
        with self._lock:
            if not 1 <= number <= len(self._ends):
                return None
            return (self._ends[number - 2] if number > 1 else 0), self._ends[number - 1]

    def _extent(self) -> Extent:
        ended = self._ends[-1] if self._ends else 0
        return Extent(
            generation=self._generation,
            lines=len(self._ends),
            bytes=self._size,
            torn=ended < self._size,
        )

    def _take_in(self, file: BinaryIO | None) -> None:
        if file is None:
            self._forget("0")
            return
        about = os.fstat(file.fileno())
        generation = _generation(file, about.st_ino)
        if generation != self._generation or about.st_size < self._size:
            self._forget(generation)
        self._size = about.st_size
        file.seek(self._read_to)
        while self._read_to < self._size and len(self._ends) < MAX_LINES:
            piece = file.read(min(_PIECE, self._size - self._read_to))
            if not piece:
                return
            self._note(piece)
            self._read_to += len(piece)

    def _note(self, piece: bytes) -> None:
        at = piece.find(b"\n")
        while at >= 0 and len(self._ends) < MAX_LINES:
            self._ends.append(self._read_to + at + 1)
            at = piece.find(b"\n", at + 1)

    def _forget(self, generation: str) -> None:
        self._ends = array("Q")
        self._generation = generation
        self._size = self._read_to = 0


def _generation(file: BinaryIO, inode: int) -> str:
    """Which file this is. Its first line holds a time; the number of a removed file comes again."""
    file.seek(0)
    head, end, _ = file.read(_HEAD_BYTES).partition(b"\n")
    whole = end or len(head) == _HEAD_BYTES
    return f"{inode:x}-{zlib.crc32(head):x}" if whole else "0"
