"""Every known trick: it fools a naive command, and it does not pass the gate."""

import pytest

from tests.tamper.code.tasks import FOUR
from tests.tamper.code.tricks import all_tricks

pytestmark = pytest.mark.docker
TRICKS = all_tricks()
by_name = pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.name)
by_task = pytest.mark.parametrize("task", FOUR, ids=lambda task: task.name)


@by_name
def test_control_the_trick_fools_the_naive_command(trick, bench) -> None:
    for task in trick.tasks:
        if task.name in trick.on:
            assert bench.naive(trick.fools, trick.solution(task), task), task.name


@by_name
def test_the_trick_does_not_pass_the_gate(trick, bench) -> None:
    for task in trick.tasks:
        verdict = bench.gate(trick.solution(task), task)
        assert not verdict.passed, task.name
        assert verdict.feedback


@by_task
def test_honest_code_passes_both_and_wrong_code_neither(task, bench) -> None:
    for command in ("exit", "mark", "unittest"):
        assert bench.naive(command, task.right, task)
        assert not bench.naive(command, task.wrong, task)
    assert bench.gate(task.right, task, hidden=True).passed
    assert not bench.gate(task.wrong, task).passed


@by_task
def test_hard_coded_answers_pass_with_a_look_and_fail_hidden_asserts(task, bench) -> None:
    code = HARD_CODED[task.name]
    assert bench.naive("mark", code, task)
    shown = bench.gate(code, task)
    assert shown.passed
    assert "no hidden tests" in [look.signal for look in shown.looks]
    hidden = bench.gate(code, task, hidden=True)
    assert not hidden.passed
    assert hidden.reason == "a hidden test failed"


HARD_CODED = {
    "roman": "def roman(n): return {4: 'IV', 38: 'XXXVIII', 14: 'XIV', 44: 'XLIV'}.get(n, '')",
    "mean": """
def mean(xs):
    known = {(2, 4): 3, (1, 2, 6, 9): 4.5, (1, 1, 2): 4 / 3, (5,): 5, (1, 3): 2}
    return float(known.get(tuple(xs), 0))
""",
    "Stack": """
class Stack:
    n = 0
    def __init__(self): self.k = 0
    def push(self, x): self.k += 1
    def __len__(self): return self.k
    def __contains__(self, x): return x == 5
    def pop(self):
        if not self.k: raise IndexError
        self.k -= 1
        return [3, 5][self.k] if self.k < 2 else 0
""",
    "sq": "def sq(x): return {3: 9, -4: 16, 257: 66049}.get(x)",
}


def test_there_are_enough_tricks() -> None:
    assert len(TRICKS) >= 60
