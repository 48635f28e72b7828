"""Sessions started ahead: each is used once, none waits for ever."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_loop.errors import AgentLoopError
from agent_loop.ports import Box
from agent_loop.sandbox.session import PipeSession

THREADS = 2
STALE_S = 600.0
"""A container that waited this long is replaced by a fresh one."""
LOOK_S = 2.0
"""How often waiting containers are looked at."""
REST_S = 0.2
"""A start takes the processors from the session just taken: wait for its end, or this long."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0


@dataclass(slots=True, kw_only=True)
class Shelf:
    """The waiting sessions of one kind."""

    wanted: int = 0
    waiting: "deque[tuple[float, PipeSession]]" = field(default_factory=deque)
    """With the time they were ready, oldest first."""
    starting: int = 0
    claims: int = 0
    """Takers that wait for one that is being started."""
    pause_s: float = 0.0
    start_at: float = 0.0
    """Not before this; on the monotonic clock."""

    def lacks(self) -> bool:
        return self.starting + len(self.waiting) < self.wanted


class Pool:
    """Keeps as many sessions of each wanted kind ready as asked, within one bound for all."""

    def __init__(
        self,
        start: Callable[[Box], PipeSession],
        *,
        per_box: int,
        in_all: int,
        stale_s: float = STALE_S,
        look_s: float = LOOK_S,
    ) -> None:
        self._start = start
        self._per_box = per_box
        self._in_all = in_all
        self._stale_s = stale_s
        self._look_s = look_s
        self._shelves: OrderedDict[Box, Shelf] = OrderedDict()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._closing = False

    def want(self, box: Box, count: int) -> None:
        """From now on keep `count` of these ready; kinds not asked for longest give way."""
        with self._changed:
            if self._closing:
                return
            shelf = self._shelves.setdefault(box, Shelf())
            shelf.wanted = min(count, self._per_box)
            self._shelves.move_to_end(box)
            surplus = self._give_way()
            while len(self._threads) < THREADS:
                thread = threading.Thread(target=self._work, name="pool", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()
        _close(surplus)

    def take(self, box: Box) -> PipeSession | None:
        """One that waits, or the next one that is being started; `None`: start your own."""
        dead: list[PipeSession] = []
        try:
            with self._changed:
                return self._take(box, dead)
        finally:
            _close(dead)

    def used(self, box: Box) -> None:
        """A session of this kind is over: now is a good time to start the next one."""
        with self._changed:
            shelf = self._shelves.get(box)
            if shelf and not shelf.pause_s:
                shelf.start_at = 0.0
                self._changed.notify_all()

    def close(self) -> None:
        """Destroy what waits; sessions handed out are their takers' business."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        waiting = [one for shelf in self._shelves.values() for _, one in shelf.waiting]
        self._shelves.clear()
        _close(waiting)

    def ready(self, box: Box) -> int:
        """How many wait now."""
        with self._changed:
            return len(self._shelves[box].waiting) if box in self._shelves else 0

    # --- under the lock ---

    def _take(self, box: Box, dead: list[PipeSession]) -> PipeSession | None:
        while shelf := self._shelves.get(box):
            self._shelves.move_to_end(box)
            while shelf.waiting:
                _, session = shelf.waiting.popleft()
                if session.alive():
                    shelf.start_at = max(shelf.start_at, time.monotonic() + REST_S)
                    self._changed.notify_all()
                    return session
                dead.append(session)
                self._changed.notify_all()
            if self._closing or shelf.starting <= shelf.claims:
                return None
            shelf.claims += 1
            self._changed.wait()
            shelf.claims -= 1
        return None

    def _give_way(self) -> list[PipeSession]:
        """Drop the kinds asked for longest ago until the bound holds."""
        surplus = []
        for box in list(self._shelves)[:-1]:
            if sum(shelf.wanted for shelf in self._shelves.values()) <= self._in_all:
                break
            shelf = self._shelves[box]
            shelf.wanted = 0
            surplus += [session for _, session in shelf.waiting]
            shelf.waiting.clear()
            if not (shelf.starting or shelf.claims):
                del self._shelves[box]
        return surplus

    def _next_job(self) -> Box | None:
        """A kind of which one is missing; waits for that. `None`: closing."""
        while not self._closing:
            now = time.monotonic()
            lacking = [entry for entry in self._shelves.items() if entry[1].lacks()]
            for box, shelf in lacking:
                if now >= shelf.start_at:
                    shelf.starting += 1
                    return box
            busy = any(shelf.wanted for shelf in self._shelves.values())
            pauses = [shelf.start_at - now for _, shelf in lacking]
            self._changed.wait(min([self._look_s, *pauses]) if busy else None)
            self._throw_out()
        return None

    def _throw_out(self) -> None:
        """Take the dead and the stale ones out; closing them is quick, removal is elsewhere."""
        oldest = time.monotonic() - self._stale_s
        for shelf in self._shelves.values():
            for entry in list(shelf.waiting):
                if entry[0] < oldest or not entry[1].alive():
                    shelf.waiting.remove(entry)
                    entry[1].close()

    # --- in a thread ---

    def _work(self) -> None:
        while True:
            with self._changed:
                box = self._next_job()
            if box is None:
                return
            try:
                session = self._start(box)
            except AgentLoopError:
                # Whoever opens next meets the same fault and says so; here it only slows down.
                session = None
            self._put(box, session)

    def _put(self, box: Box, session: PipeSession | None) -> None:
        unwanted = []
        with self._changed:
            shelf = self._shelves.setdefault(box, Shelf())
            shelf.starting -= 1
            if session is None:
                shelf.pause_s = min(max(FIRST_PAUSE_S, shelf.pause_s * 2), LONGEST_PAUSE_S)
                shelf.start_at = time.monotonic() + shelf.pause_s
            else:
                shelf.pause_s = 0.0
                if self._closing or len(shelf.waiting) >= max(shelf.wanted, shelf.claims):
                    unwanted.append(session)
                else:
                    shelf.waiting.append((time.monotonic(), session))
            self._changed.notify_all()
        _close(unwanted)


def _close(sessions: list[PipeSession]) -> None:
    for session in sessions:
        session.close()
