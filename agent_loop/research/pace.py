"""One request at a time, and at least three seconds between two, over all processes of a user."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_loop.errors import SearchUnavailable
from agent_loop.locks import FileLock
from agent_loop.ports import Clock

INTERVAL_S = 3.0
"""What arXiv asks of its clients."""
LOCK_WAIT_S = 600.0


class Pace:
    """Whose turn it is: a lock file that also holds when the last request was sent."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        *,
        interval_s: float = INTERVAL_S,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._path = folder / "arxiv.lock"
        self._clock = clock
        self._interval_s = interval_s
        self._wall = wall

    @contextmanager
    def turn(self) -> Iterator["Turn"]:
        """The only connection there is, from here to the end of the block.

        Raises:
            SearchUnavailable: another process keeps its turn for ten minutes, or nobody can have
                one, because the folder cannot be written or its files cannot be locked.
        """
        with self._opened() as lock:
            if not self._taken(lock):
                raise SearchUnavailable(
                    f"another process has been asking arXiv for {LOCK_WAIT_S:g} s. Wait for it to "
                    f"end; if there is none, remove {self._path}."
                )
            yield Turn(lock, self._clock, self._interval_s, self._wall)

    def _opened(self) -> FileLock:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return FileLock(self._path)
        except OSError as error:
            raise self._refused("written", error) from None

    def _taken(self, lock: FileLock) -> bool:
        try:
            return lock.wait(self._clock, wait_s=LOCK_WAIT_S)
        except OSError as error:
            raise self._refused("locked", error) from None

    def _refused(self, what: str, error: OSError) -> SearchUnavailable:
        return SearchUnavailable(
            f"{self._path}: cannot be {what} ({error.strerror}), so searches cannot take turns. "
            "Name another folder in XDG_CACHE_HOME, or give the task a frozen search (papers:)."
        )


class Turn:
    """The right to send requests, each no sooner than the interval after the one before."""

    def __init__(
        self, lock: FileLock, clock: Clock, interval_s: float, wall: Callable[[], float]
    ) -> None:
        self._lock = lock
        self._clock = clock
        self._interval_s = interval_s
        self._wall = wall

    def wait(self) -> None:
        """Sleep until a request may be sent, and note that one is."""
        while (left := self._left()) > 0:
            self._clock.sleep(left)
        self.note()

    def note(self) -> None:
        """Count the interval from now: also called when a request ends, so that none that was slow
        on its way comes closer to the next one than the interval.
        """
        stamp = {"wall": self._wall(), "monotonic": self._clock.monotonic()}
        self._lock.write(json.dumps(stamp).encode())

    def _left(self) -> float:
        """Seconds still to wait: never more than the interval, whatever the clocks were set to."""
        try:
            stamp = json.loads(self._lock.read())
            since = (
                self._wall() - float(stamp["wall"]),
                self._clock.monotonic() - float(stamp["monotonic"]),
            )
        except (ValueError, KeyError, TypeError):
            return 0.0
        # Wall time can be set back and forth, monotonic time starts anew with the machine: the one
        # that says less has passed is believed, unless it says that less than nothing has.
        passed = [seconds for seconds in since if seconds >= 0]
        return min(self._interval_s, self._interval_s - min(passed, default=0.0))
