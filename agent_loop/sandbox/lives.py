"""Kills sessions that live longer than they may."""

import heapq
import itertools
import threading
import time

from agent_loop.sandbox.session import PipeSession


class Lives:
    """One thread that watches the life limit of every session handed out."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ends: list[tuple[float, int, PipeSession]] = []
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None
        self._closing = False

    def watch(self, session: PipeSession, life_s: float) -> None:
        """From now on `session` has `life_s` seconds."""
        with self._changed:
            heapq.heappush(self._ends, (time.monotonic() + life_s, next(self._numbers), session))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lives", daemon=True)
                self._thread.start()
            self._changed.notify()

    def forget(self, session: PipeSession) -> None:
        """`session` is over."""
        with self._changed:
            self._ends = [entry for entry in self._ends if entry[2] is not session]
            heapq.heapify(self._ends)

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (session := self._next()) is not None:
            session.kill("its life limit passed")

    def _next(self) -> PipeSession | None:
        """The next session whose time is over; `None` when closing."""
        with self._changed:
            while not self._closing:
                left_s = self._ends[0][0] - time.monotonic() if self._ends else None
                if left_s is not None and left_s <= 0:
                    return heapq.heappop(self._ends)[2]
                self._changed.wait(left_s)
            return None
