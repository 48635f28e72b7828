# ruff: noqa: E501 - code as a model would write it
"""Each rule of the code gate, with a control that shows what passes without it."""

import pytest

from agent_loop.checks.code import JudgeRoom
from agent_loop.checks.code.part import parts_of
from agent_loop.checks.code.programs import solution_box
from agent_loop.checks.code.relay import JudgeLost, Times
from agent_loop.ports import Limits
from agent_loop.ports.run import SystemClock
from agent_loop.sandbox import LocalSandbox
from agent_loop.tasks import CodeTask

CLOCK = SystemClock()
LIMITS = Limits()


@pytest.fixture(scope="module")
def judged():
    box = LocalSandbox(allowed=True, notify=lambda _text: None)
    room = JudgeRoom(box, LIMITS, CLOCK)

    def run(tests, code, *, helpers="", times=(5.0, 10.0), **changes):
        task = CodeTask(name="t", task="", tests=tuple(tests), helpers=helpers)
        job = parts_of(task)[0].job | {"solution": code, "total_s": times[1], "memory_mib": 4000}
        with box.open(solution_box(LIMITS)) as session:
            return room.check(job | changes, session, Times(call_s=times[0], total_s=times[1]))

    yield run
    room.close()
    box.close()


LIAR = """
class Liar:
    def __sub__(self, o): return 0.0
    def __abs__(self): return 0.0
    def __contains__(self, x): return True
    def startswith(self, x): return True
    def __getattr__(self, n): raise AttributeError(n)
def f(*a): return Liar()
"""
FUNCTION = """
def f(*a):
    def g(): pass
    g.startswith = lambda p: True
    return g
"""
EVERYTHING = [
    name + end
    for name in ("f", "startswith", "sub", "abs", "name:f", "next", "getitem", "")
    for end in ("", "()")
]


@pytest.mark.parametrize(
    ("tests", "code"),
    [
        (["assert abs(f(2) - 1.41421356) < 1e-6"], LIAR),
        (["assert f(2).startswith('qz')"], LIAR),
        (["assert f(2).startswith('qz')"], FUNCTION),
        (["assert 97 in f(100)"], LIAR),
    ],
)
def test_without_the_licence_an_instance_would_see_what_is_expected(judged, tests, code) -> None:
    assert judged(tests, code)["kind"] == "refused"
    assert judged(tests, code, licence=EVERYTHING)["kind"] == ""


def test_without_the_tasks_own_helpers_the_solution_would_compare(judged) -> None:
    code = "def f(x): return 0\ndef close(a, b): return True"
    helpers, tests = "def close(a, b): return abs(a - b) < 1e-9", ["assert close(f(2), 4)"]
    assert judged(tests, code, helpers=helpers)["kind"] == "assert"
    assert judged(tests, code, wanted=["f", "close"])["kind"] == ""


def test_without_the_judges_builtins_the_solution_would_count(judged) -> None:
    code, tests = "def f(x): return ''\ndef len(x): return 7", ["assert len(f(38)) == 7"]
    assert judged(tests, code)["kind"] == "assert"
    assert judged(tests, code, wanted=["f", "len"])["kind"] == ""


def test_without_the_judges_modules_the_solution_would_compare(judged) -> None:
    code = "class math:\n  isclose = staticmethod(lambda *a: True)\ndef f(x): return 0.0"
    tests = ["assert math.isclose(f(2), 1.41421356)"]
    assert judged(tests, code)["kind"] == "assert"
    granted = ["name:math", "isclose"]
    assert judged(tests, code, wanted=["f", "math"], modules=[], licence=granted)["kind"] == ""


def test_an_assert_that_never_ran_fails_the_check(judged) -> None:
    outcome = judged(["for x in f(3):\n    assert x == 7"], "def f(n): return []")
    assert outcome["kind"] == "vacuous"
    assert "never ran" in outcome["reason"]


def test_asserts_in_a_branch_need_not_run(judged) -> None:
    tests = ["if f(1) > 5:\n    assert f(2) == 3\nassert f(1) == 1"]
    assert judged(tests, "def f(x): return x")["kind"] == ""


def test_asserts_in_branches_may_not_all_be_skipped(judged) -> None:
    tests = ["if f(1) > 5:\n    assert f(2) == 3\nelse:\n    pass"]
    assert judged(tests, "def f(x): return x")["kind"] == "vacuous"


def test_stopiteration_cannot_end_a_loop_early(judged) -> None:
    tests = ["for got, want in zip(map(f, [1, 2]), [1, 4]):\n    assert got == want"]
    code = "def f(x):\n  if x > 1: raise StopIteration\n  return x"
    outcome = judged(tests, code)
    assert outcome["kind"] == "raised"
    assert "StopIteration" in outcome["reason"]


def test_a_refusal_cannot_be_eaten_by_the_asserts(judged) -> None:
    tests = ["try:\n    f(1) - 1\nexcept:\n    pass", "assert True or f"]
    assert judged(tests, LIAR)["kind"] == "refused"


def test_a_failed_assert_cannot_be_swallowed(judged) -> None:
    code = "class f:\n  x = 3\n  def __enter__(s): return s\n  def __exit__(s, *a): return True"
    assert judged(["with f() as g:\n    assert g.x == 4"], code)["kind"] == "assert"
    handled = ["try:\n    assert f(1) == 2\nexcept Exception:\n    pass"]
    assert judged(handled, "def f(x): return x")["kind"] == "assert"


def test_tests_that_expect_an_assertion_error_may_have_one(judged) -> None:
    tests = [
        "try:\n    f(-1)\n    assert False\nexcept AssertionError as e:\n    assert str(e) == 'neg'"
    ]
    assert judged(tests, "def f(x):\n  assert x >= 0, 'neg'")["kind"] == ""


def test_an_expected_side_that_the_solution_changed_counts_as_it_was(judged) -> None:
    tests, thief = ["l = [3, 1]", "assert f(l) == sorted(l)"], "def f(l):\n  l.clear()\n  return []"
    outcome = judged(tests, thief)
    assert outcome["kind"] == "assert"
    assert outcome["failed"]["expected"] == "[1, 3]"
    assert judged(tests, "def f(l):\n  l.sort()\n  return l")["kind"] == ""


def test_an_instance_never_equals_a_plain_value(judged) -> None:
    code = "class A:\n  def __eq__(s, o): return True\ndef f(): return A()"
    outcome = judged(["assert f() == 5"], code)
    assert outcome["kind"] == "refused"
    assert "plain int" in outcome["reason"]


def test_what_the_solution_prints_goes_nowhere(judged) -> None:
    code = "import os, sys\ndef f(x):\n  print('x' * 10**6)\n  os.write(1, b'junk')\n  return x"
    assert judged(["assert f(1) == 1"], code)["kind"] == ""


GARBAGE = """
import os
for fd in range(3, 64):
    try: os.write(fd, b"\\x00\\x00\\x00\\x10{'v': 1, 'n': 0}")
    except OSError: pass
def f(x): return x
"""
TWICE = """
import sys, os, json, struct
link = sys.modules['agent_loop.checks.code.inside.link'].Link
serve = link.serve
def twice(self, request):
    serve(self, request)
    serve(self, request)
link.serve = twice
def f(x): return x
"""
CALLS_THE_JUDGE = """
import sys
link = sys.modules['agent_loop.checks.code.inside.link'].Link
def serve(self, request):
    self.call(eval, ("__import__('os').system('id')",))
link.serve = serve
def f(x): return x
"""
STOPS_THE_JUDGE = """
import sys
agent = sys.modules['agent_loop.checks.code.inside.agent']
standard = agent._standard
agent._standard = lambda kind: kind.__name__ == '_Failed' or standard(kind)
class _Failed(BaseException): pass
_Failed.__module__ = 'agent_loop.checks.code.inside.asserts'
def f(x):
    if x < 0: raise _Failed
    return x
"""
HOSTILE = {
    "garbage": (GARBAGE, "refused"),
    "answers_twice": (TWICE, "refused"),
    "asks_the_judge_to_eval": (CALLS_THE_JUDGE, "refused"),
    "huge_int": ("def f(x): return 10 ** 20000", "assert"),
    "huge_list": ("def f(x): return [0] * 10**7", "refused"),
    "huge_text": ("def f(x): return 'x' * (30 << 20)", "refused"),
    "deep": ("def f(x):\n  l = []\n  for _ in range(10**5): l = [l]\n  return l", "refused"),
    "recursive": ("def f(x):\n  l = []\n  l.append(l)\n  return l", "refused"),
    "recursion": ("def f(x): return f(x)", "raised"),
    "exit": ("import os\ndef f(x): os._exit(0)", "refused"),
    "killed": ("import os\ndef f(x): os.kill(os.getpid(), 9)", "refused"),
    "closes_everything": ("import os\ndef f(x): os.closerange(0, 64)", "refused"),
    "keyboard_interrupt": ("def f(x): raise KeyboardInterrupt", "raised"),
    "generator_exit": ("def f(x): raise GeneratorExit", "raised"),
    "no_exception_text": (
        "class E(Exception):\n  def __str__(s): raise SystemExit\ndef f(x): raise E()", "raised"),
    "lies_about_its_class": (
        "class L:\n  @property\n  def __class__(s): raise ValueError\ndef f(x): return L()", "refused"),
    "named_tuple_of_dunders": (
        "class T(tuple):\n  _fields = ('__eq__',)\ndef f(x): return T((1,))", "refused"),
    "deletes_itself": ("import sys\nsys.modules.clear()\ndef f(x): return x", None),
    "decimal": ("from decimal import Decimal\ndef f(x): return Decimal('1e999999999')", "assert"),
    "nan": ("def f(x): return float('nan')", "assert"),
    "fork": ("import os\ndef f(x):\n  os.fork()\n  return x", None),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_solutions_fail_and_the_judge_lives_on(judged, name) -> None:
    code, kind = HOSTILE[name]
    try:
        outcome = judged(["assert f(1) == 2"], code)
    except JudgeLost as lost:  # it may die of a value; then it is replaced
        outcome = {"kind": "refused", "reason": str(lost)}
    assert outcome["kind"]
    assert kind is None or outcome["kind"] == kind, outcome
    assert judged(["assert f(1) == 2"], "def f(x): return x + 1")["kind"] == ""


def test_the_solution_cannot_raise_what_stops_the_judge(judged) -> None:
    tests = [
        "assert f(1) == 1",
        "try:\n    f(-1)\nexcept ValueError:\n    pass\nelse:\n    assert False",
    ]
    assert judged(tests, STOPS_THE_JUDGE)["kind"] == "raised"
    assert judged(tests, "def f(x):\n  if x < 0: raise ValueError\n  return x")["kind"] == ""


def reason(judged, tests, code, **more) -> str:
    """Why it failed; the judge itself may have had to be stopped."""
    try:
        return judged(tests, code, **more)["reason"]
    except JudgeLost as lost:
        return str(lost)


def test_a_call_and_the_whole_check_have_deadlines(judged) -> None:
    slow = "import time\ndef f(x):\n  time.sleep(0.4)\n  return x"
    hang = judged(["assert f(1) == 1"], "def f(x):\n  while True: pass", times=(0.5, 5.0))
    assert "a call did not return within 0.5 s" in hang["reason"]
    many = judged(["for i in range(99):\n    assert f(i) == i"], slow, times=(2.0, 1.0))
    assert "longer than 1 s" in many["reason"]
    endless = "def f(x):\n  while True: yield 1"
    loop = judged(["for x in f(1):\n    assert x == 1"], endless, times=(2.0, 1.0))
    assert "longer than 1 s" in loop["reason"]


def test_a_judge_that_is_kept_busy_is_stopped(judged) -> None:
    power = "f = pow"  # a builtin crosses by name, so this computes on the judge's side
    began = CLOCK.monotonic()
    assert "longer than 1 s" in reason(judged, ["assert f(7, 10**9) == 1"], power, times=(1.0, 1.0))
    assert CLOCK.monotonic() - began < 30
    assert judged(["assert f(1) == 2"], "def f(x): return x + 1")["kind"] == ""


@pytest.mark.parametrize(("most", "opened"), [(1_000, 2), (1 << 28, 1)])
def test_a_judge_that_has_said_much_is_replaced(most, opened):
    """Its container is killed at the cap of its whole life; the control keeps its only one."""

    class Counting(LocalSandbox):
        judges = 0

        def open(self, box):
            self.judges += "judge" in box.program.name
            return super().open(box)

    box = Counting(allowed=True, notify=lambda _text: None)
    room = JudgeRoom(box, LIMITS, CLOCK, most_heard_bytes=most)
    try:
        for _ in range(2):
            task = CodeTask(name="t", task="", tests=("assert f('x' * 3_000) == 3_000",))
            job = parts_of(task)[0].job | {
                "solution": "def f(s): return len(s)",
                "total_s": 10.0,
                "memory_mib": 4000,
            }
            with box.open(solution_box(LIMITS)) as session:
                verdict = room.check(job, session, Times(call_s=5.0, total_s=10.0))
            assert not verdict["kind"], verdict
        assert box.judges == opened
    finally:
        room.close()
        box.close()
