"""What the worker is told. Hidden tests and drawn names never stand in it."""

from collections.abc import Sequence

from agent_loop.checks.project.diagnose import clashing
from agent_loop.checks.project.frozen import Frozen, expand
from agent_loop.checks.project.proofs import (
    ALONE,
    HIDDEN,
    LINES_RAN,
    NOTHING_REPLACED,
    RED_AGAIN,
    RENAMED,
    TWINS_FAIL,
)
from agent_loop.checks.project.records import BAD, TestRun
from agent_loop.ports import Proof

MAX_CHARS = 16_000
_MOST_TESTS = 8
_TEXT_CHARS = 1_500
_ADVICE = {
    RED_AGAIN: "The wanted tests pass without running what you changed. Change the code they test.",
    LINES_RAN: "The wanted tests never run the lines you changed. Change the code they test.",
    TWINS_FAIL: "The wanted tests pass, but they would pass with other expected values too. "
    "Make the code give the right values; leave alone how tests run and compare.",
    RENAMED: "The same tests under other names do not pass. "
    "The code must not depend on which test calls it.",
    ALONE: "The wanted tests do not pass when they run alone. "
    "The code must not depend on how its tests are run.",
    NOTHING_REPLACED: "Your change replaces functions of Python or of the test runner. "
    "Leave them alone.",
    HIDDEN: "The shown tests pass, but others that were not shown do not. "
    "Solve the task in general, not only for the shown values.",
}


def bounded(text: str) -> str:
    """At most `MAX_CHARS`, cut in the middle."""
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2 - 40
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def after_suite(frozen: Frozen, run: TestRun, problem: str) -> str:
    """The tests that did not pass, and how."""
    parts = [problem]
    parts += _uncollected(run)
    parts += _failures(frozen, run)
    parts += _gone(frozen, run)
    if len(parts) == 1:
        parts.append(run.answer.said[-_TEXT_CHARS:])
    return bounded("\n\n".join(part for part in parts if part))


def _uncollected(run: TestRun) -> list[str]:
    found = []
    for node, text in list(run.uncollected.items())[:_MOST_TESTS]:
        clash = clashing(text)
        why = f"two test files have one name: {clash[0]} and {clash[1]}" if clash else text
        found.append(f"{node} cannot be imported:\n{why[-_TEXT_CHARS:]}")
    return found


def _failures(frozen: Frozen, run: TestRun) -> list[str]:
    bad = [one for one, outcome in run.outcomes.items() if outcome in BAD]
    before = [one for one in bad if frozen.outcomes.get(one) == "passed"]
    order = [*before, *(one for one in bad if one not in before)]
    found = []
    for name in order[:_MOST_TESTS]:
        note = " (it passed before your change)" if name in before else ""
        found.append(f"{name}{note}:\n{run.texts.get(name, '')[-_TEXT_CHARS:]}")
    if len(order) > _MOST_TESTS:
        found.append(f"and {len(order) - _MOST_TESTS} more failing tests")
    return found


def _gone(frozen: Frozen, run: TestRun) -> list[str]:
    if run.answer.timed_out or run.uncollected:
        return []
    gone = [name for name, ids in expand(frozen.ids, [*run.outcomes]).items() if not ids]
    return [f"{len(gone)} tests that were there before did not run"] if gone else []


def after_proofs(proofs: Sequence[Proof]) -> str:
    """Why passing tests are not enough."""
    said = [_ADVICE.get(one.name, one.detail) for one in proofs if not one.held]
    return bounded("\n".join(said))
