"""From a task to the check that judges it."""

from agent_loop.config import CheckSettings
from agent_loop.errors import UserError
from agent_loop.ports import Check, Clock, Sandbox
from agent_loop.tasks import Task


def make_check(task: Task, sandbox: Sandbox, settings: CheckSettings, clock: Clock) -> Check:
    """The deterministic judgement of this kind of task.

    Raises:
        TaskFileError: the task cannot be judged as it is written.
        UserError: nothing judges this kind of task yet.
    """
    refuse_unjudgeable(task)
    raise UserError(f"task {task.name}: tasks of type '{task.kind}' cannot be run yet.")


def refuse_unjudgeable(task: Task) -> None:
    """Look over a code task's asserts before anything runs."""
