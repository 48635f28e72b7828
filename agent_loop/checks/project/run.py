"""Runs one job in one fresh container, and takes only a whole answer for one."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from agent_loop.checks.project.command import Job
from agent_loop.checks.project.records import Answer, TestRun, read
from agent_loop.errors import DeadlinePassed
from agent_loop.ports import Box, Clock, Sandbox, Session

_START_S = 30.0
"""On top of a job's own time: the container's start and the answer's way back."""
_MOST_BYTES = 120 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Starts jobs; what they run on is the box's mounted tree at that moment."""

    sandbox: Sandbox
    clock: Clock

    def run(self, box: Box, job: Job) -> Answer:
        """One job.

        Raises:
            SandboxUnavailable: the engine failed, so nothing was judged.
        """
        deadline = self.clock.monotonic() + job.wall_s + job.grace_s + _START_S
        with self.sandbox.open(box) as session:
            return _ask(session, job, deadline)

    def tests(self, box: Box, job: Job) -> TestRun:
        return read(self.run(box, job))


def _ask(session: Session, job: Job, deadline: float) -> Answer:
    secret = secrets.token_hex(16)
    try:
        session.send(job.as_bytes(secret), deadline=deadline)
        body = _body(lambda: session.receive(deadline=deadline))
    except DeadlinePassed:
        return Answer(code=None, timed_out=True)
    except (BrokenPipeError, EOFError):
        return _broken(session, deadline)
    answer = _read(body, secret)
    return answer if answer is not None else _broken(session, deadline)


def _body(more: Callable[[], bytes]) -> bytes:
    """Raises EOFError when the answer is cut or too long."""
    data = bytearray()
    size: int | None = None
    while size is None or len(data) < size:
        piece = more()
        if not piece:
            raise EOFError
        data += piece
        if size is None and len(data) >= 8:
            size = int.from_bytes(data[:8], "big") + 8
            if size > _MOST_BYTES:
                raise EOFError
    return bytes(data[8:size])


def _read(body: bytes, secret: str) -> Answer | None:
    """`None` for an answer that the supervisor did not write."""
    try:
        fields = json.loads(body)
        if fields.pop("secret") != secret:
            return None
        return Answer(**{**fields, "marks": tuple(fields["marks"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _broken(session: Session, deadline: float) -> Answer:
    end = session.end(deadline=deadline)
    if end.oom_killed:
        trouble = "the container ran out of memory"
    else:
        trouble = end.why or "the container ended without an answer"
    return Answer(code=None, trouble=trouble, output=end.stderr)
