"""What the asserts alone say, before any reply: names, licence, what needs one process, looks."""

import pytest

from agent_loop.checks.code import cannot_judge_apart, looks
from agent_loop.checks.code.licence import licence
from agent_loop.checks.code.reading import Reading
from agent_loop.errors import TaskFileError
from agent_loop.tasks import CodeTask


def wanted(tests: str, helpers: str = "") -> set[str]:
    return set(Reading.of(tests, helpers).wanted)


def granted(tests: str) -> frozenset[str]:
    return licence(Reading.of(tests))


def task(*tests: str, **more) -> CodeTask:
    return CodeTask(name="t", task="", tests=tests, **more)


def reasons(*tests: str, helpers: str = "") -> list[str]:
    return [finding.reason for finding in cannot_judge_apart(task(*tests, helpers=helpers))]


def signals(*tests: str) -> list[str]:
    hidden = ("assert f(9) == 9",)
    return [look.signal for look in looks(task(*tests, hidden_tests=hidden))]


@pytest.mark.parametrize(
    ("tests", "names"),
    [
        ("assert f(1) == len([1])", {"f"}),
        ("for x in [1]: assert f(x) == x", {"f"}),
        ("import math\nassert f(1) == math.pi", {"f"}),
        ("assert f(1) == math.pi", {"f"}),
        ("assert f(sys.maxsize)", {"f"}),
        ("assert sum([1, 2]) == 3", {"sum"}),
        ("assert sum([1]) == f(1)", {"f"}),
        ("assert f(1) == 1\nassert len([]) == 0", {"f", "len"}),
        ("assert len(f(1)) == 1\nassert len([]) == 0", {"f"}),
        ("try: f()\nexcept MyError as e: assert e.code", {"f", "MyError"}),
        ("match f():\n case {'a': x, **rest}: assert x and rest", {"f"}),
        ("assert [g for g in f()] == (lambda h: h)(1)", {"f"}),
    ],
)
def test_names_that_the_solution_must_supply(tests, names) -> None:
    assert wanted(tests) == names


def test_helpers_of_the_task_are_the_judges() -> None:
    assert wanted("assert close(f(1), 2)", "def close(a, b): return a == b") == {"f"}


@pytest.mark.parametrize(
    ("tests", "name"),
    [
        ("assert abs(f(1) - 4.5) < 1e-6", "f"),
        ("assert f(1).startswith('abc')", "f"),
        ("assert 5 in f(1)", "f"),
        ("assert f(1) == [1]", "f"),
        ("assert Find_Max([1]) - 1 == 0", "Find_Max"),
        ("assert Split('a b') == ['a', 'b']", "Split"),
        ("x = Extract([1])\nassert x == [1]", "Extract"),
        ("assert f(1).count('a') == 2 and len(f(1)) == 3", "f"),
        ("assert f(2) == f(1) + f(1)", "f"),
        ("assert VERSION.startswith('1')", "name:VERSION"),
    ],
)
def test_a_plain_value_is_meant_so_no_instance_is_licensed(tests, name) -> None:
    assert name not in granted(tests)


@pytest.mark.parametrize(
    ("tests", "name"),
    [
        ("s = Stack()\ns.push(1)\nassert 1 in s", "Stack"),
        ("assert V(1).x == 1", "V"),
        ("assert 3 in Bag([3])", "Bag"),
        ("s = Bag()\ns.add(1)\nassert s.count(1) == 1", "Bag"),
        ("with opened() as f:\n assert f.name == 'x'", "__enter__"),
        ("assert isinstance(make(), Shape)", "make"),
        ("assert Color.RED in Color", "name:Color"),
        ("x = make()\nx.append(1)\nassert 1 in x", "make"),
        ("f.on(lambda e: out.append(e.name))", "<callback>"),
        ("assert (V(1) + V(2)).x == 3", "add"),
    ],
)
def test_an_instance_is_meant(tests, name) -> None:
    assert name in granted(tests)


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        ("class A(B): pass\nassert A().x", "subclasses B"),
        ("class A: pass\nassert f(A()) == 1", "instances of class A"),
        ("async def t(): assert await f() == 1", "event loop"),
        ("assert f.__wrapped__(1) == 1", "__wrapped__"),
        ("assert eval('f(1)') == 1 and f(1)", "eval()"),
        ("m = Money(5)\nassert m == 5 and m.n", "compared with a plain value"),
        ("assert Money(5) != 5 and Money(5).n == 5", "compared with a plain value"),
        ("assert f() is f()", "`is` between"),
        ("r = R()\nr.d['a'] = 1\nassert r.n() == 1", "changes r.d"),
        ("r = R()\nr.items.append(1)\nassert r.n() == 1", "changes r.items"),
        ("x = f(1)\nx.append(2)\nassert f(1) == [1]", "changes x, a copy"),
        ("d = [1]\nw = W(d)\nd.append(2)\nassert w.n() == 2", "changes d after"),
        ("log = []\nt = T(log)\nt.go()\nassert log == [1]", "may fill log"),
        ("out = []\nwith cm(out):\n    pass\nassert out == [1]", "may fill out"),
        ("import random\nrandom.seed(1)\nassert f() == 3", "random.seed"),
        ("import time\ntime.time = lambda: 1\nassert f() == 1", "patches time.time"),
        ("import inspect\nassert inspect.signature(f)", "inspect"),
        ("import threading\nassert f(threading.Lock())", "threading"),
        ("import sys\nsys.stdout = f()\nassert f()", "sys.stdout"),
        ("import os\nos.environ['a'] = 'b'\nassert f() == 'b'", "os.environ"),
        ("from contextlib import redirect_stdout as r\nassert f()", "redirect_stdout"),
        ("from dataclasses import asdict\nassert asdict(P(1)) == {'x': 1}", "dataclasses.asdict"),
        ("assert open('x').read() == f()", "open()"),
        ("assert 1 + 1 == 2", "name nothing"),
    ],
)
def test_what_cannot_be_judged_apart_is_named(tests, reason) -> None:
    assert any(reason in found for found in reasons(tests))


def test_the_line_is_named() -> None:
    found = cannot_judge_apart(task("assert f(1)", "x = 1\nassert f() is f()"))
    assert [finding.line for finding in found] == [3]


@pytest.mark.parametrize(
    "tests",
    [
        "assert f([3, 1]) == [1, 3]",
        "l = [3, 1]\nassert f(l) is None and l == [1, 3]",
        "l = []\nf(l)\nassert l == [1]",
        "import math, sys, os.path, time\nassert f(sys.maxsize) == os.path.sep or time.time()",
        "from collections.abc import Iterable\nassert isinstance(f(), Iterable)",
        "from typing import List\nassert f(1) == 1",
        "r = f()\nr.sort()\nassert r == [1]\nassert f() == [1]",
        "s = S()\nassert s.me() is s",
        "out = []\nf(out.append)\nassert out == [1]",
        "assert f(1) is None and f(2) is True",
        "print(f(1))\nassert f(1) == 1",
    ],
)
def test_what_can_be_judged_apart_is_left_alone(tests) -> None:
    assert reasons(tests) == []


def test_a_class_of_the_tasks_helpers_needs_one_process() -> None:
    helpers = "class Node:\n    def __init__(self, v): self.v = v"
    assert reasons("assert depth(Node(1)) == 1", helpers=helpers)


@pytest.mark.parametrize(
    ("tests", "signal"),
    [
        ("assert f(6) == f(3) + f(3)", "both sides ask the solution"),
        ("def check(c):\n assert c(1) == c(2)\ncheck(f)", "both sides ask the solution"),
        ("l = [1]\nassert f(l) == sorted(l)", "expected side reads an argument"),
        ("a = f(6)\nb = f(3)\nassert a == b + b", "both sides ask the solution"),
        ("l = [1]\nr = f(l)\nassert r == sorted(l)", "expected side reads an argument"),
        ("l = [1]\nassert f(l) and len(f(l)) == len(l)", "expected side reads an argument"),
        ("l = [1]\nassert all(x in f(l) for x in l)", "expected side reads an argument"),
        ("l = [1]\nw = sorted(l)\nr = f(l)\nassert r == w", "x"),
        ("n = 5\nassert f(n) == n * n", "x"),
        ("assert True and f", "x"),
        ("assert f(1)\nassert True", "constant assert"),
        ("assert f(1)\nassert 1 == 1", "constant assert"),
    ],
)
def test_weak_asserts_are_a_look(tests, signal) -> None:
    assert signals(tests)[:1] == ([] if signal == "x" else [signal])


def test_strong_asserts_and_hidden_tests_are_none() -> None:
    assert signals("assert f(1) == 1", "try:\n f(-1)\n assert False\nexcept ValueError: pass") == []
    assert [look.signal for look in looks(task("assert f(1) == 1"))] == ["no hidden tests"]


def test_a_look_at_a_hidden_assert_does_not_quote_it() -> None:
    found = looks(task("assert f(1) == 1", hidden_tests=("assert f(77) == f(77)",)))
    assert found
    assert not any("77" in look.detail for look in found)


def test_tests_that_do_not_parse_are_refused_with_the_line() -> None:
    with pytest.raises(TaskFileError, match=r"'tests' line 2 cannot be parsed"):
        cannot_judge_apart(task("assert f(1) == 1", "assert f(2) ="))


@pytest.mark.parametrize("tests", [("f(1)",), ("assert True", "f(2)"), ("print(f(1))",)])
def test_tests_that_assert_nothing_are_refused(tests) -> None:
    with pytest.raises(TaskFileError, match="'tests' asserts nothing"):
        cannot_judge_apart(task(*tests))
    with pytest.raises(TaskFileError, match="'hidden_tests' asserts nothing"):
        cannot_judge_apart(task("assert f(1) == 1", hidden_tests=tests))
