"""Frames on a pipe, and the refusal."""

from __future__ import annotations

import json
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

FRAME_BYTES = 4 << 20
"""Largest frame between judge and solution; checked before anything is parsed."""
CHUNK_BYTES = 1 << 18
_HEAD = struct.Struct(">I")
_NOTE = struct.Struct(">cI")


class Refused(BaseException):
    """The check has failed for this reason.

    A BaseException, so that no `except Exception` in the asserts can eat it.
    """

    _al_stop = True
    """No `__exit__` of the solution hears of it."""


def refuse(reason: str) -> NoReturn:
    raise Refused(reason)


def pack(message: dict[str, Any]) -> bytes:
    """One frame between judge and solution: four bytes of length, then JSON.

    Raises:
        Refused: it is larger than `FRAME_BYTES`.
    """
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > FRAME_BYTES:
        refuse(f"a value is larger than the {FRAME_BYTES >> 20} MiB that may cross at once")
    return _HEAD.pack(len(body)) + body


class Frames:
    """Takes frames out of a stream that may be hostile."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self.buffer += data

    def take(self) -> dict[str, Any] | None:
        """The next whole frame; None while it is not all there.

        Raises:
            Refused: too large, not JSON, or not an object.
        """
        if len(self.buffer) < _HEAD.size:
            return None
        size = _HEAD.unpack_from(self.buffer)[0]
        if size > FRAME_BYTES:
            refuse("the solution's answer is larger than the cap, or not a frame")
        if len(self.buffer) < _HEAD.size + size:
            return None
        body = bytes(self.buffer[_HEAD.size : _HEAD.size + size])
        del self.buffer[: _HEAD.size + size]
        return _object(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError, MemoryError):
        refuse("the solution's answer is not JSON")
    if type(message) is not dict:
        refuse("the solution's answer is not an object")
    return message


# --- between host and judge: one letter, four bytes of length, then bytes -------------------

JOB = b"J"
"""To the judge: what to check, JSON."""
DATA = b"D"
"""To the judge: bytes the solution wrote, unread by the host."""
LATE = b"T"
"""To the judge: the solution did not answer in time; the reason as text."""
GONE = b"E"
"""To the judge: the solution's container has ended; the reason as text."""
CALL = b"C"
"""From the judge: bytes for the solution; its answer is awaited, a new time limit starts."""
REPLY = b"R"
"""From the judge: bytes for the solution, inside the same call."""
MORE = b"M"
"""From the judge: the answer is not complete yet."""
VERDICT = b"V"
"""From the judge: how the check ended, JSON."""


def note(kind: bytes, body: bytes = b"") -> bytes:
    """One frame between host and judge."""
    return _NOTE.pack(kind, len(body)) + body


class Notes:
    """Takes frames between host and judge out of a stream; both ends are ours."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self.buffer += data

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        while (whole := self.take()) is not None:
            yield whole

    def take(self) -> tuple[bytes, bytes] | None:
        if len(self.buffer) < _NOTE.size:
            return None
        kind, size = _NOTE.unpack_from(self.buffer)
        if len(self.buffer) < _NOTE.size + size:
            return None
        body = bytes(self.buffer[_NOTE.size : _NOTE.size + size])
        del self.buffer[: _NOTE.size + size]
        return kind, body


def private_pipe() -> tuple[int, int]:
    """Move standard input and output to other numbers; 0, 1 and 2 then lead nowhere."""
    reads, writes = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return reads, writes


def write_all(number: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]
