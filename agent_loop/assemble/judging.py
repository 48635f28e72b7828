"""From a task to the check that judges it."""

from dataclasses import replace

from agent_loop.checks.code import CodeCheck, Finding, cannot_judge_apart
from agent_loop.config import Config
from agent_loop.errors import TaskFileError, UserError
from agent_loop.ports import Check, Clock, Limits, Sandbox
from agent_loop.tasks import CodeTask, Task
from agent_loop.yamlfile import YamlProblem
from agent_loop.yamlfile import load as load_yaml

_FIX = (
    "Add 'isolation: shared' to the task (weaker: solution and asserts share a process, and the "
    "verdict says so), or write that assert over plain values"
)
_NOTHING_NAMED = "Let each assert call what the task asks for, as in 'assert largest([1, 2]) == 2'"


def make_check(task: Task, sandbox: Sandbox, config: Config, clock: Clock) -> Check:
    """The deterministic judgement of this kind of task.

    Raises:
        TaskFileError: the task cannot be judged as it is written.
        UserError: nothing judges this kind of task yet.
    """
    refuse_unjudgeable(task)
    if isinstance(task, CodeTask):
        most = config.sandbox_limits
        limits = Limits(memory_mib=most.memory_mib, cpus=most.cpus, pids=most.pids)
        return CodeCheck(task, sandbox, config.check, clock, limits=limits)
    raise UserError(f"task {task.name}: tasks of type '{task.kind}' cannot be run yet.")


def refuse_unjudgeable(task: Task) -> None:
    """Look over a code task's asserts before anything runs.

    Raises:
        TaskFileError: an assert cannot be judged with solution and asserts apart, and the file
            does not say `isolation`.
    """
    if not isinstance(task, CodeTask) or task.isolation is not None:
        return
    found = cannot_judge_apart(task)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise TaskFileError(
            _place(task, found[0]),
            f"cannot be judged with solution and asserts apart: {found[0].reason}{more}",
            f"{_FIX if found[0].line else _NOTHING_NAMED}.",
        )


def _place(task: CodeTask, finding: Finding) -> str:
    """`file.yaml:12`, as near as the file's form allows."""
    if task.source is None or not finding.line:
        return str(task.source or task.name)
    visible = cannot_judge_apart(replace(task, hidden_tests=()))
    key, tests = ("tests", task.tests) if visible else ("hidden_tests", task.hidden_tests)
    index, line = _test_of(tests, finding.line)
    try:
        at = load_yaml(task.source).line(key, index)
    except YamlProblem:
        return str(task.source)
    # The text of a block (`- |`) begins on the line after the dash.
    block = "\n" in tests[index]
    return f"{task.source}:{at + line if block else at}"


def _test_of(tests: tuple[str, ...], line: int) -> tuple[int, int]:
    """Which test a line of the joined tests belongs to, and its line within that one."""
    for index, test in enumerate(tests):
        lines = test.count("\n") + 1
        if line <= lines:
            return index, line
        line -= lines
    return len(tests) - 1, 1
