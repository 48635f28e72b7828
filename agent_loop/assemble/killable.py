"""A sandbox whose containers die the moment their run is killed."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import TypeVar

from agent_loop.errors import Cancelled
from agent_loop.graph.parts import Control
from agent_loop.ports import Box, Exit, Json, ProbeLine, Sandbox, Session

T = TypeVar("T")


class KillableSandbox:
    """The sandbox of one run; the real one is shared and closed by its owner."""

    def __init__(self, inner: Sandbox, control: Control) -> None:
        self._inner = inner
        self._control = control
        self._open: set[Session] = set()
        self._waking: set[threading.Event] = set()
        self._lock = threading.Lock()
        control.on_kill(self._kill)

    def probe(self) -> Sequence[ProbeLine]:
        return self._inner.probe()

    def open(self, box: Box) -> Session:
        """A session that a kill closes.

        Raises:
            Cancelled: the run was killed already.
        """
        self._refuse()
        session = self._started(box)
        with self._lock:
            self._open.add(session)
        if self._control.cancelled.is_set():  # killed meanwhile
            self.over(session)
        self._refuse()
        return KillableSession(session, self)

    def _started(self, box: Box) -> Session:
        """A session of the shared sandbox. A kill does not wait until it has started."""
        coming: Future[Session] = Future()
        ready = threading.Event()
        coming.add_done_callback(lambda _: ready.set())
        with self._lock:
            self._waking.add(ready)
        start = threading.Thread(target=_start, args=(self._inner, box, coming), daemon=True)
        start.start()
        if self._control.cancelled.is_set():
            ready.set()
        ready.wait()
        with self._lock:
            self._waking.discard(ready)
        if self._control.cancelled.is_set():
            coming.add_done_callback(_close)
            raise Cancelled("cancelled")
        return coming.result()

    def warm(self, box: Box, count: int) -> None:
        if not self._control.cancelled.is_set():
            self._inner.warm(box, count)

    def describe(self) -> Mapping[str, Json]:
        return self._inner.describe()

    def close(self) -> None:
        """Close what this run has open; the shared sandbox stays."""
        self._kill()

    def over(self, session: Session) -> None:
        """One of them is done with."""
        with self._lock:
            self._open.discard(session)
        session.close()

    def asked(self, act: Callable[[], T]) -> T:
        """What the container answered. A killed one has answered nothing, whatever it looks like.

        Raises:
            Cancelled: the run was killed meanwhile: no verdict may come of it.
        """
        self._refuse()
        try:
            answer = act()
        except Exception:
            self._refuse()
            raise
        self._refuse()
        return answer

    def _refuse(self) -> None:
        if self._control.cancelled.is_set():
            raise Cancelled("cancelled")

    def _kill(self) -> None:
        with self._lock:
            open_now, self._open = self._open, set()
            for ready in self._waking:
                ready.set()
        for session in open_now:
            session.close()


def _start(sandbox: Sandbox, box: Box, coming: "Future[Session]") -> None:
    try:
        coming.set_result(sandbox.open(box))
    except BaseException as error:  # raised again by whoever asked for it
        coming.set_exception(error)


def _close(coming: "Future[Session]") -> None:
    if coming.exception() is None:
        coming.result().close()


class KillableSession:
    """One session of a `KillableSandbox`."""

    def __init__(self, inner: Session, sandbox: KillableSandbox) -> None:
        self._inner = inner
        self._sandbox = sandbox

    @property
    def name(self) -> str:
        return self._inner.name

    def send(self, data: bytes, *, deadline: float) -> None:
        self._sandbox.asked(lambda: self._inner.send(data, deadline=deadline))

    def receive(self, *, deadline: float) -> bytes:
        return self._sandbox.asked(lambda: self._inner.receive(deadline=deadline))

    def close_input(self) -> None:
        self._inner.close_input()

    def end(self, *, deadline: float) -> Exit:
        return self._sandbox.asked(lambda: self._inner.end(deadline=deadline))

    def close(self) -> None:
        self._sandbox.over(self._inner)

    def __enter__(self) -> "KillableSession":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
