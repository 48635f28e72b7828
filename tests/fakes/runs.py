"""A run of scripted parts in a few words, for the tests of graph and store."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent_loop.graph.parts import Job, Limits, Parts
from agent_loop.models.scripted import ScriptedModel
from agent_loop.ports import OwnerCall, OwnerReply, SystemClock
from agent_loop.prompts import Brief
from agent_loop.store import reply_from_text
from tests.fakes.check import ScriptedCheck

RIGHT = "```python\ndef f():\n    return 'right'\n```"
WRONG = "```python\ndef f():\n    return {n}\n```"


def wrong(n):
    return WRONG.replace("{n}", str(n))


@dataclass
class ScriptedOwner:
    """Says its lines in order; nobody is there after the last."""

    lines: list[str] = field(default_factory=list)
    asked: list[OwnerCall] = field(default_factory=list)
    then: Callable[[], None] = lambda: None

    def answer(self, call: OwnerCall) -> OwnerReply | None:
        self.asked.append(call)
        if not self.lines:
            return None
        return reply_from_text(self.lines.pop(0), "terminal")


def parts(worker=(), reviewer=(), *, lead=("1. write it",), escalation=None, **more):
    """Parts whose models say these lines. `reviewer` as one text says it every time."""
    if isinstance(reviewer, str):
        reviewer = [reviewer] * 50
    models = {
        "lead": ScriptedModel("scripted:lead", lead),
        "worker": ScriptedModel("scripted:worker", worker),
        "reviewer": ScriptedModel("scripted:reviewer", reviewer or ["APPROVED"] * 50),
    }
    if escalation is not None:
        models["escalation"] = ScriptedModel("scripted:escalation", escalation)
    more.setdefault("check", ScriptedCheck())
    more.setdefault("owner", ScriptedOwner())
    more.setdefault("clock", SystemClock())
    return Parts(models=models, **more)


def job(*, rejection_cap=3, limits=None, task="Write f().", tests=("assert f() == 1",), **more):
    return Job(
        brief=Brief(kind="code", task=task, tests=tests),
        name="demo",
        task_hash="t" * 64,
        test_hash="u" * 64,
        task={"task": task, "tests": list(tests)},
        config={"rejection_cap": rejection_cap},
        config_hash="c" * 64,
        rejection_cap=rejection_cap,
        limits=limits or Limits(),
        **more,
    )
