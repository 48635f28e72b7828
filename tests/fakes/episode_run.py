"""A run whose worker has tools over a dict: driven here, or in a process that is killed at a step.

`python -m tests.fakes.episode_run RUNS STEP` kills itself right after the event of that step.
"""

import os
import signal
import sys
from pathlib import Path

from agent_loop.episode import EpisodeLimits, Setting, run_episode
from agent_loop.errors import ThreadError
from agent_loop.graph import drive
from agent_loop.graph.parts import Limits, Parts, Worked
from agent_loop.models import Script, ScriptedModel
from agent_loop.ports import SystemClock
from agent_loop.store import RunStore
from tests.fakes.check import ScriptedCheck
from tests.fakes.episodes import FILES, does
from tests.fakes.runs import ScriptedOwner, job
from tests.fakes.toolbox import MemoryToolbox

WORKER = (
    does("view", path="a.py"),
    does("str_replace", path="a.py", old="return 1", new="return 'wrong'"),
    does("submit"),
    does("view", path="a.py"),
    does("str_replace", path="a.py", old="return 1", new="return 'right'"),
    does("run_tests"),
    does("submit"),
)
BRIEF = {"task": "Mend f().", "kind": "project"}


def fenced(box):
    return f"```python\n{box.tree()['a.py'].decode()}```"


def worker(boxes, **limits):
    """The seam `Parts.episode`, over a fresh dict each time."""

    def work(wanted):
        box = MemoryToolbox(FILES)
        boxes.append(box)
        done = run_episode(
            Setting(
                model=wanted.model,
                toolbox=box,
                opening=wanted.messages,
                limits=EpisodeLimits(context_tokens=50_000, **limits),
                clock=SystemClock(),
                events=wanted.events,
                cancel=wanted.cancel,
                head=wanted.head,
            )
        )
        if done.fault:
            raise done.fault
        return Worked(
            text=fenced(box), answered=done.answered, usage=done.usage, replies=done.replies
        )

    return work


class KillAt:
    """Hears the events of a run and kills the process at one."""

    def __init__(self, step):
        self.left = step

    def emit(self, kind, fields):
        self.left -= kind == "episode_step"
        if kind == "episode_step" and not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


def parts(boxes, *, answered=None, live=None, lines=WORKER, **more):
    said = {"lead": ["plan"], "worker": lines, "reviewer": ["APPROVED"] * 9}
    answered = answered or {}
    models = {
        role: ScriptedModel(f"scripted:{role}", Script(role, texts, answered=answered.get(role, 0)))
        for role, texts in said.items()
    }
    more.setdefault("episode", worker(boxes))
    return Parts(
        models=models,
        check=ScriptedCheck(),
        owner=ScriptedOwner(),
        clock=SystemClock(),
        live=live,
        **more,
    )


def project_job(**more):
    from dataclasses import replace

    made = job(limits=Limits(max_pauses=0), **more)
    return replace(made, brief=replace(made.brief, kind="project", tests=()))


def go(store, live=None, boxes=None):
    """Start the run, or go on with it."""
    boxes = [] if boxes is None else boxes
    try:
        at = drive.standing(store, "a")
    except ThreadError:
        return drive.start("a", project_job(), parts(boxes, live=live), store)
    return drive.resume("a", parts(boxes, answered=at.replies, live=live), store)


if __name__ == "__main__":
    go(RunStore(Path(sys.argv[1])), live=KillAt(int(sys.argv[2])))
