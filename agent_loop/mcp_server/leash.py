"""A sandbox whose open sessions can all be ended at once: a cancelled check kills what it runs."""

import threading
from collections.abc import Mapping, Sequence

from agent_loop.errors import Cancelled
from agent_loop.ports import Box, Json, ProbeLine, Sandbox, Session


class Leash:
    """`ports.Sandbox` for one working copy, over the one that all share."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._held: list[Session] = []
        self._lock = threading.Lock()
        self._cut = False

    def probe(self) -> Sequence[ProbeLine]:
        return self._sandbox.probe()

    def open(self, box: Box) -> Session:
        self._refuse_cut()
        session = self._sandbox.open(box)
        with self._lock:
            self._held.append(session)
            gone = self._cut
        if gone:
            session.close()
            self._refuse_cut()
        return session

    def warm(self, box: Box, count: int) -> None:
        self._sandbox.warm(box, count)

    def describe(self) -> Mapping[str, Json]:
        return self._sandbox.describe()

    def close(self) -> None:
        """The shared sandbox stays."""
        self.cut()

    def mark(self) -> int:
        """How many sessions there are now: those that come later belong to the next work."""
        with self._lock:
            return len(self._held)

    def cut(self, since: int = 0) -> None:
        """End every session opened after the mark, and refuse new ones until `mend`."""
        with self._lock:
            self._cut = True
            held, self._held = self._held[since:], self._held[:since]
        for session in held:
            session.close()

    def mend(self, since: int) -> None:
        """Sessions may be opened again; those after the mark are over."""
        with self._lock:
            self._cut = False
            del self._held[since:]

    def _refuse_cut(self) -> None:
        if self._cut:
            raise Cancelled("the call was cancelled")
