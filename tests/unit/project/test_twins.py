"""Twins must fail and renamed copies must pass, with the right code: run here on our own text."""

import asyncio
import builtins
import re
import types
import unittest

import pytest

from agent_loop.checks.project.twins.copies import WantedFile, draw, fresh_path
from agent_loop.checks.project.twins.doctests import examples_of, locate, renamed, twins
from agent_loop.checks.project.twins.place import NodeId
from agent_loop.checks.project.twins.rename import draw_names
from agent_loop.checks.project.wanted import make_copies

CODE = """
import warnings
def add(a, b): return a + b
def pair(a): return [a, a]
def table(a): return {'k': a}
def fail(a): raise ValueError('bad ' + str(a))
def warn(): warnings.warn('old', UserWarning)
def text(): return 'line\\nnext'
def none(): return None
"""


def run(text, name):
    """Run one test function (or method) of a text; the exception it raised, if any."""
    module = types.ModuleType("copy_under_test")
    exec(CODE, module.__dict__)
    exec(compile(text, "copy", "exec"), module.__dict__)
    holder, _, method = name.rpartition(".")
    try:
        if holder:
            case = getattr(module, holder)(method)
            result = unittest.TestResult()
            case.run(result)
            return (result.failures + result.errors or [None])[0]
        outcome = getattr(module, method)()
        if asyncio.iscoroutine(outcome):
            asyncio.run(outcome)
    except BaseException as error:
        return error
    return None


FUNCTIONS = {
    "equal": "assert add(1, 2) == 3",
    "equal-left": "assert 3 == add(1, 2)",
    "negative": "assert add(-1, -2) == -3",
    "float": "assert add(1.5, 1) == 2.5",
    "string": "assert text() == 'line\\nnext'",
    "triple": 'assert text() == """line\nnext"""',
    "joined": "assert text() == ('line\\n'\n    'next')",
    "empty-string": "assert add('', '') == ''",
    "bytes": "assert add(b'a', b'b') == b'ab'",
    "name": "expected = 3\n    assert add(1, 2) == expected",
    "both-names": "got = add(1, 2)\n    expected = 3\n    assert got == expected",
    "both-calls": "assert add(1, 2) == add(2, 1)",
    "list": "assert pair(1) == [1, 1]",
    "list-over-lines": "assert pair(1) == [\n        1,\n        1,  # one\n    ]",
    "tuple": "assert (1, add(1, 1)) == (1, 2)",
    "empty-list": "assert add([], []) == []",
    "dict": "assert table(2) == {'k': 2}",
    "bool": "assert (add(1, 1) == 2) == True",
    "none": "assert none() is None",
    "in": "assert 1 in pair(1)",
    "not-in": "assert 2 not in pair(1)",
    "less": "assert add(1, 1) < 3",
    "unequal": "assert add(1, 1) != 3",
    "truth": "assert add(1, 1)",
    "not": "assert not none()",
    "and": "assert add(1, 1) == 2 and add(2, 2) == 4",
    "chain": "assert 1 < add(1, 1) < 3",
    "message": "assert add(1, 1) == 2, 'said'",
    "raises": "with pytest.raises(ValueError):\n        fail(1)",
    "raises-match": "with pytest.raises(ValueError, match='bad 1'):\n        fail(1)",
    "raises-tuple": "with pytest.raises((ValueError,\n        TypeError)):\n        fail(1)",
    "raises-call": "pytest.raises(ValueError, fail, 1)",
    "warns": "with pytest.warns(UserWarning):\n        warn()",
    "approx": "assert add(0.1, 0.2) == pytest.approx(0.3)",
    "approx-list": "assert pair(0.1) == pytest.approx([0.1, 0.1])",
    "approx-name": "want = 0.3\n    assert add(0.1, 0.2) == pytest.approx(want)",
    "try-else": "try:\n        fail(1)\n    except ValueError:\n        pass\n"
    "    else:\n        pytest.fail('no')",
    "try-assert-false": "try:\n        fail(1)\n        assert False\n"
    "    except ValueError:\n        pass",
    "if-fail": "if add(1, 1) != 2:\n        raise AssertionError",
    "loop": "for i in (1, 2):\n        assert add(i, i) == 2 * i",
    "unicode": "assert add('é', 'ü') == 'éü'",
    "mock": "m = mock.Mock()\n    m(3)\n    m.assert_called_once_with(3)",
}
METHODS = {
    "assertEqual": "self.assertEqual(add(1, 2), 3)",
    "assertEqual-left": "self.assertEqual(3, add(1, 2))",
    "assertTrue": "self.assertTrue(add(1, 1))",
    "assertTrue-equal": "self.assertTrue(add(1, 1) == 2)",
    "assertFalse": "self.assertFalse(none())",
    "assertIn": "self.assertIn(1, pair(1))",
    "assertIsNone": "self.assertIsNone(none())",
    "assertRaises": "with self.assertRaises(ValueError):\n            fail(1)",
    "assertRaises-call": "self.assertRaises(ValueError, fail, 1)",
    "assertRaisesRegex": "with self.assertRaisesRegex(ValueError, 'bad'):\n            fail(1)",
    "assertAlmostEqual": "self.assertAlmostEqual(add(0.1, 0.2), 0.3)",
    "assertGreater": "self.assertGreater(add(1, 1), 1)",
    "assertIsInstance": "self.assertIsInstance(add(1, 1), int)",
    "subTest": "for i in (1, 2):\n            with self.subTest(i=i):\n"
    "                self.assertEqual(add(i, i), 2 * i)",
    "fail": "try:\n            fail(1)\n            self.fail('no')\n"
    "        except ValueError:\n            pass",
}
HEAD = "import pytest, unittest\nfrom unittest import mock\n"


def cases():
    for name, body in FUNCTIONS.items():
        yield name, f"{HEAD}def test_it():\n    {body}\n", "t.py::test_it", "test_it"
    for name, body in METHODS.items():
        text = f"{HEAD}class TestIt(unittest.TestCase):\n    def test_it(self):\n        {body}\n"
        yield name, text, "t.py::TestIt::test_it", "TestIt.test_it"
    yield (
        "async",
        f"{HEAD}async def test_it():\n    assert add(1, 2) == 3\n",
        "t.py::test_it",
        "test_it",
    )


CASES = [pytest.param(*one[1:], id=one[0]) for one in cases()]


@pytest.mark.parametrize(("text", "wanted", "name"), CASES)
def test_every_twin_fails_where_the_original_passes(text, wanted, name):
    assert run(text, name) is None
    file = WantedFile("t.py", text.encode(), [wanted])
    made = list(file.twins(NodeId.parse(wanted).parts))
    assert made
    for twin in made:
        assert run(twin.data.decode(), name) is not None, twin.data.decode()
        assert twin.data.count(b"\n") == text.count("\n")
        assert twin.path != "t.py"


@pytest.mark.parametrize(("text", "wanted", "name"), CASES)
def test_the_renamed_copy_passes_and_its_twin_fails(text, wanted, name):
    file = WantedFile("t.py", text.encode(), [wanted])
    copy = file.renamed(draw_names(file.groups, {}))
    other = NodeId.parse(copy.tests[0].run).parts
    assert set(other).isdisjoint(NodeId.parse(wanted).parts)
    assert run(copy.data.decode(), ".".join(other)) is None
    twin = file.renamed_twins()
    assert run(twin.data.decode(), ".".join(NodeId.parse(twin.tests[0].run).parts)) is not None
    placed = file.in_place()
    assert placed.path == "t.py"
    assert run(placed.data.decode(), name) is not None


def test_each_conjunct_and_each_check_has_its_own_twin():
    text = "def test_a():\n    assert f(1) == 2 and f(2) == 3\n    x = f(3)\n    assert x == 4\n"
    file = WantedFile("t.py", text.encode(), ["t.py::test_a"])
    made = list(file.twins(("test_a",)))
    assert len(made) == 3
    assert {min(twin.tests[0].lines) for twin in made} == {2, 4}


def test_an_altered_value_is_read_like_a_right_one():
    """A reader of the caller's frame or of the test's text gets the altered value."""
    text = "def test_a():\n    assert f(1) == [1, 'a']\n"
    twin = next(WantedFile("t.py", text.encode(), ["t.py::test_a"]).twins(("test_a",)))
    line = twin.data.decode().split("\n")[1]
    value = eval(line.partition("==")[2])
    assert isinstance(value, list)
    assert value[-2:] == [1, "a"]


def twin_texts(body):
    text = f"def test_a():\n    {body}\n"
    file = WantedFile("t.py", text.encode(), ["t.py::test_a"])
    return [twin.data.decode().partition("\n    ")[2] for twin in file.twins(("test_a",))]


@pytest.mark.parametrize(
    ("body", "bare"),
    [
        ("with pytest.raises(ValueError):\n        f()", "if True:\n        f()\n"),
        ("with pytest.raises(ValueError) as info:\n        f()", "if True:\n        f()\n"),
        (
            "with self.assertRaises(\n        KeyError\n    ):\n        f()",
            "if (\n\nTrue):\n        f()\n",
        ),
        ("self.assertRaises(ValueError, f)", "(f)()\n"),
        ("self.assertRaises(ValueError, f, 1, a=2)", "(f)(1, a=2)\n"),
        ("pytest.raises(ValueError, lambda: f(), *a)", "(lambda: f())(*a)\n"),
        ("pytest.raises(ValueError, f, **a)", "(f)(**a)\n"),
        ("self.assertRaisesRegex(ValueError, 'x', f, 1)", "(f)(1)\n"),
    ],
)
def test_an_expected_exception_has_a_twin_that_expects_none(body, bare):
    """Code that raises whatever its caller asks for then raises nothing."""
    assert bare in twin_texts(body)


@pytest.mark.parametrize("head", ["with (pytest.raises(ValueError)):", "with a, pytest.raises(E):"])
def test_a_block_that_is_not_written_plainly_keeps_its_head(head):
    made = twin_texts(f"{head}\n        f()")
    assert made
    assert not any("if" in one for one in made)


def test_the_altered_exception_is_a_usual_one_that_no_right_one_is():
    for name in ("ValueError", "KeyError", "OSError", "(KeyError, TypeError)"):
        (twin,) = [one for one in twin_texts(f"pytest.raises({name}, f)") if "raises" in one]
        found = getattr(builtins, twin.split("(")[1].split(",")[0])
        assert found.__name__ not in ("BufferError", "ReferenceError", "StopAsyncIteration")
        right = eval(name)
        for one in right if isinstance(right, tuple) else (right,):
            assert not issubclass(found, one)
            assert not issubclass(one, found)


def test_an_altered_number_may_be_a_neighbour_but_not_where_neighbours_are_equal():
    def sizes(body):
        return {
            int(re.search(r"\d{2,}", one).group()) for _ in range(40) for one in twin_texts(body)
        }

    assert {one > 200 for one in sizes("assert f() == 100")} == {True, False}
    assert 100 not in sizes("assert f() == 100")
    for near in ("assert 100 == approx(f(), abs=5)", "self.assertAlmostEqual(f(), 100, delta=9)"):
        assert all(one > 200 for one in sizes(near))


def test_checks_of_a_helper_are_altered_in_place_too():
    text = "def check(a):\n    assert f(a) == 1\n\n\ndef test_a():\n    check(2)\n"
    placed = WantedFile("t.py", text.encode(), ["t.py::test_a"]).in_place()
    assert placed.tests[0].lines == {2}
    assert placed.data.decode() != text


def test_overlapping_checks_are_not_altered_at_once():
    text = (
        "def check():\n    with pytest.raises(ValueError):\n        f()\n\n\n"
        "def test_a():\n    check()\n"
    )
    (twin,) = WantedFile("t.py", text.encode(), ["t.py::test_a"]).twins(("test_a",))
    compile(twin.data, "t.py", "exec")
    assert twin.data.decode() != text


def test_parameter_sets_share_their_twins():
    text = "@pytest.mark.parametrize('a', [1, 2])\ndef test_a(a):\n    assert f(a) == a\n"
    file = WantedFile("t.py", text.encode(), ["t.py::test_a[1]", "t.py::test_a[2]"])
    (twin,) = file.twins(("test_a",))
    assert [one.run for one in twin.tests] == [f"{twin.path}::test_a[1]", f"{twin.path}::test_a[2]"]


def test_an_inherited_test_is_found_in_its_base():
    text = (
        "class Base:\n    def test_a(self):\n        assert f() == 1\n"
        "class TestB(Base):\n    pass\n"
    )
    file = WantedFile("t.py", text.encode(), ["t.py::TestB::test_a"])
    assert len(list(file.twins(("TestB", "test_a")))) == 1


def test_checks_in_a_helper_of_the_file_are_altered_together():
    text = (
        "def look(x, y):\n    assert f(x) == y\n    assert x\n"
        "def unrelated():\n    assert 1 == 1\n"
        "def test_a():\n    look(1, 2)\n"
    )
    file = WantedFile("t.py", text.encode(), ["t.py::test_a"])
    (twin,) = file.twins(("test_a",))
    assert b"(y, '" in twin.data
    assert b"assert not (x)" in twin.data
    assert b"assert 1 == 1" in twin.data


KIT = """
def look(x, y):
    assert f(x) == y
def other(x, y):
    assert g(x) == y
def b():
    assert 1 == 2
"""
KIT_TESTS = """
from tests.kit import *
def test_a():
    look(1, 2)
def test_b():
    other(1, 2)
"""


def made_of(files, ids):
    data = {path: text.encode() for path, text in files.items()}
    return make_copies(ids, {}, data.get, list(files))


def test_checks_in_helpers_of_another_file_are_found_by_name():
    files = {"tests/kit.py": KIT, "tests/test_a.py": KIT_TESTS}
    ids = ["tests/test_a.py::test_a", "tests/test_a.py::test_b"]
    copies = made_of(files, ids)
    altered = copies.helpers["tests/kit.py"].decode()
    assert "assert f(x) == (y, '" in altered
    assert "assert g(x) == (y, '" in altered
    assert "assert 1 == 2" in altered
    assert copies.by_helpers == ids
    assert not copies.renamed_helpers


CASES = """
class Cases:
    def test_in(self):
        assert self.turned(1) == 2
    def test_quiet(self):
        self.turned(1)
"""
PART = "from tests.cases import Cases as Base\n"


@pytest.mark.parametrize(
    ("files", "test"),
    [
        (
            {"tests/cases.py": CASES, "tests/test_a.py": PART + "class TestA(Base): pass\n"},
            "TestA",
        ),
        (
            {
                "tests/cases.py": CASES,
                "tests/part.py": PART,
                "tests/test_a.py": "import tests.part\nclass TestA(tests.part.Base): pass\n",
            },
            "TestA",
        ),
        (
            {"tests/__init__.py": CASES, "tests/test_a.py": "from . import Cases as TestB\n"},
            "TestB",
        ),
        (
            {"tests/__init__.py": CASES, "tests/test_a.py": "from tests import Cases\n"},
            "Cases",
        ),
    ],
)
def test_tests_that_stand_in_another_file_are_altered_and_renamed_there(files, test):
    ids = [f"tests/test_a.py::{test}::test_in", f"tests/test_a.py::{test}::test_quiet"]
    copies = made_of(files, ids)
    place = next(path for path, text in files.items() if text == CASES)
    altered = copies.helpers[place].decode()
    assert "== 2\n" not in altered
    assert altered.count("raise BufferError") == 1
    assert (copies.by_helpers, copies.checkless, copies.without) == (ids, ids[1:], [])
    new = [NodeId.parse(one.run).parts for one in copies.renamed[0].tests]
    for was, now in zip(("test_in", "test_quiet"), new, strict=True):
        assert f"def {now[1]}(self)" in copies.renamed_helpers[place].decode()
        assert f"def {was}(" not in copies.renamed_helpers[place].decode()
    assert not re.search(rf"\b{test}\b", copies.renamed[0].data.decode())
    assert new[0][0] in copies.renamed[0].data.decode()


def test_a_test_that_nothing_of_the_tests_defines_has_no_twin():
    files = {"tests/test_a.py": "from library.testing import Cases\nclass TestA(Cases): pass\n"}
    ids = ["tests/test_a.py::TestA::test_in"]
    copies = made_of({**files, "tests/other.py": "x = 1\n"}, ids)
    assert copies.without == ids


def test_a_test_without_a_check_gets_one_that_fails_at_its_end():
    text = "def test_a():\n    if 1:\n        f(1)\n"
    file = WantedFile("t.py", text.encode(), ["t.py::test_a"])
    assert list(file.twins(("test_a",))) == []
    copy = file.checkless(("test_a",))
    assert copy.data.decode().endswith("f(1)\n    raise BufferError\n")


def copies_of(checks):
    """Of as many tests as there are numbers, with so many checks each."""
    text = "".join(
        f"def test_{at}():\n" + ("    assert f(1) == 2\n" * count or "    f(1)\n")
        for at, count in enumerate(checks)
    )
    ids = [f"t.py::test_{at}" for at in range(len(checks))]
    return ids, make_copies(ids, {}, {"t.py": text.encode()}.get, ())


@pytest.mark.parametrize(
    "checks", [[0] * 200, [1] * 200, [3] * 60, [150, 0, 1], [0, 1] * 70, [2] * 60, [1], [650, 1]]
)
def test_every_check_has_its_twin_in_one_run_or_in_more(checks):
    """One of 240 left out would be right by any answer, in half of all judgements."""
    ids, copies = copies_of(checks)
    every = sum(count or 1 for count in checks)
    tried = [copies.twins, *copies.more]
    assert len(copies.twins) == min(120, every)
    assert sum(map(len, tried)) == min(600, every)
    assert all(0 < len(one) <= 120 for one in tried)
    assert len({copy.path for one in (*tried, copies.spare) for copy in one}) == every
    have = {test.original for copy in copies.twins for test in copy.tests}
    assert len(have) == min(120, len(ids))
    assert len(copies.renamed_twins) == any(checks)
    assert set(copies.renamed_twins) <= set(copies.fresh_twins)


def test_which_twins_are_run_cannot_be_known_before():
    _, copies = copies_of([1] * 200)
    every = [*copies.twins, *copies.more[0]]
    assert {one.path for one in draw(every)[0][0]} != {one.path for one in draw(every)[0][0]}


@pytest.mark.parametrize(
    ("path", "start", "end"),
    [
        ("tests/test_a.py", "tests/test_", ".py"),
        ("a_test.py", "", "_test.py"),
        ("b.rst", "", ".rst"),
    ],
)
def test_a_fresh_file_is_of_the_same_kind(path, start, end):
    fresh = fresh_path(path)
    assert fresh.startswith(start)
    assert fresh.endswith(end)
    assert fresh != path


DOC = '''"""Module.

>>> f(1)
2
"""
class A:
    def m(self):
        """Do.

        >>> A().m()
        'a'
        >>> A().m() + 1
        Traceback (most recent call last):
        TypeError: no
        """
        return "a"
'''


def test_a_doctest_has_one_twin_per_expected_output():
    made = twins("pkg/mod.py", DOC.encode(), ["pkg/mod.py::pkg.mod.A.m", "pkg/mod.py::pkg.mod"])
    assert len(made) == 3
    lines = DOC.split("\n")
    for twin in made:
        stem = twin.path.removeprefix("pkg/").removesuffix(".py")
        assert twin.tests[0].run.startswith(f"{twin.path}::pkg.{stem}")
        changed = [
            (a, b) for a, b in zip(lines, twin.data.decode().split("\n"), strict=True) if a != b
        ]
        assert len(changed) == 1
        assert changed[0][0].strip() in ("2", "'a'", "TypeError: no")


def test_a_doctest_of_a_text_file_and_of_a_package():
    (twin,) = twins("README.rst", b">>> 1 + 1\n2\n", ["README.rst::README.rst"])
    assert twin.tests[0].run == f"{twin.path}::{twin.path}"
    copy = renamed("pkg/__init__.py", DOC.encode(), ["pkg/__init__.py::pkg.A.m"])
    stem = copy.path.removeprefix("pkg/").removesuffix(".py")
    assert copy.tests[0].run == f"{copy.path}::pkg.{stem}.A.m"


def test_touched_examples_are_seen():
    before = examples_of("pkg/mod.py", DOC.encode(), "pkg.mod.A.m")
    assert before == examples_of("pkg/mod.py", DOC.replace("Do.", "Done.").encode(), "pkg.mod.A.m")
    assert before != examples_of("pkg/mod.py", DOC.replace("'a'", "'b'").encode(), "pkg.mod.A.m")
    assert (
        locate("pkg/mod.py", WantedFile("pkg/mod.py", DOC.encode(), []).source, "pkg.mod.B") is None
    )
