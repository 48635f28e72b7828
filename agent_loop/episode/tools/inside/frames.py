"""One frame of the talk over a container's pipe: two lengths, a JSON header, plain bytes.

Both sides use this text. Whoever ends the pipe ends the program.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

LENGTHS = 12
HEADER_BYTES = 32 << 20
"""Longest header: the names of a whole project."""


def packed(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A frame as bytes."""
    head = json.dumps(header).encode("ascii")
    return len(head).to_bytes(4, "big") + len(body).to_bytes(8, "big") + head + body


def lengths(data: bytes) -> tuple[int, int]:
    """Of header and body, from the first bytes of a frame."""
    return int.from_bytes(data[:4], "big"), int.from_bytes(data[4:LENGTHS], "big")


def exactly(count: int) -> bytes:
    """That many bytes of standard input; ends the process when nobody wants one any more."""
    got = bytearray()
    while len(got) < count:
        piece = os.read(0, min(count - len(got), 1 << 20))
        if not piece:
            os._exit(0)
        got += piece
    return bytes(got)


def take() -> tuple[dict[str, Any], bytes]:
    """The next request."""
    head, body = lengths(exactly(LENGTHS))
    return json.loads(exactly(head)), exactly(body)


def give(header: Mapping[str, Any], body: bytes = b"") -> None:
    """Write one frame to standard output."""
    view = memoryview(packed(header, body))
    while view:
        view = view[os.write(1, view) :]
