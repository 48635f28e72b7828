"""A lock between processes on one machine, given back by the system when its holder dies."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_loop.errors import SearchUnavailable
from agent_loop.ports import Clock

_EVERY_S = 0.05


@contextmanager
def held(path: Path, clock: Clock, *, wait_s: float) -> Iterator[int]:
    """Hold the lock of `path`; gives the open file's descriptor.

    Raises:
        SearchUnavailable: another process held it for `wait_s` seconds, or it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise SearchUnavailable(
            f"{path}: cannot be written ({error.strerror}), so searches cannot take turns. Name "
            "another folder in XDG_CACHE_HOME, or give the task a frozen search (papers:)."
        ) from None
    try:
        deadline = clock.monotonic() + wait_s
        while not _try(handle):
            if clock.monotonic() >= deadline:
                raise SearchUnavailable(
                    f"another process has been asking arXiv for {wait_s:g} s. Wait for it to end; "
                    f"if there is none, remove {path}."
                )
            clock.sleep(_EVERY_S)
        try:
            yield handle
        finally:
            _release(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    # A byte far behind the content: Windows forbids reading locked bytes.
    _LOCKED_BYTE = 1 << 20

    def _try(handle: int) -> bool:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(handle: int) -> None:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
