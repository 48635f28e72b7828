"""The judge's container: one check after another, each in a fork of its own.

It holds nothing but the task's own code. The host carries bytes between the solution and here and
keeps the time; it never reads what the solution writes.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys

from agent_loop.checks.code.inside.asker import Asker
from agent_loop.checks.code.inside.asserts import Bench, Names, standard_modules
from agent_loop.checks.code.inside.marks import HELPERS_FILE, Script
from agent_loop.checks.code.inside.named import named
from agent_loop.checks.code.inside.wire import (
    CALL,
    CHUNK_BYTES,
    DATA,
    GONE,
    JOB,
    LATE,
    MORE,
    REPLY,
    VERDICT,
    Frames,
    Notes,
    Refused,
    note,
    private_pipe,
    refuse,
    write_all,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_SCRIPTS = 16
CRASHED = 70
"""Exit code: the fork that judged died without a verdict."""


class HostPipe:
    """To the host and back, in lock-step: one note out, one note in."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._notes = Notes()
        self._frames = Frames()
        self.busy = False
        """In the middle of a note, which a timer must not tear apart."""

    @property
    def unread(self) -> bool:
        return bool(self._frames.buffer)

    def take(self) -> tuple[bytes, bytes]:
        """The next note of the host; the process ends with its pipe."""
        while (whole := self._notes.take()) is None:
            data = os.read(self._reads, CHUNK_BYTES)
            if not data:
                os._exit(0)
            self._notes.feed(data)
        return whole

    def put(self, kind: bytes, body: bytes = b"") -> None:
        write_all(self._writes, note(kind, body))

    def send(self, frame: bytes, *, fresh: bool) -> None:
        self._exchange(CALL if fresh else REPLY, frame)

    def receive(self) -> dict[str, Any]:
        while (message := self._frames.take()) is None:
            self._exchange(MORE)
        return message

    def _exchange(self, kind: bytes, body: bytes = b"") -> None:
        self.busy = True
        try:
            self.put(kind, body)
            kind, body = self.take()
        finally:
            self.busy = False
        if kind in (LATE, GONE):
            refuse(body.decode())
        self._frames.feed(body)


class Server:
    """Takes jobs and forks."""

    def __init__(self, pipe: HostPipe) -> None:
        self._pipe = pipe
        self._scripts: dict[tuple[str, str], Script] = {}
        """Of the last tasks, so that laps and several solutions find them compiled."""

    def serve(self) -> NoReturn:
        while True:
            kind, body = self._pipe.take()
            if kind not in (JOB, DATA, LATE, GONE):
                os._exit(CRASHED)
            if kind == JOB:
                job = json.loads(body)
                self._fork(job, self._script(job))

    def _script(self, job: dict[str, Any]) -> Script:
        key = job["helpers"], job["tests"]
        if key not in self._scripts:
            if len(self._scripts) >= _SCRIPTS:
                self._scripts.clear()
            self._scripts[key] = Script(*key, frozenset(job["wanted"]))
        return self._scripts[key]

    def _fork(self, job: dict[str, Any], script: Script) -> None:
        child = os.fork()
        if child == 0:
            try:
                self._check(job, script)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            os._exit(CRASHED)

    def _check(self, job: dict[str, Any], script: Script) -> None:
        _limit_memory(job["memory_mib"])
        _stop_after(job["total_s"], self._pipe)
        verdict = check(self._pipe, job, script)
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._pipe.put(VERDICT, json.dumps(verdict).encode())


def check(pipe: Any, job: dict[str, Any], script: Script) -> dict[str, Any]:
    """Judge one solution. Nothing it says is trusted, nothing it does raises out of here."""
    asker = Asker(pipe, frozenset(job["licence"]))
    names = Names(frozenset(job["wanted"]), asker.lookup)
    bench = Bench(names, asker.calls, compared=asker.instances_compared)
    bench.names.update(standard_modules(job["modules"]))
    asker.far.names = bench.names
    if _loaded(asker, bench, job):
        bench.run(script)
    outcome = bench.outcome
    if asker.refusal and outcome.kind != "refused":
        outcome.kind, outcome.reason = "refused", asker.refusal
    asker.refusal = asker.refusal or "the check is over"  # generators that are collected now
    return {**outcome.as_json(), "requests": asker.requests}


def _loaded(asker: Asker, bench: Bench, job: dict[str, Any]) -> bool:
    """The task's helpers stand ready for the solution too; the asserts use their own."""
    try:
        if job["helpers"]:
            asker.load(job["helpers"], HELPERS_FILE)
        asker.load(job["solution"], "<solution>")
    except Refused as refusal:
        bench.outcome.end("refused", str(refusal))
    except BaseException as problem:  # the solution's own, a verdict
        bench.note_raised(problem)
    return not bench.outcome.kind


def _limit_memory(memory_mib: int) -> None:
    """Turn a comparison that eats the memory into a MemoryError before the container dies of it."""
    most = memory_mib << 20
    try:
        resource = __import__("resource")
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, ValueError, OSError):
        return  # not Linux, so no container: `sandbox: local` promises no limits


def _stop_after(seconds: float, pipe: HostPipe) -> None:
    def stop(_signal: int, _frame: Any) -> None:
        if not pipe.busy:
            refuse(f"the asserts took longer than {seconds:g} s")
        signal.setitimer(signal.ITIMER_REAL, 0.05)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> NoReturn:
    """Serve checks until the pipe closes."""
    sys.setrecursionlimit(3000)
    named()
    gc.freeze()  # forks share these pages as long as nobody walks them
    Server(HostPipe(*private_pipe())).serve()
