# ruff: noqa: E501 (sources read best on one line)
"""What a worker is shown of a project."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.context import Cache, Question, bodies_of, show
from agent_loop.context.sources import Cache as Words
from agent_loop.context.symbols import SymbolReader

CORE = b'''"""Slugs."""
import re

SEP = "-"


def fold_accents(text: str) -> str:
    def inner():
        return 1
    return text


class Slugifier:
    def __init__(self, sep=SEP):
        self.sep = sep

    @property
    def name(self):
        return "slug"

    async def slugify(self, text, *, limit=None):
        return fold_accents(text)


def unrelated_thing(x):
    return x
'''
FILES = {
    "slugs/core.py": CORE,
    "slugs/__init__.py": b"from .core import Slugifier\n",
    "slugs/cli.py": b"from slugs.core import Slugifier\n\n\ndef main():\n    return Slugifier()\n",
    "slugs/colours.py": b"def paint(red, green):\n    return red\n",
    "tests/test_core.py": b"from slugs.core import Slugifier\n\n\ndef test_accents():\n    assert Slugifier().slugify('\xc3\xa9') == 'e'\n",
    "tests/test_colours.py": b"from slugs.colours import paint\n\n\ndef test_paint():\n    assert paint(1, 2) == 1\n",
    "README.md": b"# Slugs\n",
    "logo.png": b"\x89PNG\0",
    "node_modules/x/index.js": b"function x() {}\n",
    "package-lock.json": b"{}",
}
QUESTION = Question(
    task="Fold accents before collapsing dashes.",
    failing=["tests/test_core.py::test_accents"],
    evidence='tests/test_core.py:5: AssertionError\n  File "/work/slugs/core.py", line 8, in fold_accents\n',
)


def test_definitions_with_lines_and_nesting():
    found = SymbolReader().read("a.py", CORE).definitions
    assert [(one.line, one.depth, one.signature) for one in found] == [
        (4, 0, 'SEP = "-"'),
        (7, 0, "def fold_accents(text: str) -> str"),
        (8, 1, "def inner()"),
        (13, 0, "class Slugifier"),
        (14, 1, "def __init__(self, sep=SEP)"),
        (18, 1, "def name(self)"),
        (21, 1, "async def slugify(self, text, *, limit=None)"),
        (25, 0, "def unrelated_thing(x)"),
    ]


def test_definitions_of_javascript():
    source = b"""export function slug(text) { return text }
class A extends B { run(x) { return x } static make() {} }
export const fold = (text) => text
const LIMIT = 3
async function* walk() {}
"""
    found = SymbolReader().read("a.mjs", source).definitions
    assert [(one.line, one.depth, one.name) for one in found] == [
        (1, 0, "slug"), (2, 0, "A"), (2, 1, "make"), (2, 1, "run"), (3, 0, "fold"), (4, 0, "LIMIT"), (5, 0, "walk"),
    ]  # fmt: skip


def test_definitions_are_not_found_in_strings_and_survive_broken_code():
    assert SymbolReader().read("a.py", b'x = """\ndef no(): pass\n"""\n').definitions[0].name == "x"
    broken = SymbolReader().read("a.py", b"def yes(:\n    pass\n\n\ndef also(): pass\n")
    assert "also" in {one.name for one in broken.definitions}
    assert SymbolReader().read("a.py", bytes(range(256))) is not None


def test_what_the_traceback_and_the_failing_test_name_comes_first():
    shown = show(FILES, QUESTION, budget=24_000, read_only={"tests/test_core.py"})
    assert set(shown.mapped[:2]) == {"slugs/core.py", "tests/test_core.py"}
    assert shown.mapped.index("slugs/core.py") < shown.mapped.index("slugs/colours.py")
    assert "tests/test_core.py (read only)\n" in shown.text
    assert "     7 def fold_accents(text: str) -> str\n" in shown.text
    assert "```python\n" + CORE.decode() in shown.text


def test_words_of_the_task_alone_find_the_file():
    shown = show(FILES, Question(task="The function that folds accents is wrong"), budget=24_000)
    assert shown.mapped[0] == "slugs/core.py"
    shown = show(FILES, Question(task="paint() mixes up red and green"), budget=24_000)
    assert shown.mapped[0] == "slugs/colours.py"


def test_relevance_flows_to_what_a_named_file_uses():
    files = {f"pkg/m{n}.py": b"def plain(): pass\n" for n in range(40)}
    files["pkg/deep.py"] = b"def quite_special_helper(): return 1\n"
    files["pkg/top.py"] = (
        b"from pkg.deep import quite_special_helper\n\n\ndef run():\n    return quite_special_helper()\n"
    )
    shown = show(files, Question(task="Mend pkg/top.py"), budget=24_000)
    assert shown.mapped[:2] == ("pkg/top.py", "pkg/deep.py")


def test_what_is_left_out_is_said():
    shown = show(FILES, QUESTION, budget=24_000)
    assert any(line.startswith("1 skipped as binary: logo.png") for line in shown.left_out)
    assert any("vendored" in line for line in shown.left_out)
    assert any("lock" in line for line in shown.left_out)
    for line in shown.left_out:
        assert f"- {line}\n" in shown.text
    assert "node_modules/x" not in shown.text.split("## Not shown")[0]


def test_a_long_file_is_shown_in_part():
    long = b"".join(b"def f%d():\n    return %d\n\n\n" % (n, n) for n in range(2000))
    files = {**FILES, "slugs/long.py": long}
    question = Question(
        task="f1234 is wrong", evidence='File "/w/slugs/long.py", line 6000, in f1500\n'
    )
    shown = show(files, question, budget=6_000)
    part = next(body for body in shown.bodies if body.path == "slugs/long.py")
    assert part.lines.startswith("4937-4938, 5988-6012 of")
    assert "return 1234\n" in shown.text
    assert "return 1500\n" not in shown.text or "def f1499" in shown.text
    assert "only lines" in shown.text


def test_the_same_question_gives_the_same_text():
    one = show(FILES, QUESTION, budget=9_000)
    two = show(dict(reversed(FILES.items())), QUESTION, budget=9_000, cache=Cache())
    assert one == two


def test_a_fence_in_a_file_does_not_close_the_block():
    files = {"README.md": b"```python\nx\n```\n````\n"}
    shown = show(files, Question(task="x"), budget=2_000)
    assert "README.md\n`````\n```python" in shown.text


def test_the_budget_can_be_in_tokens():
    shown = show(FILES, QUESTION, budget=300, measure=lambda text: len(text.split()))
    assert shown.measured <= 300


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a.py", "b/c.js", "d.txt", "e/f.py", "tests/test_x.py"]),
        st.binary(max_size=80) | st.sampled_from([CORE, b"x = 1\n" * 500]),
    ),
    st.integers(0, 5000),
    st.text(max_size=60),
)
def test_any_project_and_any_budget(files, budget, task):
    shown = show(files, Question(task=task, evidence=task, failing=[task]), budget=budget)
    assert len(shown.text) <= budget
    assert shown.measured == len(shown.text)


def test_later_laps_show_what_changed():
    text = bodies_of(FILES, ["slugs/cli.py", "gone.py", "slugs/core.py"], budget_chars=200)
    assert "slugs/cli.py\n```python\n" in text
    assert "gone.py is deleted\n" in text
    assert "slugs/core.py is not shown again: it is too long\n" in text


def test_ten_thousand_files_take_seconds():
    files = {
        f"pkg{n % 100}/m{n}.py": b"".join(
            b"def f%d_%d(x):\n    return x + f%d_1(%d)\n\n\n" % (n, k, n * 7 % 10_000, k)
            for k in range(5)
        )
        for n in range(10_000)
    }
    started = time.process_time()
    shown = show(files, Question(task="f303_4 is wrong"), budget=24_000)
    assert time.process_time() - started < 60
    assert shown.mapped[0] == "pkg3/m303.py"
    assert "9,".replace(",", "") in "".join(shown.left_out)


@pytest.mark.parametrize(
    "text", ["a" * 500_000, "a.py:1 " * 50_000, 'File "' * 80_000, "../" * 150_000, "x." * 250_000]
)
def test_hostile_test_output_takes_seconds_at_most(text):
    started = time.process_time()
    show(FILES, Question(task=text, evidence=text, failing=[text]), budget=2_000)
    assert time.process_time() - started < 20


def test_unchanged_contents_are_read_once():
    cache = Words()
    show(FILES, QUESTION, budget=5_000, cache=cache)
    before = len(cache.symbols)
    show(
        {**FILES, "slugs/core.py": CORE + b"\n\ndef more(): pass\n"},
        QUESTION,
        budget=5_000,
        cache=cache,
    )
    assert len(cache.symbols) == before + 1
