"""Reports say what failing tests say; the leak check refuses what only the diff says."""

from collections.abc import Iterator

import pytest

from agent_loop.benchgen.bugs import Bug
from agent_loop.benchgen.examples import cleaned, examples
from agent_loop.benchgen.leaks import leaks, secrets_of
from agent_loop.benchgen.mutators import bugs_of
from agent_loop.benchgen.rewriting import rewritten
from agent_loop.benchgen.wording import Report, subject, write_report
from agent_loop.models import ScriptedModel

LIBRARY = '''"""Windows over sequences."""
from collections import deque


def _pairs_of(iterator, width):
    held = deque(maxlen=width)
    for number, element in enumerate(iterator):
        held.append(element)
        if number >= width - 1:
            yield tuple(held)


def sliding(sequence, width=2):
    """Runs of `width` elements."""
    if width < 1:
        raise ValueError("width must be at least 1")
    return list(_pairs_of(iter(sequence), width))


def chunked(sequence, size):
    """Pieces of `size` elements."""
    return [sequence[at : at + size] for at in range(0, len(sequence), size)]
'''
TESTS = """import pytest
from windows.core import chunked, sliding


def test_sliding_pairs():
    data = [1, 2, 3]
    assert sliding(data) == [(1, 2), (2, 3)]


def test_sliding_refuses_zero():
    with pytest.raises(ValueError):
        sliding([1], 0)


def test_chunked():
    assert chunked([1, 2, 3], 2) == [[1, 2], [3]]
"""
PATH, TEST_PATH = "windows/core.py", "tests/test_core.py"
FAILURES = {
    f"{TEST_PATH}::test_sliding_pairs": {
        "line": 7,
        "message": "assert [(1, 2)] == [(1, 2), (2, 3)]\n  Right contains one more item: (2, 3)",
    }
}


def read(path: str) -> bytes:
    return {PATH: LIBRARY, TEST_PATH: TESTS}[path].encode()


def bugs(function: str) -> Iterator[Bug]:
    return (one for one in bugs_of(PATH, LIBRARY.encode()) if one.functions[0].endswith(function))


def report_of(failures: dict[str, dict[str, object]] = FAILURES) -> str:
    return write_report(examples(failures, read, ["windows"]), "windows", 0).text


def test_a_report_names_the_public_function_and_shows_what_the_test_shows() -> None:
    told = examples(FAILURES, read, ["windows"])
    report = write_report(told, "windows", 0)
    assert report.title == "`sliding` gives `[(1, 2)]` instead of `[(1, 2), (2, 3)]`"
    assert write_report(told, "windows", 0, plain=True).title == "`sliding` gives a wrong result"
    assert "data = [1, 2, 3]\nassert sliding(data) == [(1, 2), (2, 3)]" in report.body
    assert "Right contains one more item" in report.body
    assert "test_" not in report.title


@pytest.mark.parametrize(
    ("message", "symptom"),
    [
        ("TypeError: 'int' object is not iterable", "raises `TypeError`"),
        ("Failed: DID NOT RAISE <class 'ValueError'>", "does not raise `ValueError`"),
        ("AssertionError: ValueError not raised", "does not raise `ValueError`"),
        ("AssertionError: assert 1 == 2", "gives a wrong result"),
        ("json.decoder.JSONDecodeError: Expecting value", "raises `JSONDecodeError`"),
    ],
)
def test_symptoms_come_from_what_the_test_said(message: str, symptom: str) -> None:
    failures = {name: {**one, "message": message} for name, one in FAILURES.items()}
    assert examples(failures, read, ["windows"])[0].symptom == symptom


def test_the_parameters_of_a_test_are_said() -> None:
    failures = {f"{name}[three-2]": one for name, one in FAILURES.items()}
    assert "This should hold for the case `three-2`:" in report_of(failures)


def test_addresses_are_no_part_of_a_report() -> None:
    text = "assert None == 'x'\n +  where None = <function f at 0x7f00ab12>('y')\n"
    text += " +    where <function f at 0x7f00ab12> = lib.f"
    assert cleaned(text) == "assert None == 'x'\n +  where None = f('y')"


def test_where_a_module_lies_is_no_part_of_a_report() -> None:
    text = "assert 5 == 4\n +  where 5 = sums.ops.grown(3)\n"
    text += " +    where sums.ops = <module 'sums.ops' from '/project/sums/ops.py'>\n"
    text += " +    where <module 'sums.ops' from '/project/sums/ops.py'> = sums.ops"
    assert cleaned(text) == "assert 5 == 4\n +  where 5 = sums.ops.grown(3)"


def test_a_helper_of_many_tests_is_not_the_subject() -> None:
    source = "from lib import memoize, raises\n\n"
    source += "def test_memo():\n    assert raises(TypeError, lambda: memoize(3)({}))\n\n"
    for number in range(9):
        source += f"def test_{number}():\n    assert raises(ValueError, lambda: {number})\n\n"
    failures = {"t.py::test_memo": {"line": 4, "message": "ValueError: x"}}
    told = examples(failures, lambda _: source.encode(), ["lib"])
    assert subject(told) == "memoize"


def report_on(source: str, **failures: tuple[int, str]) -> Report:
    """Of tests in one file, by the line that failed and what it said."""
    found = {
        f"t.py::{name}": {"line": line, "message": message}
        for name, (line, message) in failures.items()
    }
    return write_report(examples(found, lambda _: source.encode(), ["lib"]), "lib", 0)


def test_a_tool_of_tests_is_not_the_subject() -> None:
    source = "from lib import curry, raises\n\ndef test_x():\n"
    source += "    assert raises(TypeError, lambda: curry())\n"
    report = report_on(source, test_x=(4, "IndexError: tuple index out of range"))
    assert report.title == "`curry` raises `IndexError`: tuple index out of range"


def test_only_the_last_meaning_of_a_name_is_shown() -> None:
    source = "from lib import f\n\ndef test_x():\n    g = f(1)\n    g = f(2)\n    g = f(g)\n"
    source += "    g = f(3)\n    assert g == 4\n"
    report = report_on(source, test_x=(8, "assert 1 == 4"))
    assert "```python\ng = f(3)\nassert g == 4\n```" in report.body
    assert report.title == "`f` gives a wrong result: `g == 4` should hold"


def test_a_statement_that_only_passes_a_failure_on_is_not_shown() -> None:
    source = "import pytest\nfrom lib import f\n\ndef test_x():\n    if f(1):\n"
    source += "        pytest.fail('f is off')\n\ndef test_y():\n    assert f(2)\n"
    report = report_on(source, test_x=(6, "Failed: f is off"), test_y=(9, "assert False"))
    assert "pytest.fail" not in report.body
    assert "This should hold:\n\n```python\nassert f(2)\n```\n\nIt does not." in report.body
    assert "1 more check fails similarly." in report.body


def test_a_check_in_a_function_that_the_test_calls_is_shown() -> None:
    source = "from lib import f\n\ndef helper(kind):\n    got = f(kind)\n    assert got == 1\n\n"
    source += "def test_x():\n    helper(int)\n"
    report = report_on(source, test_x=(5, "assert 0 == 1"))
    assert "got = f(kind)\nassert got == 1" in report.body


def test_names_get_their_meaning_from_the_function_and_the_blocks_they_stand_in() -> None:
    source = (
        "from lib import f\n\ndef test_x():\n    r = 0\n    def y(fmt):\n        for n in fmt:\n"
    )
    source += "            r = f(n)\n            assert r == 1\n    y('ab')\n"
    report = report_on(source, test_x=(8, "assert 0 == 1"))
    assert "```python\nr = f(n)\nassert r == 1\n```" in report.body


SET_UP = """import windows
class Shared:
    def setUp(self):
        self.data = [0]
class TestWindows:
    @classmethod
    def setup_class(cls):
        cls.width = 2
    def setUp(self):
        self.other = 1
        self.data = windows.Data([1, 2])
    def test_data(self):
        found = self.data.slide(self.width)
        assert found == self.expected
    def test_plain(self):
        data = 1
        assert data == 2
@pytest.fixture(scope="module")
def three():
    return windows.Data([1, 2, 3])
def four():
    return windows.Data([1, 2, 3, 4])
def test_three(three, four):
    assert three.width == four
"""


@pytest.mark.parametrize(
    ("test", "line", "lines", "title"),
    [
        (
            "test_data",
            14,
            [
                "cls.width = 2",
                "self.data = windows.Data([1, 2])",
                "found = self.data.slide(self.width)",
                "assert found == self.expected",
            ],
            "`Data` ",
        ),
        ("test_plain", 17, ["data = 1", "assert data == 2"], "windows "),
        (
            "test_three",
            24,
            ["def three():", "    return windows.Data([1, 2, 3])", "assert three.width == four"],
            "`Data` ",
        ),
    ],
)
def test_what_a_set_up_gives_is_shown(test: str, line: int, lines: list[str], title: str) -> None:
    name = f"{TEST_PATH}::{test}"
    failures = {name: {"line": line, "message": "assert 1 == 2"}}
    (one,) = examples(failures, lambda _: SET_UP.encode(), ["windows"])
    assert one.statement.split("\n") == lines
    assert write_report([one], "windows", 0).title.startswith(title)


def test_an_exception_that_does_not_come_is_asked_for() -> None:
    source = "import pytest\nfrom lib import f\n\ndef test_x():\n"
    source += "    with pytest.raises(ValueError):\n        f(1)\n"
    report = report_on(source, test_x=(5, "Failed: DID NOT RAISE ValueError"))
    assert report.title == "`f` does not raise `ValueError`"
    assert "This should raise `ValueError`:\n\n```python\nwith pytest.raises" in report.body
    assert report.body.count("It does not.") == 1


@pytest.mark.parametrize(
    ("test", "check", "message", "title"),
    [
        ("test_x[a-as]", "want == f(one)", "assert 'as' == 'a'", "wrong result for `a-as`"),
        ("test_x", "False, f(1)", "AssertionError: 3", "`f` gives a wrong result"),
        ("test_x", "self.assertEqual(f(1), 2)", "AssertionError: 3 != 2", "`3` instead of `2`"),
        ("test_x", "self.assertTrue(f(1))", "AssertionError: x", "`f(1)` should hold"),
        (
            "test_x",
            "self.assertEqual(2, f(1))",
            "AssertionError: 2 != 3",
            "`2 == f(1)` should hold",
        ),
        ("test_x", "1 == f(1)", "assert 1 == 2", "wrong result: `1 == f(1)` should hold"),
        ("test_x", "f(1) == 1", "assert 2 == 1", "`f` gives `2` instead of `1`"),
        ("test_x", "open('x')", "ValueError: x", "lib raises `ValueError`: x"),
    ],
)
def test_titles_say_what_is_known(test: str, check: str, message: str, title: str) -> None:
    uses = "" if "open" in check else "from lib import f"
    claim = check if check.startswith("self.") else f"assert {check}"
    source = f"{uses}\n\ndef test_x():\n    {claim}\n"
    report = report_on(source, **{test: (4, message)})
    assert report.title.endswith(title)


def test_a_long_statement_is_cut_where_one_can_see_it() -> None:
    rows = "".join(f"        {number},\n" for number in range(30))
    source = (
        f"from lib import f\n\ndef test_x():\n    want = [\n{rows}    ]\n    assert f(1) == want\n"
    )
    report = report_on(source, test_x=(36, "assert 1 == [0]"))
    assert "    14,\n# … 16 more lines\nassert f(1) == want\n" in report.body


def test_everything_that_suffers_is_named_and_shown() -> None:
    source = "from lib import f, g\n\ndef test_f():\n    assert f(1) == 1\n    assert f(2) == 2\n\n"
    source += "def test_f_more():\n    assert f(3) == 3\n    assert f(4) == 4\n\n"
    source += "def test_g():\n    assert g(1) == 1\n"
    report = report_on(
        source,
        test_f=(4, "assert 0 == 1"), test_f_more=(8, "assert 0 == 3"), test_g=(12, "ValueError: x"),
    )  # fmt: skip
    assert report.title == "`f` gives `0` instead of `1`"
    assert "`g` suffers as well." in report.body
    assert report.body.index("f(1)") < report.body.index("g(1)") < report.body.index("f(3)")


def planted(bug: Bug) -> Iterator[str]:
    """Sentences that give a bug away."""
    (edit,) = bug.edits
    text = LIBRARY.encode()
    number = text.count(b"\n", 0, edit.start) + 1
    start = text.rfind(b"\n", 0, edit.start) + 1
    end = text.find(b"\n", edit.end)
    right = text[start:end].decode().strip()
    wrong = (text[start : edit.start] + edit.new + text[edit.end : end]).decode().strip()
    yield f"I think the cause is in {PATH}."
    yield "Have a look at core.py, please."
    yield f"The mistake is at line {number}."
    yield f"See L{number} of the module."
    yield f"Probably around line {number + 1}."
    yield f"It now says `{wrong}`."
    yield f"It should say {right}, as before."
    yield f"it used to be\n\n    {'  '.join(right.split())}\n"
    yield "The helper `_pairs_of` has a bug."
    yield "`enumerate(iterator)` looks suspicious, and so does `held.append(element)`."


def test_fifty_planted_leaks_are_all_caught() -> None:
    chosen = [bug for bug in bugs("_pairs_of") if bug.edits[0].new != b"pass"]
    kinds = ("comparison_boundary", "operands_swapped", "off_by_one", "condition_negated",
             "arithmetic_operator")  # fmt: skip
    picked = [next(bug for bug in chosen if bug.kind == kind) for kind in kinds]
    caught = total = 0
    missed = []
    for bug in picked:
        secrets = secrets_of(bug, read, [TESTS, report_of()])
        assert leaks(report_of(), secrets) == []
        for sentence in planted(bug):
            total += 1
            if leaks(f"{report_of()}\n\n{sentence}", secrets):
                caught += 1
            else:
                missed.append((bug.kind, sentence))
    assert (caught, total) == (50, 50), missed


HONEST = (
    "The last pair is missing.",
    "sliding() used to work in the previous release, now one element is lost.",
    "With a width of 2 I get one pair less than the documentation promises.",
    "It fails on line 70 of my own script, where I call sliding(data).",
    "Calling `sliding([1, 2, 3])` returns [(1, 2)] and not [(1, 2), (2, 3)].",
    "The tuple (2, 3) should be the last one; chunked() still works.",
    "Right contains one more item: (2, 3), says pytest.",
    "I read the core documentation and could not find a hint.",
    "There are 9 elements in my list, and the sequence is not empty.",
    "Expected a list of tuples in the order of the iterator.",
)


def test_honest_sentences_pass() -> None:
    bug = next(one for one in bugs("_pairs_of") if one.kind == "comparison_boundary")
    secrets = secrets_of(bug, read, [TESTS, report_of()])
    alarms = [one for one in HONEST if leaks(f"{report_of()}\n\n{one}", secrets)]
    assert alarms == []


# --- reports that a model words ---


def worded(text: str) -> tuple[str, list[str]]:
    """What becomes of a report when a model answers so; and what was said about it."""
    bug = next(one for one in bugs("_pairs_of") if one.kind == "comparison_boundary")
    report = write_report(examples(FAILURES, read, ["windows"]), "windows", 0)
    secrets = secrets_of(bug, read, [TESTS, report.text])
    model = ScriptedModel("scripted:x", [text.replace("{body}", report.body)])
    said: list[str] = []
    return rewritten(report, secrets, model, said.append).text, said


def test_a_model_may_word_a_report() -> None:
    text, said = worded("# Last pair is lost\n\nI lose the last pair since the update.\n\n{body}")
    assert text.startswith("Last pair is lost\n\nI lose the last pair")
    assert said == []


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("A title\n\nThe cause is in core.py.\n\n{body}", "names the file"),
        ("A title\n\nNo example any more.", "examples"),
        ("A title\n\n{body}\n\n```python\nif number > width - 1:\n```", "examples"),
        ("A title\n\nLook at `_pairs_of`.\n\n{body}", "names what only the change shows"),
        ("", "no title"),
    ],
)
def test_a_worded_report_that_leaks_or_loses_facts_is_not_used(reply: str, why: str) -> None:
    text, said = worded(reply)
    assert text == report_of()
    assert why in said[0]
