"""Every mutator: one site each, formatting untouched, and the result is Python."""

import pytest

from agent_loop.benchgen.bugs import combined
from agent_loop.benchgen.mutators import KINDS, bugs_of

SAMPLES = {
    "comparison_boundary": ("if a < b:\n    pass\n", "if a <= b:\n    pass\n"),
    "comparison_flipped": ("x = a==b\n", "x = a!=b\n"),
    "and_or_swapped": ("x = a  and b\n", "x = a  or b\n"),
    "operand_dropped": ("x = (a or\n     b)\n", "x = (a)\n"),
    "not_removed": ("x = not a\n", "x = a\n"),
    "sign_lost": ("x = -a\n", "x = a\n"),
    "arithmetic_operator": ("x = (a+b)*2\n", "x = (a-b)*2\n"),
    "operands_swapped": ("x = a - b  # kept\n", "x = b - a  # kept\n"),
    "order_of_operations": ("x = a - b * c\n", "x = (a - b) * c\n"),
    "augmented_operator": ("x += 1\n", "x -= 1\n"),
    "condition_negated": ("if a or b:\n    f()\n", "if not (a or b):\n    f()\n"),
    "guard_removed": (
        "def f(a):\n    if a:\n        return 1\n    return 2\n",
        "def f(a):\n    return 2\n",
    ),
    "break_continue": ("while a:\n    break\n", "while a:\n    continue\n"),
    "return_dropped": ("def f():\n    return 1\n", "def f():\n    return\n"),
    "exception_narrowed": (
        "try:\n    f()\nexcept (A, B):\n    g()\n",
        "try:\n    f()\nexcept (A, ):\n    g()\n",
    ),
    "exception_widened": (
        "try:\n    f()\nexcept KeyError as e:\n    g()\n",
        "try:\n    f()\nexcept Exception as e:\n    g()\n",
    ),
    "exception_type": ("raise ValueError('x')\n", "raise TypeError('x')\n"),
    "call_removed": ("def f(x):\n    x.sort()\n    return x\n", "def f(x):\n    return x\n"),
    "update_removed": ("def f(x):\n    x += 1\n", "def f(x):\n    pass\n"),
    "assignment_removed": ("a[1] = 2\nb = 3\n", "b = 3\n"),
    "off_by_one": ("x = y[0]\n", "x = y[1]\n"),
    "constant_changed": ("x = f(True)\n", "x = f(False)\n"),
    "default_changed": ("def f(a=3): pass\n", "def f(a=4): pass\n"),
    "slice_bound": ("x = y[1:]\n", "x = y[2:]\n"),
    "slice_bound_lost": ("x = y[:n]\n", "x = y[:]\n"),
    "wrong_variable": ("def f(a, b):\n    return a\n", "def f(a, b):\n    return b\n"),
    "arguments_swapped": ("f(a,  b)\n", "f(b,  a)\n"),
    "argument_dropped": ("f(a, key=b)\n", "f(a)\n"),
    "sibling_called": ("x = min(a)\n", "x = max(a)\n"),
    "copy_missing": ("x = list(a)\n", "x = a\n"),
    "wrapper_dropped": ("x = a.strip()\n", "x = a\n"),
    "unpacking_swapped": ("a, b = c\n", "b, a = c\n"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_changes_its_site_and_nothing_else(kind: str) -> None:
    right, wrong = SAMPLES[kind]
    text = right.encode()
    made = [
        bug.files(lambda _: text)["m.py"].decode()
        for bug in bugs_of("m.py", text)
        if bug.kind == kind
    ]
    assert wrong in made, made


def test_there_are_at_least_fifteen_kinds_and_a_sample_of_each() -> None:
    assert len(KINDS) >= 15
    assert set(SAMPLES) == set(KINDS)


def test_bytes_around_a_site_stay_whatever_they_are() -> None:
    text = "\ufeff# käse\r\nx = 'ä'; y = (a<b)   # ß\r\nz = (x  if 0 else 1)\r\n".encode()
    for bug in bugs_of("m.py", text):
        (edit,) = bug.edits
        wrong = bug.files(lambda _: text)["m.py"]
        assert wrong.startswith(text[: edit.start])
        assert wrong.endswith(text[edit.end :])
        compile(wrong, "m.py", "exec")


def test_import_time_sites_are_told_from_function_bodies() -> None:
    text = b"N = 3\n\n@deco(4)\ndef f(a=5):\n    return g(6)\n\nclass C:\n    x: int = f(7)\n"
    where = {
        text[bug.edits[0].start : bug.edits[0].end]: bug.where
        for bug in bugs_of("m.py", text)
        if bug.kind in ("constant_changed", "default_changed")
    }
    assert where[b"6"] == "function"
    assert {where[one] for one in (b"3", b"4", b"5", b"7")} == {"import"}


def test_a_combined_bug_holds_all_its_sites_and_refuses_overlaps() -> None:
    text = b"def f(a, b):\n    return a < b\n\ndef g(a):\n    return a + 1\n"
    bugs = bugs_of("m.py", text)
    first = next(bug for bug in bugs if bug.kind == "comparison_boundary")
    second = next(bug for bug in bugs if bug.kind == "arithmetic_operator")
    both = combined([second, first])
    assert both is not None
    assert both.files(lambda _: text)["m.py"] == (
        b"def f(a, b):\n    return a <= b\n\ndef g(a):\n    return a - 1\n"
    )
    assert both.parts == ("arithmetic_operator", "comparison_boundary")
    assert combined([first, first]) is None


def test_annotations_imports_and_docstrings_are_left_alone() -> None:
    text = b'"""One."""\nfrom a import b\n\ndef f(x: "int" = None) -> "Text":\n    """Two."""\n'
    assert bugs_of("m.py", text) == []
