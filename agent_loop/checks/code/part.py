"""One set of tests made ready to be judged: the shown ones or the hidden ones."""

import ast
from dataclasses import dataclass
from functools import cached_property

from agent_loop.checks.code.apart import Finding, findings
from agent_loop.checks.code.licence import licence
from agent_loop.checks.code.looks import looks_of
from agent_loop.checks.code.names import bound, free
from agent_loop.checks.code.reading import Reading
from agent_loop.checks.code.sheet import Sheet
from agent_loop.errors import TaskFileError
from agent_loop.ports import Json, Look
from agent_loop.syntax import parse
from agent_loop.tasks import CodeTask

HIDDEN = "hidden test"


@dataclass(frozen=True, kw_only=True)
class Part:
    """Tests and what was worked out from them before any reply."""

    sheet: Sheet
    helpers: str

    @property
    def hidden(self) -> bool:
        return self.sheet.word == HIDDEN

    @cached_property
    def reading(self) -> Reading:
        return Reading.of(self.sheet.text, self.helpers)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return findings(self.reading)

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        return looks_of(self.sheet, self.reading)

    @cached_property
    def job(self) -> dict[str, Json]:
        """What the judge needs besides the solution."""
        return {
            "tests": self.sheet.text,
            "helpers": self.helpers,
            "wanted": sorted(self.reading.wanted),
            "modules": sorted(self.reading.modules),
            "licence": sorted(licence(self.reading)),
        }


def parts_of(task: CodeTask) -> tuple[Part, ...]:
    """The shown tests, then the hidden ones if there are any.

    Raises:
        TaskFileError: tests or helpers do not parse.
    """
    _parsed(task, task.helpers, "helpers")
    shown = Sheet(tests=task.tests)
    _parsed(task, shown.text, "tests")
    _refuse_without_asserts(task, shown, "tests")
    parts = [Part(sheet=shown, helpers=task.helpers)]
    if task.hidden_tests:
        hidden = Sheet(tests=task.hidden_tests, word=HIDDEN)
        _parsed(task, hidden.text, "hidden_tests")
        _refuse_without_asserts(task, hidden, "hidden_tests")
        if _needs_setup(hidden, shown):
            hidden = Sheet(tests=task.hidden_tests, word=HIDDEN, before=shown)
        parts.append(Part(sheet=hidden, helpers=task.helpers))
    return tuple(parts)


def _refuse_without_asserts(task: CodeTask, sheet: Sheet, where: str) -> None:
    """Tests that assert nothing would pass whatever the solution does."""
    tests = [node.test for node in ast.walk(sheet.tree) if isinstance(node, ast.Assert)]
    if all(isinstance(test, ast.Constant) and test.value for test in tests):
        raise TaskFileError(
            str(task.source or task.name),
            f"'{where}' asserts nothing",
            "Give at least one assert, such as: assert fizzbuzz(3) == ['1', '2', 'Fizz'].",
        )


def _needs_setup(hidden: Sheet, shown: Sheet) -> bool:
    """Hidden tests may use names that the shown ones set up."""
    return bool(free(hidden.tree, parse("")) & bound(shown.tree))


def _parsed(task: CodeTask, source: str, where: str) -> None:
    try:
        parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        line = f" line {problem.lineno}" if isinstance(problem, SyntaxError) else ""
        message = problem.msg if isinstance(problem, SyntaxError) else type(problem).__name__
        raise TaskFileError(
            str(task.source or task.name),
            f"'{where}'{line} cannot be parsed: {message}",
            "Every test is Python that runs in order, usually one assert.",
        ) from None
