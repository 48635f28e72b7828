"""An attempt that is to be made: which task, which number, which thread, which configuration."""

import hashlib
import re
from dataclasses import dataclass

from agent_loop.config import Config
from agent_loop.store.reports import Report
from agent_loop.tasks import Task

PREFIX = "eval"
_SEEDS = 2**31
_TASK_CHARS = 36
"""Of a task's name in a thread id, which holds 100 characters in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One attempt that is to be made or gone on with."""

    task: Task
    n: int
    """Counts from 1."""
    thread: str
    tries: int = 1
    """Which start of it this is."""

    @property
    def key(self) -> tuple[str, int]:
        return self.task.name, self.n


def thread_of(stem: str, task: str, n: int) -> str:
    """The thread of an attempt: always the same, so that a killed eval finds it again.

    `stem` is the report's file name without its ending.
    """
    short = task
    if len(task) > _TASK_CHARS or not re.fullmatch(r"[A-Za-z0-9._-]+", task):
        mark = hashlib.sha256(task.encode()).hexdigest()[:8]
        short = f"{re.sub(r'[^A-Za-z0-9._-]+', '-', task)[: _TASK_CHARS - 9]}-{mark}"
    return f"{PREFIX}.{stem}.{short}.{n}"


def config_of(config: Config, task: str, n: int) -> Config:
    """The configuration of one attempt: its own seed, its own script, never a fallback.

    The seed comes from the configured one, the task and the number: attempts differ, a rerun does
    not, and two variants meet the same seeds. In `scripted:PATH` the words `{task}` and `{n}`
    are filled in.
    """
    options = dict(config.model_options)
    for key in {"default", *options}:
        given = options.get(key)
        base = given.seed if given else None
        if key == "default" or base is not None:
            fields = given.model_dump(exclude_unset=True) if given else {}
            fields["seed"] = seed_of(base or 0, task, n)
            options[key] = type(config.options("worker")).model_validate(fields)
    update = {"model_options": options, "fallback": None}
    return filled(config, task, n).model_copy(update=update)


def filled(config: Config, task: str, n: int) -> Config:
    """With the names of its scripts filled in, and nothing else changed."""
    text = task.replace("/", "-")
    names = {
        role: name.replace("{task}", text).replace("{n}", str(n)) if is_open(name) else name
        for role, name in config.models.items()
    }
    return config.model_copy(update={"models": names})


def is_open(name: str) -> bool:
    """A model's name that has another script for each task or attempt."""
    return name.startswith("scripted:") and ("{task}" in name or "{n}" in name)


def seed_of(base: int, task: str, n: int) -> int:
    """Between 0 and 2**31 - 1."""
    digest = hashlib.sha256(f"{base}:{task}:{n}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % _SEEDS


def left_of(report: Report, tasks: list[Task], attempts: int, stem: str) -> list[Case]:
    """The attempts that have no valid row yet, in order: first attempt of every task, then second.

    An interrupted eval then has something of each task.
    """
    rows = {(row.task, row.n): row for row in report.attempts}
    cases = []
    for n in range(1, attempts + 1):
        for task in tasks:
            row = rows.get((task.name, n))
            if row is not None and row.status == "finished":
                continue
            again = row.tries + 1 if row is not None and row.status == "environment" else 1
            tries = row.tries if row is not None and row.status != "environment" else again
            thread = thread_of(stem, task.name, n)
            cases.append(Case(task=task, n=n, thread=thread, tries=tries))
    return cases
