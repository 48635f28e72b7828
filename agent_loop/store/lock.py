"""One driver for a thread: a lock that dies with its process and says who holds it."""

import contextlib
import json
import os
import socket
from pathlib import Path
from types import TracebackType

from agent_loop.errors import StoreFault, ThreadError
from agent_loop.locks import FileLock
from agent_loop.ports import SystemClock

_LOOK_S = 0.25
"""`lock_holder` holds the lock for a moment to find out whether it is free."""


class ThreadLock:
    """Held while a thread is driven."""

    def __init__(self, path: Path, thread: str, since: str) -> None:
        self._path = path
        self._thread = thread
        self._since = since
        self._lock: FileLock | None = None

    def __enter__(self) -> "ThreadLock":
        """Take the lock.

        Raises:
            ThreadError: somebody else drives the thread; the message says who.
            StoreFault: the lock file cannot be written, or files cannot be locked there.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Whoever may write the runs may drive them: the file is no more private than they.
            lock = FileLock(self._path, mode=0o666)
        except OSError as error:
            raise StoreFault(
                f"{self._path}: the lock cannot be opened ({error.strerror}). Make the folder "
                "writable, or free some disk space, then try again."
            ) from error
        try:
            self._take(lock)
        except BaseException:
            lock.close()
            raise
        self._lock = lock
        return self

    def _take(self, lock: FileLock) -> None:
        try:
            taken = lock.wait(SystemClock(), wait_s=_LOOK_S)
        except OSError as error:
            raise StoreFault(
                f"{self._path}: cannot be locked ({error.strerror}). Keep the runs on a disk that "
                "locks files (runs_dir: in the configuration)."
            ) from error
        if not taken:
            raise ThreadError(
                f"thread '{self._thread}' is driven by {_signature(self._path)}. "
                "Wait for it, stop it, or choose another --thread."
            )
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": self._since}
        with contextlib.suppress(OSError):  # the signature is a courtesy, the lock is the lock
            lock.write(json.dumps(holder).encode())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            with contextlib.suppress(OSError):
                lock.write(b"")
            with contextlib.suppress(OSError):
                lock.close()


def lock_holder(path: Path) -> str | None:
    """Who holds the lock now, in words; `None` if nobody."""
    try:
        with FileLock(path, make=False) as lock:
            return None if lock.take() else _signature(path)
    except FileNotFoundError:
        return None
    except OSError:
        return _signature(path)


def _signature(path: Path) -> str:
    try:
        with path.open("rb") as file:
            holder = json.loads(file.read(1_000))
        return (
            f"process {int(holder['pid'])} on {holder['host']!s:.60} since {holder['since']!s:.30}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
