"""The two streams of the protocol, kept from everything else in this process and its children.

Imports nothing but the standard library's smallest: it runs before all else.
"""

import os
import sys
from typing import BinaryIO, NamedTuple


class Wire(NamedTuple):
    """Where the client's messages come from and where ours go."""

    source: BinaryIO
    target: BinaryIO

    @classmethod
    def standard(cls) -> "Wire":
        """Standard input and output as they are."""
        return cls(sys.stdin.buffer, sys.stdout.buffer)


def reserve() -> Wire:
    """Take both streams away: what prints goes to standard error, what reads finds nothing.

    The private numbers are not handed down to children.
    """
    sys.stdout.flush()
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return Wire(os.fdopen(source, "rb", buffering=0), os.fdopen(target, "wb", buffering=0))
