"""The host's side of the talk with a program inside a container."""

from collections.abc import Mapping
from json import loads
from typing import Any

from agent_loop.episode.tools.inside.frames import HEADER_BYTES, LENGTHS, lengths, packed
from agent_loop.errors import Cancelled, DeadlinePassed
from agent_loop.ports import Cancel, Clock, Session

MAX_BODY_BYTES = 256 << 20
SLICE_S = 0.1
STOP_S = 5.0
"""For a command to be gone after it was told to stop."""


class Ended(Exception):
    """The program inside has ended, or said what our program never says."""


class Talk:
    """One session as questions and answers."""

    def __init__(self, session: Session, clock: Clock) -> None:
        self.session = session
        self._clock = clock
        self._data = bytearray()

    def ask(
        self,
        header: Mapping[str, Any],
        body: bytes = b"",
        *,
        deadline: float,
        cancel: Cancel | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        """One request, one answer.

        Raises:
            Ended: no answer can come any more, or it is none.
            DeadlinePassed: none came in time.
            Cancelled: `cancel` was set, and what ran is gone.
        """
        try:
            self.session.send(packed(header, body), deadline=deadline)
        except BrokenPipeError as problem:
            raise Ended("it has ended") from problem
        return self.take(deadline=deadline, cancel=cancel)

    def take(
        self, *, deadline: float, cancel: Cancel | None = None
    ) -> tuple[dict[str, Any], bytes]:
        """The next answer; raises as `ask` does."""
        stopped = False
        while not self._whole():
            if cancel is not None and cancel.is_set() and not stopped:
                stopped = True
                deadline = min(deadline, self._clock.monotonic() + STOP_S)
                self._stop(deadline)
            self._more(deadline, sliced=cancel is not None)
        answer = self._next()
        if stopped:
            raise Cancelled("the tool call was cancelled")
        return answer

    def _stop(self, deadline: float) -> None:
        try:
            self.session.send(packed({"op": "stop"}), deadline=deadline)
        except BrokenPipeError as problem:
            raise Ended("it has ended") from problem

    def _more(self, deadline: float, *, sliced: bool) -> None:
        now = self._clock.monotonic()
        until = min(deadline, now + SLICE_S) if sliced else deadline
        try:
            piece = self.session.receive(deadline=until)
        except DeadlinePassed:
            if until >= deadline:
                raise
            return
        if not piece:
            raise Ended("it has ended")
        self._data += piece

    def _whole(self) -> bool:
        if len(self._data) < LENGTHS:
            return False
        head, body = lengths(bytes(self._data[:LENGTHS]))
        if head > HEADER_BYTES or body > MAX_BODY_BYTES:
            raise Ended("it answered with something else")
        return len(self._data) >= LENGTHS + head + body

    def _next(self) -> tuple[dict[str, Any], bytes]:
        head, body = lengths(bytes(self._data[:LENGTHS]))
        start, stop = LENGTHS + head, LENGTHS + head + body
        try:
            header = loads(self._data[LENGTHS:start])
        except (ValueError, RecursionError) as problem:
            raise Ended("it answered with something else") from problem
        if not isinstance(header, dict):
            raise Ended("it answered with something else")
        data = bytes(self._data[start:stop])
        del self._data[:stop]
        return header, data
