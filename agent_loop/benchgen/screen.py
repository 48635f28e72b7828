"""Asks the server in a container about mutants; a container that breaks is replaced."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from agent_loop.benchgen.inside import text
from agent_loop.checks.project.command import ENVIRONMENT, FOLDER, Setting, pytest_job
from agent_loop.checks.project.inside import text as runner_text
from agent_loop.errors import DeadlinePassed, SandboxUnavailable
from agent_loop.ports import Box, Clock, Limits, Program, Sandbox, Session

FORK_MIB = 1024
"""Address space of one mutant's process: one that allocates without end meets this."""
LIMITS = Limits(
    memory_mib=1536, cpus=1.0, pids=512, open_files=1024, output_bytes=4 << 30, life_s=6 * 3600.0
)
_FRAME_BYTES = 256 << 20
_SLACK_S = 60.0


@cache
def program() -> Program:
    """What waits in a screening container."""
    files = {
        "agent_loop_start": runner_text("start"),
        "agent_loop_record": text("record"),
        "agent_loop_swap": text("swap"),
        "agent_loop_screen": text("screen"),
    }
    return Program(
        name="benchgen-screen",
        modules=(("agent_loop_texts", f"FILES = {files!r}\n"), ("agent_loop_boot", text("boot"))),
        entry="agent_loop_boot:main",
    )


FLAGS = ("-I", "-B", "-u")
"""Of the first interpreter; the second has a fixed hash seed, so that the same mutant always
gives the same words."""


def start_of(setting: Setting) -> dict[str, Any]:
    """What the server has to know of the project before the first job."""
    run = json.loads(pytest_job(setting, None, wall_s=0.0).input)
    return {
        "before": run["before"],
        "after": run["after"],
        "plugins": run["plugins"],
        "env": {**ENVIRONMENT, "PYTHONHASHSEED": "0", **run["env"]},
        "files": {f"{FOLDER}/empty/pytest.ini": "[pytest]\n"},
        "memory_mib": FORK_MIB,
    }


@dataclass(kw_only=True)
class Screen:
    """One container; not for two threads."""

    sandbox: Sandbox
    box: Box
    start: Mapping[str, Any]
    clock: Clock
    restarts: int = 0
    _session: Session | None = field(default=None, repr=False)

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """One job's answer; `{"trouble": …}` where the container broke over it.

        Raises:
            SandboxUnavailable: the engine failed.
        """
        deadline = self.clock.monotonic() + float(job["wall_s"]) + _SLACK_S
        session = self._opened(deadline)
        try:
            session.send(_framed(job), deadline=deadline)
            return _answer(session, deadline)
        except (DeadlinePassed, BrokenPipeError, EOFError, ValueError) as problem:
            why = self._post_mortem(session)
            return {"trouble": why or f"the container did not answer ({type(problem).__name__})"}

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None

    def _opened(self, deadline: float) -> Session:
        if self._session is None:
            self._session = self.sandbox.open(self.box)
            self._session.send(_framed(self.start), deadline=deadline)
        return self._session

    def _post_mortem(self, session: Session) -> str:
        why = ""
        with contextlib.suppress(SandboxUnavailable):
            end = session.end(deadline=self.clock.monotonic() + 1.0)
            why = "the container ran out of memory" if end.oom_killed else end.stderr[-1500:]
        self.close()
        self.restarts += 1
        return why


def _framed(what: Mapping[str, Any]) -> bytes:
    body = json.dumps(what).encode("ascii")
    return len(body).to_bytes(8, "big") + body


def _answer(session: Session, deadline: float) -> dict[str, Any]:
    data = bytearray()
    size: int | None = None
    while size is None or len(data) < size:
        piece = session.receive(deadline=deadline)
        if not piece:
            raise EOFError
        data += piece
        if size is None and len(data) >= 8:
            size = int.from_bytes(data[:8], "big") + 8
            if size > _FRAME_BYTES:
                raise EOFError
    got: dict[str, Any] = json.loads(bytes(data[8:size]))
    return got
