"""Ctrl-C in two steps: drain to the next node boundary, then kill; both leave resumable runs."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import NoReturn

from agent_loop.graph.parts import Control

KILL_GRACE_S = 5.0


class Stopper:
    """Knows every run of this process and tells them to stop."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._controls: set[Control] = set()
        self._lock = threading.RLock()
        self.draining = threading.Event()
        self.killing = threading.Event()

    @contextlib.contextmanager
    def control(self) -> Iterator[Control]:
        """The control of one run; a run that begins while stopping stops at once."""
        control = Control()
        with self._lock:
            self._controls.add(control)
            if self.draining.is_set():
                control.drain()
        try:
            yield control
        finally:
            with self._lock:
                self._controls.discard(control)

    def stop(self) -> None:
        """One more Ctrl-C."""
        if not self.draining.is_set():
            self.draining.set()
            self._say("stopping after the step in hand; once more to kill it now")
            self._each(Control.drain)
        elif not self.killing.is_set():
            self.killing.set()
            self._say("killing the step in hand; the run can be continued")
            self._each(Control.kill)
        else:
            os._exit(130)

    def wait(self, threads: Sequence[threading.Thread]) -> None:
        """Until they have ended, or been killed and not gone in time."""
        left = KILL_GRACE_S
        while any(thread.is_alive() for thread in threads) and left > 0:
            for thread in threads:
                thread.join(0.1)  # in short pieces: a signal is only heard between them
            if self.killing.is_set():
                left -= 0.1

    def _each(self, act: Callable[[Control], None]) -> None:
        with self._lock:
            for control in self._controls:
                act(control)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take SIGINT and SIGTERM for as long as the block lasts, in the main thread only."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._heard) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.stop()


def leave_at_once(close: Callable[[], None]) -> NoReturn:
    """Killed: give the containers back, then go without waiting for a step that does not end."""
    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(KILL_GRACE_S)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
