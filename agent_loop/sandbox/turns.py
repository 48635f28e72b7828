"""One image build at a time on a machine: builds of one recipe share their stages, and the one
that ends first takes them away from the other.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from agent_loop.locks import FileLock
from agent_loop.ports import SystemClock

WAIT_S = 900.0
"""Somebody who builds longer is not waited for any more."""


def place_of_turns() -> Path:
    """A file for all processes of this user."""
    owner = "" if sys.platform == "win32" else f"-{os.getuid()}"
    return Path(tempfile.gettempdir()) / f"agent-loop-builds{owner}.lock"


@contextmanager
def turn(path: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Wait for the turn.

    Where no turn can be had the block runs all the same: it is only less sure to succeed.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            stack.enter_context(FileLock(path)).wait(SystemClock(), wait_s=wait_s)
        yield
