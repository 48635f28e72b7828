"""A suite: tasks with known right answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_loop.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTask:
    """A task and the reply that solves it, where somebody knows one."""

    task: Task
    reference: str | None = None
    wrong: tuple[str, ...] = ()
    """Replies that must fail, such as the bug itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What an importer gives."""

    name: str
    tasks: tuple[SuiteTask, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    """Tasks that cannot be judged here, with the reason and what to do."""
