"""A lock between the processes of one machine, given back by the system when its holder dies."""

import os
import sys
from pathlib import Path

from agent_loop.ports import Clock

if sys.platform == "win32":
    import msvcrt

    # One byte far behind the text: Windows forbids others to read what is locked.
    _FAR = 1 << 20

    def _take(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _drop(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _drop(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


# A link in a folder that others can write to leads where they want; Windows would translate lines.
_OPEN = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_EVERY_S = 0.05


class FileLock:
    """A file that one holder has at a time, with a few bytes kept from one to the next.

    Whoever waits must have opened it too, so the file stays: were it removed, two could hold "the"
    lock. `filelock` of the package index empties or removes it, and where a disk cannot lock it
    goes on with a lock that outlives its holder.
    """

    def __init__(self, path: Path, *, mode: int = 0o600, make: bool = True) -> None:
        """Open it, made with `mode` where it is missing; nobody holds it by that.

        Raises:
            OSError: it cannot be opened or made.
        """
        self._handle = os.open(path, _OPEN | (os.O_CREAT if make else 0), mode)
        self._held = False

    def take(self) -> bool:
        """Hold it, unless somebody else does.

        Raises:
            OSError: files cannot be locked there: nobody else holds it, and nobody can.
        """
        try:
            _take(self._handle)
        except (BlockingIOError, PermissionError):  # POSIX, Windows
            return False
        self._held = True
        return True

    def wait(self, clock: Clock, *, wait_s: float) -> bool:
        """Hold it as soon as it is free; `False`: it was not within `wait_s` seconds.

        Raises:
            OSError: as `take`.
        """
        until = clock.monotonic() + wait_s
        while not self.take():
            if clock.monotonic() >= until:
                return False
            clock.sleep(_EVERY_S)
        return True

    def read(self, most_bytes: int = 1_000) -> bytes:
        """What the file holds."""
        os.lseek(self._handle, 0, os.SEEK_SET)
        return os.read(self._handle, most_bytes)

    def write(self, text: bytes) -> None:
        """Put this in place of what the file holds."""
        os.ftruncate(self._handle, 0)
        os.lseek(self._handle, 0, os.SEEK_SET)
        os.write(self._handle, text)

    def close(self) -> None:
        """Give it back."""
        try:
            if self._held:  # said, not left to closing: a forked child has the file open too
                self._held = False
                _drop(self._handle)
        finally:
            os.close(self._handle)

    def __enter__(self) -> "FileLock":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
