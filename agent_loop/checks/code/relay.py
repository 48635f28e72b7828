"""Carries bytes between the judge's container and the solution's, and keeps the time.

The two never reach each other. What the solution writes is not read here: it goes, capped by its
session, into frames that only say "from the solution", so nothing it says can be a judge's word.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from agent_loop.checks.code.inside import judge as judge_program
from agent_loop.checks.code.inside import wire
from agent_loop.checks.code.programs import judge_box
from agent_loop.errors import DeadlinePassed, SandboxUnavailable
from agent_loop.ports import Clock, Exit, Json, Limits, Sandbox, Session

GRACE_S = 2.0
"""A judge that has not ended this long after the total is killed: one C call can run on."""
_END_S = 2.0
_JUDGE_AGE_S = 3000.0
JUDGE_HEARD_BYTES = 256 << 20
"""A judge that has said so much is replaced: its container is killed at the cap of its whole life,
which would be a fault of ours in the middle of somebody's check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long a check may take, seconds."""

    call_s: float
    total_s: float


class JudgeLost(Exception):
    """The judge's container gave no verdict; the text is a sentence for the feedback."""


class JudgeRoom:
    """One judge's container, started when first needed and replaced when it is lost or old."""

    def __init__(
        self,
        sandbox: Sandbox,
        limits: Limits,
        clock: Clock,
        *,
        most_heard_bytes: int = JUDGE_HEARD_BYTES,
    ) -> None:
        self._sandbox = sandbox
        self._most_heard_bytes = most_heard_bytes
        self._box = judge_box(limits)
        self._clock = clock
        self._session: Session | None = None
        self._opened_at = 0.0
        self._heard_bytes = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        """Let it start in the background; returns at once."""
        if self._session is None:
            self._sandbox.warm(self._box, 1)

    def check(self, job: Mapping[str, Json], solution: Session, times: Times) -> dict[str, Json]:
        """One check, from the job to the judge's verdict.

        Raises:
            JudgeLost: the judge died or had to be killed over what the solution sent.
            SandboxUnavailable: the engine failed; nothing was judged.
        """
        with self._lock:
            check = _Check(self._ready(), solution, times, self._clock)
            try:
                return check.run(job)
            except BaseException:
                self._drop()
                raise
            finally:
                self._heard_bytes += check.heard_bytes

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _ready(self) -> Session:
        old = self._clock.monotonic() - self._opened_at > _JUDGE_AGE_S
        if self._session and (old or self._heard_bytes > self._most_heard_bytes):
            self._drop()
        if self._session is None:
            self._heard_bytes = 0
            self._session = self._sandbox.open(self._box)
            self._sandbox.warm(self._box, 0)  # one is enough: it lives on
            self._opened_at = self._clock.monotonic()
        return self._session

    def _drop(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()


class _Check:
    """The lock-step between the two containers."""

    def __init__(self, judge: Session, solution: Session, times: Times, clock: Clock) -> None:
        self._judge = judge
        self._solution = solution
        self._times = times
        self._clock = clock
        self._notes = wire.Notes()
        self.heard_bytes = 0
        self._total = clock.monotonic() + times.total_s
        self._call = self._total

    def run(self, job: Mapping[str, Json]) -> dict[str, Json]:
        self._tell(wire.JOB, json.dumps(job).encode())
        while True:
            kind, body = self._hear()
            if kind == wire.VERDICT:
                verdict: dict[str, Json] = json.loads(body)
                return verdict
            if kind == wire.CALL:
                self._call = min(self._total, self._clock.monotonic() + self._times.call_s)
            self._tell(*self._ask(body))

    def _ask(self, request: bytes) -> tuple[bytes, bytes]:
        """What to tell the judge after its request has gone to the solution."""
        try:
            if request:
                self._solution.send(request, deadline=self._call)
            data = self._solution.receive(deadline=self._call)
        except DeadlinePassed:
            return wire.LATE, self._late().encode()
        except BrokenPipeError:
            data = b""
        return (wire.DATA, data) if data else (wire.GONE, self._gone().encode())

    def _late(self) -> str:
        if self._call >= self._total:
            return f"the check took longer than {self._times.total_s:g} s in all"
        return f"a call did not return within {self._times.call_s:g} s"

    def _gone(self) -> str:
        ended = self._solution.end(deadline=self._clock.monotonic() + _END_S)
        return how_it_ended(ended)

    def _tell(self, kind: bytes, body: bytes) -> None:
        try:
            self._judge.send(wire.note(kind, body), deadline=self._total + GRACE_S)
        except DeadlinePassed:
            raise self._stuck() from None
        except BrokenPipeError:
            raise self._lost() from None

    def _hear(self) -> tuple[bytes, bytes]:
        while (note := self._notes.take()) is None:
            try:
                data = self._judge.receive(deadline=self._total + GRACE_S)
            except DeadlinePassed:
                raise self._stuck() from None
            if not data:
                raise self._lost()
            self.heard_bytes += len(data)
            self._notes.feed(data)
        return note

    def _stuck(self) -> JudgeLost:
        return JudgeLost(
            f"comparing what the solution gave took longer than {self._times.total_s:g} s"
        )

    def _lost(self) -> Exception:
        """The fork that judged died of what it was given, or the container failed."""
        ended = self._judge.end(deadline=self._clock.monotonic() + _END_S)
        if ended.code == judge_program.CRASHED or ended.oom_killed:
            return JudgeLost("the judge died of comparing what the solution gave")
        return SandboxUnavailable(
            f"the judge's container ended without a verdict (exit code {ended.code}, "
            f"{ended.why or 'by itself'}): {ended.stderr[-400:].strip() or 'no output'}"
        )


def how_it_ended(ended: Exit) -> str:
    """A sentence for the worker about a solution's container that is gone."""
    if ended.oom_killed:
        return "the solution ran out of memory and was killed"
    if ended.why:
        return f"the solution was stopped: {ended.why}"
    if ended.code is not None and ended.code < 0:
        return f"the solution's process died (signal {-ended.code})"
    if ended.code is not None and ended.code > 128:
        return f"the solution's process died (signal {ended.code - 128})"
    return f"the solution ended its own process (exit code {ended.code})"
