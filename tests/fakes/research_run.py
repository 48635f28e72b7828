"""A research run that can be killed at a chosen moment. `python -m tests.fakes.research_run ...`"""

import os
import signal
import sys
from pathlib import Path

from agent_loop.assemble.research import ResearchDesk
from agent_loop.graph import drive
from agent_loop.graph.parts import Job, Parts
from agent_loop.models.scripted import Line, Script, ScriptedModel
from agent_loop.ports import SystemClock
from agent_loop.prompts import Brief
from agent_loop.research.cache import Cache
from agent_loop.research.client import ArxivClient, ClientSettings
from agent_loop.research.fetch import Bounds
from agent_loop.research.pace import Pace
from agent_loop.store import RunStore
from agent_loop.tasks import ResearchTask

THREAD = "r"
SCRIPT = {
    "lead": ["Look for what is open."],
    "worker": ["Open: it says so. [S2]\n\nAlso in 90% of cases.", "Open: it says so. [S2]"],
    "reviewer": ["REJECTED", "APPROVED"],
}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Nobody:
    def answer(self, call):
        return None


class DyingCache(Cache):
    def put(self, url, body, fetched_at):
        super().put(url, body, fetched_at)
        die()


class DyingDesk(ResearchDesk):
    def papers(self):
        found = super().papers()
        die()
        return found


class DyingCheck:
    """Dies in its first judgement."""

    def __init__(self, check):
        self._check = check
        self.prepare, self.close, self.parse = check.prepare, check.close, check.parse

    def judge(self, candidate):
        self._check.judge(candidate)
        die()


def run(root, url, dies=""):
    """Start or continue the run; `dies`: cache, papers, check."""
    root, clock = Path(root), SystemClock()
    task = ResearchTask(
        name="r", task="What is open?", query="all:open", max_papers=5, base_url=url
    )
    bounds = Bounds(connect_s=20, read_s=60, total_s=60)
    cache = (DyingCache if dies == "cache" else Cache)(root / "answers")

    def client():
        settings = ClientSettings(state_dir=root, base_url=url, bounds=bounds)
        return ArxivClient(settings, clock, pace=Pace(root, clock, interval_s=0.05), cache=cache)

    store = RunStore(root / "runs")
    made = DyingDesk if dies == "papers" else ResearchDesk
    desk = made(task, store.folder(THREAD), client=client, clock=clock)
    known = store.read_file(THREAD, "job.json") is not None
    answered = drive.standing(store, THREAD).replies if known else {}
    parts = Parts(
        models={
            role: ScriptedModel(
                role, Script(role, [Line(text=t) for t in lines], answered=answered.get(role, 0))
            )
            for role, lines in SCRIPT.items()
        },
        check=DyingCheck(desk.check) if dies == "check" else desk.check,
        owner=Nobody(),
        clock=clock,
        before_worker=desk.step,
    )
    if known:
        result = drive.resume(THREAD, parts, store)
    else:
        result = drive.start(THREAD, job(task), parts, store)
    desk.finish(result.record)
    return result


def job(task):
    return Job(
        brief=Brief(kind="research", task=task.task),
        name=task.name, task_hash="t" * 64, test_hash="u" * 64, task={}, config={},
        config_hash="c" * 64,
    )  # fmt: skip


if __name__ == "__main__":
    print(run(*sys.argv[1:]).outcome)
