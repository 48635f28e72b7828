"""One image build at a time on a machine: builds of one recipe share their stages, and the one
that ends first takes them away from the other.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT_S = 900.0
"""Somebody who builds longer is not waited for any more."""
LOOK_EVERY_S = 0.1

if sys.platform == "win32":

    def place_of_turns() -> Path:
        """A file for all processes of this user."""
        return Path(tempfile.gettempdir()) / "agent-loop-builds.lock"

    def _taken(handle: int) -> bool:
        return True  # the engine there is another machine's: nobody is waited for

else:
    import fcntl

    def place_of_turns() -> Path:
        """A file for all processes of this user."""
        return Path(tempfile.gettempdir()) / f"agent-loop-builds-{os.getuid()}.lock"

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


@contextmanager
def turn(path: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Wait for the turn. The system gives it back when its holder dies.

    Where no turn can be had the block runs all the same: it is only less sure to succeed.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        yield
        return
    try:
        until = time.monotonic() + wait_s
        while not _taken(handle) and time.monotonic() < until:
            time.sleep(LOOK_EVERY_S)
        yield
    finally:
        os.close(handle)
