"""The gate for code tasks over plain processes: quick, and the same code as in containers."""

import pytest

from agent_loop.checks.code import CodeCheck, cannot_judge_apart
from agent_loop.config import CheckSettings
from agent_loop.errors import ReplyError, SandboxUnavailable, TaskFileError
from agent_loop.ports import Candidate, Reply, Usage, Verdict
from agent_loop.ports.run import SystemClock
from agent_loop.sandbox import LocalSandbox
from agent_loop.tasks import CodeTask

STACK = """
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)
"""


@pytest.fixture
def sandbox():
    box = LocalSandbox(allowed=True, notify=lambda _text: None)
    yield box
    box.close()


def judge(sandbox, tests, code, *, hidden=(), helpers="", isolation=None, **settings) -> Verdict:
    task = CodeTask(
        name="t", task="", tests=tuple(tests), hidden_tests=tuple(hidden), helpers=helpers,
        isolation=isolation,
    )  # fmt: skip
    check = CodeCheck(task, sandbox, CheckSettings(**settings), SystemClock())
    try:
        return check.judge(Candidate(answer=code, digest=""))
    finally:
        check.close()


def reply(text: str, finish: str = "stop") -> Reply:
    return Reply(text=text, finish=finish, usage=Usage(), answered="scripted:x")


def test_right_code_passes_with_its_proofs(sandbox) -> None:
    verdict = judge(sandbox, ["assert f(2) == 4", "assert f(3) == 9"], "def f(x): return x * x")
    assert verdict.passed
    assert verdict.isolation == "separate"
    assert verdict.executed == ("test 1", "test 2")
    assert [proof.held for proof in verdict.proofs] == [True] * 3


def test_feedback_names_expression_got_expected_and_calls(sandbox) -> None:
    verdict = judge(sandbox, ["assert f(2) + 1 == 5, 'two squared'"], "def f(x): return x")
    assert not verdict.passed
    assert verdict.reason == "test 1 failed"
    for part in ("f(2) + 1 == 5", "got: 3", "expected: 5", "two squared", "f(2) -> 2"):
        assert part in verdict.feedback


def test_an_exception_is_shown_with_the_line_of_the_solution(sandbox) -> None:
    verdict = judge(sandbox, ["assert f(0) == 1"], "def f(x):\n    return 1 / x\n")
    assert "ZeroDivisionError" in verdict.reason
    assert "line 2, in f: return 1 / x" in verdict.feedback


def test_a_missing_name_is_named(sandbox) -> None:
    verdict = judge(sandbox, ["assert f(0) == 1"], "def g(x): return x")
    assert "name 'f' is not defined" in verdict.feedback


def test_state_stays_on_its_side(sandbox) -> None:
    tests = ["s = Stack()", "s.push(1)\ns.push(2)", "assert s.pop() == 2", "assert len(s) == 1"]
    assert judge(sandbox, tests, STACK).passed


def test_hidden_tests_run_only_after_the_shown_ones_and_are_never_quoted(sandbox) -> None:
    table = "def f(x): return {2: 4}.get(x)"
    shown, hidden = ["assert f(2) == 4"], ["assert f(3) == 9"]
    assert judge(sandbox, shown, table).passed
    verdict = judge(sandbox, shown, table, hidden=hidden)
    assert not verdict.passed
    assert verdict.reason == "a hidden test failed"
    assert "f(3)" not in verdict.feedback
    assert "f(3) == 9" in verdict.output
    assert verdict.executed == ("test 1", "hidden test 1")


def test_an_endless_call_ends_at_its_limit(sandbox) -> None:
    verdict = judge(sandbox, ["assert f(2) == 4"], "def f(x):\n  while True: pass", call_s=0.5)
    assert "a call did not return within 0.5 s" in verdict.feedback


def test_a_cut_reply_is_not_applied(sandbox) -> None:
    task = CodeTask(name="t", task="", tests=("assert f(1) == 1",))
    check = CodeCheck(task, sandbox, CheckSettings(), SystemClock())
    text = "```python\ndef f(x):\n    return x\n```"
    with pytest.raises(ReplyError, match="cut off"):
        check.parse(reply(text, "length"))
    assert "def f(x)" in check.parse(reply(text)).answer


def test_comments_and_blank_lines_do_not_make_a_new_candidate(sandbox) -> None:
    task = CodeTask(name="t", task="", tests=("assert f(1) == 1",))
    check = CodeCheck(task, sandbox, CheckSettings(), SystemClock())
    one = check.parse(reply("```python\ndef f(x):\n    return x\n```"))
    two = check.parse(reply("```python\ndef f(x):\n    # now right\n\n    return (x)\n```"))
    three = check.parse(reply("```python\ndef f(x):\n    return -x\n```"))
    assert one.digest == two.digest != three.digest


def test_a_task_that_cannot_be_judged_apart_is_refused_with_the_line(sandbox) -> None:
    tests = ("assert f(1) == 1", "class Sub(Base):\n    pass", "assert Sub().go() == 1")
    task = CodeTask(name="t", task="", tests=tests)
    assert [finding.line for finding in cannot_judge_apart(task)] == [2]
    with pytest.raises(TaskFileError, match=r"test 2 line 1 .*subclasses Base.*isolation: shared"):
        CodeCheck(task, sandbox, CheckSettings(), SystemClock())


def test_shared_runs_need_twins_that_fail(sandbox) -> None:
    tests = ["class Sub(Base):\n    pass", "assert Sub().go() == 1"]
    verdict = judge(sandbox, tests, "class Base:\n  def go(self): return 1", isolation="shared")
    assert verdict.passed
    assert verdict.isolation == "shared"
    assert {proof.name for proof in verdict.proofs} >= {"end mark", "twins failed"}


def test_shared_runs_catch_an_object_that_equals_everything(sandbox) -> None:
    liar = "class Any:\n  def __eq__(s, o): return True\nclass Base:\n  def go(self): return Any()"
    tests = ["class Sub(Base):\n    pass", "assert Sub().go() == 1"]
    verdict = judge(sandbox, tests, liar, isolation="shared")
    assert not verdict.passed
    assert "altered expected value" in verdict.feedback


def test_one_line_over_and_over_is_refused_before_it_is_parsed(sandbox) -> None:
    check = CodeCheck(
        CodeTask(name="t", task="", tests=("assert f(1) == 1",)),
        sandbox,
        CheckSettings(),
        SystemClock(),
    )
    with pytest.raises(ReplyError, match="over and over"):
        check.parse(reply("I will now change the function.\n" * 265))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```python\ndef f(x:\n    return x\n```", "line 1"),
        ("```python\ndef f(x):\n  return 1" + "0" * 5000 + "\n```", "digits"),
        ("```python\ndef f(x):\n  return '\x00'\n```", "."),
        ("I would write a function for that.", "."),
    ],
)
def test_code_that_does_not_parse_costs_no_container(sandbox, text, said) -> None:
    check = CodeCheck(
        CodeTask(name="t", task="", tests=("assert f(1) == 1",)),
        sandbox,
        CheckSettings(),
        SystemClock(),
    )
    with pytest.raises(ReplyError, match=said):
        check.parse(reply(text))


def test_hidden_tests_may_use_what_the_shown_ones_set_up(sandbox) -> None:
    shown, hidden = ["s = Stack()", "s.push(1)", "assert len(s) == 1"], ["assert s.pop() == 1"]
    assert judge(sandbox, shown, STACK, hidden=hidden).passed


def test_the_helpers_of_the_task_stand_ready_for_the_solution(sandbox) -> None:
    helpers = "def twice(x): return 2 * x"
    verdict = judge(
        sandbox, ["assert f(2) == twice(4)"], "def f(x): return twice(twice(x))", helpers=helpers
    )
    assert verdict.passed


def test_memory_and_output_limits_are_told_apart(sandbox) -> None:
    died = judge(sandbox, ["assert f(1) == 1"], "import os\ndef f(x): os._exit(3)")
    assert "ended its own process (exit code 3)" in died.feedback
    killed = judge(sandbox, ["assert f(1) == 1"], "import os\ndef f(x): os.kill(os.getpid(), 9)")
    assert "died (signal 9)" in killed.feedback


class _Broken:
    """A sandbox whose engine fails after the judge has started."""

    def __init__(self, inner, *, after: int) -> None:
        self._inner, self._left = inner, after

    def open(self, box):
        self._left -= 1
        if self._left < 0:
            raise SandboxUnavailable("the engine is gone")
        return self._inner.open(box)

    def warm(self, box, count) -> None: ...


@pytest.mark.parametrize("after", [0, 1])
def test_could_not_judge_is_an_exception(sandbox, after) -> None:
    task = CodeTask(name="t", task="", tests=("assert f(1) == 1",))
    check = CodeCheck(task, _Broken(sandbox, after=after), CheckSettings(), SystemClock())
    with pytest.raises(SandboxUnavailable):
        check.judge(Candidate(answer="def f(x): return x", digest=""))
    check.close()
