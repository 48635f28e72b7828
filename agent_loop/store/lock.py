"""One driver for a thread: a lock that dies with its process."""

import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from agent_loop.errors import StoreFault, ThreadError

if sys.platform == "win32":
    import msvcrt

    # Locks one byte far behind the text, so that others can still read who holds it.
    _FAR = 1 << 20

    def _take(file: BinaryIO) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    def _drop(file: BinaryIO) -> None:
        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _take(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _drop(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)


_BINARY = getattr(os, "O_BINARY", 0)
_TRIES = 4
_PAUSE_S = 0.05


class ThreadLock:
    """Held while a thread is driven. The file stays: removing it would let two hold "the" lock."""

    def __init__(self, path: Path, thread: str, since: str) -> None:
        self._path = path
        self._thread = thread
        self._since = since
        self._file: BinaryIO | None = None

    def __enter__(self) -> "ThreadLock":
        """Take the lock.

        Raises:
            ThreadError: somebody else drives the thread; the message says who.
            StoreFault: the lock file cannot be written.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Read and write without truncating: the text of a holder must survive our look.
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | _BINARY, 0o666)
        except OSError as error:
            raise StoreFault(
                f"{self._path}: the lock cannot be opened ({error.strerror}). Make the folder "
                "writable, or free some disk space, then try again."
            ) from error
        file = os.fdopen(handle, "r+b")
        try:
            self._take_soon(file)
        except OSError as error:
            file.close()
            raise ThreadError(self._driven_elsewhere()) from error
        self._file = file
        self._sign(file)
        return self

    def _take_soon(self, file: BinaryIO) -> None:
        # `lock_holder` holds the lock for a moment to find out whether it is free.
        for _ in range(_TRIES - 1):
            with contextlib.suppress(OSError):
                _take(file)
                return
            time.sleep(_PAUSE_S)
        _take(file)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.truncate(0)
                _drop(self._file)
            self._file.close()
            self._file = None

    def _sign(self, file: BinaryIO) -> None:
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": self._since}
        with contextlib.suppress(OSError):  # the signature is a courtesy, the lock is the lock
            file.seek(0)
            file.truncate(0)
            file.write(json.dumps(holder).encode())
            file.flush()

    def _driven_elsewhere(self) -> str:
        return (
            f"thread '{self._thread}' is driven by {_signature(self._path)}. "
            "Wait for it, stop it, or choose another --thread."
        )


def lock_holder(path: Path) -> str | None:
    """Who holds the lock now, in words; `None` if nobody."""
    try:
        with path.open("r+b") as file:
            _take(file)
            _drop(file)
    except FileNotFoundError:
        return None
    except OSError:
        return _signature(path)
    return None


def _signature(path: Path) -> str:
    try:
        with path.open("rb") as file:
            holder = json.loads(file.read(1_000))
        return (
            f"process {int(holder['pid'])} on {holder['host']!s:.60} since {holder['since']!s:.30}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
