"""Containers for the tamper suite: nothing here runs a trick on this machine."""

import json
import secrets
import time

import pytest

from agent_loop.checks.code import CodeCheck, JudgeRoom
from agent_loop.config import CheckSettings
from agent_loop.ports import Box, Candidate, Limits, Program, Verdict
from agent_loop.ports.run import SystemClock
from agent_loop.tasks import CodeTask
from tests.conftest import open_docker_sandbox
from tests.tamper.code import naive

CLOCK = SystemClock()
SETTINGS = CheckSettings(call_s=3, total_s=6)
NAIVE = Box(
    program=Program(
        name="naive", modules=(("naive_inside", naive.INSIDE),), entry="naive_inside:main"
    )
)


class Bench:
    """Runs tricks: through a naive command, and through the gate."""

    def __init__(self, sandbox) -> None:
        self.sandbox = sandbox
        self.room = JudgeRoom(sandbox, Limits(), CLOCK)

    def naive(self, command: str, solution: str, task) -> bool:
        """Whether the naive command calls it a pass."""
        mark = secrets.token_hex(8)
        tests = list(task.tests)
        if task.helpers and command in ("exit", "mark"):
            solution = f"{task.helpers}\n{solution}"
        run = naive.script(command, solution, tests, list(task.names))
        files = {name: text.replace(naive.MARK, mark) for name, text in run.files.items()}
        job = json.dumps({"files": files, "start": run.start}).encode() + b"\n"
        with self.sandbox.open(NAIVE) as session:
            session.send(job, deadline=time.monotonic() + 20)
            out = b""
            while piece := session.receive(deadline=time.monotonic() + 30):
                out += piece
        said = json.loads(out)
        return naive.believes(command, naive.Said(code=said["code"], out=said["out"]), mark)

    def gate(self, solution: str, task, *, hidden: bool = False) -> Verdict:
        wanted = CodeTask(
            name=task.name, task="", tests=task.tests, helpers=task.helpers,
            hidden_tests=task.hidden if hidden else (),
        )  # fmt: skip
        check = CodeCheck(wanted, self.sandbox, SETTINGS, CLOCK, room=self.room)
        check.prepare()
        return check.judge(Candidate(answer=solution, digest=""))


@pytest.fixture(scope="session")
def bench(base_image):
    sandbox = open_docker_sandbox(base_image, pool=3, notify=lambda _text: None)
    sandbox.warm(NAIVE, 2)
    made = Bench(sandbox)
    yield made
    made.room.close()
    sandbox.close()
