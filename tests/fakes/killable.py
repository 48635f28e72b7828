"""A run in a process of its own that may be killed at any moment and goes on in the next one."""

import os
import signal
from pathlib import Path

from agent_loop.checks.code import CodeCheck
from agent_loop.config import CheckSettings
from agent_loop.graph import drive
from agent_loop.graph.parts import Parts
from agent_loop.models.scripted import Line, Script, ScriptedModel
from agent_loop.ports import Check, Events, SystemClock
from agent_loop.sandbox import DockerSandbox
from agent_loop.sandbox.engine import find_engine
from agent_loop.store import RunStore, reply_from_text
from agent_loop.tasks import CodeTask
from tests.fakes.check import ScriptedCheck
from tests.fakes.runs import job

# One task in which every path is taken: a wrong answer, prose, a repeat, an escalation, an owner
# call, guidance, a pass that the reviewer rejects, a pass.
TESTS = ("assert f() == 1", "assert f() + f() == 2")
WRONG = "```python\ndef f():\n    return 2\n```"
SAME = "```python\ndef f():\n    # on second thoughts\n    return 2\n```"
OTHER = "```python\ndef f():\n    return 3\n```"
PASS = "```python\ndef f():\n    return 1  # right\n```"
SHORTER = "```python\nf = lambda: 1; right = 1\n```"
SCRIPT = {
    "lead": ["1. Return one."],
    "worker": [
        WRONG,
        "You could return one.",
        SAME,
        OTHER,
        PASS.replace("# right", "+ 0*len('right')"),
        SHORTER,
    ],
    "reviewer": ["REJECTED", "REJECTED", "REJECTED", "REJECTED: too long", "APPROVED"],
    "escalation": ["```python\ndef f():\n    return 4\n```"],
}


class OnlyOnce:
    """An owner who gives guidance at once."""

    def answer(self, call):
        return reply_from_text("Return the number one, on one line.", "terminal")


def models(replies, delay_s):
    return {
        role: ScriptedModel(
            f"scripted:{role}",
            Script(
                role, [Line(text=t, delay_s=delay_s) for t in lines], answered=replies.get(role, 0)
            ),
        )
        for role, lines in SCRIPT.items()
    }


class Struck:
    """Kills its own process right after the nth event is in the trace."""

    def __init__(self, n: int) -> None:
        self._left = n

    def emit(self, kind, fields):
        if kind != "model_text":
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def struck_child(root: str, thread: str, n: int, database: str | None = None) -> None:
    """What a process runs that dies at its nth event."""
    drive_on(root, thread, 0.0, live=Struck(n), database=database)


def drive_on(
    root: str,
    thread: str,
    delay_s: float,
    check: Check | None = None,
    live: Events | None = None,
    database: str | None = None,
) -> str:
    """Start the thread, or continue it where it is there already; the outcome."""
    store = RunStore(Path(root), database=database)
    known = store.read_file(thread, "job.json") is not None
    replies = drive.standing(store, thread).replies if known else {}
    made = Parts(
        models=models(replies, delay_s),
        check=check or ScriptedCheck(delay_s=delay_s),
        owner=OnlyOnce(),
        clock=SystemClock(),
        live=live,
    )
    if known:
        return drive.resume(thread, made, store).outcome
    return drive.start(
        thread, job(tests=TESTS, task="Write f() that returns 1."), made, store
    ).outcome


def child(root: str, thread: str, delay_s: float) -> None:
    """What a killed process runs."""
    drive_on(root, thread, delay_s)


def drive_real(root: str, thread: str, delay_s: float, image: str) -> str:
    """The same with the real gate in real containers."""
    task = CodeTask(
        name="one", task="Write f() that returns 1.", tests=TESTS, source=None, source_hash="1" * 64
    )
    engine = find_engine(os.environ, Path.home())
    sandbox = DockerSandbox(engine, image=image, runtime="runc", pool=2, notify=lambda line: None)
    try:
        check = CodeCheck(task, sandbox, CheckSettings(call_s=20, total_s=40), SystemClock())
        try:
            return drive_on(root, thread, delay_s, check)
        finally:
            check.close()
    finally:
        sandbox.close()
