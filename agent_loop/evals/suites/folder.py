"""Any folder of task files; right answers in `references/` beside them."""

from pathlib import Path

from agent_loop import tasks
from agent_loop.assemble import refuse_unjudgeable
from agent_loop.errors import TaskFileError, UserError
from agent_loop.evals.suites.model import Suite, SuiteTask
from agent_loop.fixtures import reference_of


def load_folder(folder: Path, *, name: str | None = None) -> Suite:
    """Its tasks; those that cannot be used are refused, the others still run.

    Raises:
        UserError: no folder of tasks, or none of them can be used.
    """
    found: list[SuiteTask] = []
    refused: dict[str, str] = {}
    for path in tasks.find([folder]):
        try:
            task = tasks.load(path)
            refuse_unjudgeable(task)
        except TaskFileError as error:
            refused[path.stem] = str(error)
            continue
        if any(task.name == other.task.name for other in found):
            refused[path.stem] = f"{path}: another task is named '{task.name}' as well."
            continue
        found.append(SuiteTask(task=task, reference=reference_of(task)))
    if not found:
        raise UserError(f"{folder}: no task can be used. " + " ".join(refused.values()))
    return Suite(name=name or str(folder), tasks=tuple(found), refused=refused)
