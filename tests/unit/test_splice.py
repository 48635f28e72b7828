# ruff: noqa: E501 (sources read best on one line)
"""Only the functions that change: what small models send when asked for a file."""

import ast

import pytest

from agent_loop.edits import edits_from_reply
from agent_loop.errors import ReplyError

OLD = '''"""A module."""

import re

LIMIT = 3


def first(x):
    return x


@decorated
def second(x):
    # why
    return x + LIMIT


class Box:
    size = 1

    def __init__(self):
        self.x = 1

    @property
    def name(self):
        return "box"

    def grow(self, by):
        """Grow."""
        return self.size + by


class Other:
    def __init__(self):
        self.y = 2

    def shrink(self):
        return 0


def last():
    return re
'''


def edit(body, path="pkg/m.py", old=OLD, lead=True):
    reply = (f"{path}\n" if lead else "") + f"```python\n{body}```\n"
    files = {"pkg/m.py": old.encode(), "pkg/n.py": b"def n():\n    pass\n"}
    return edits_from_reply(reply, files, format="auto", finish="stop", protected=lambda _: False)


def result(body, **more):
    changes = edit(body, **more)
    assert list(changes.files) == ["pkg/m.py"]
    return changes.files["pkg/m.py"].decode()


def test_one_function():
    assert result("def first(x):\n    return x * 2\n") == OLD.replace(
        "    return x\n", "    return x * 2\n", 1
    )


def test_without_a_path_where_one_file_defines_it():
    assert "return x * 2" in result("def first(x):\n    return x * 2\n", lead=False)


def test_decorators_and_what_stands_around_stay():
    body = "@decorated\n@again\ndef second(x):\n    return x\n"
    assert result(body) == OLD.replace(
        "@decorated\ndef second(x):\n    # why\n    return x + LIMIT\n", body
    )


def test_two_functions_a_constant_an_import_and_a_new_helper():
    text = result(
        "import re\nimport math\n\nLIMIT = 5\n\n\ndef helper():\n    return 1\n\n\n"
        "def first(x):\n    return helper()\n\n\ndef last():\n    return math\n"
    )
    assert (
        "import re\nimport math\n\nLIMIT = 5\n\n\ndef helper():\n    return 1\n\n\ndef first"
        in text
    )
    assert text.endswith("def last():\n    return math\n")
    assert "def second" in text
    ast.parse(text)


def test_a_method_inside_its_class():
    text = result("class Box:\n    def grow(self, by):\n        return self.size * by\n")
    assert text == OLD.replace(
        '        """Grow."""\n        return self.size + by\n', "        return self.size * by\n"
    )


@pytest.mark.parametrize("indent", ["", "    "])
def test_a_method_alone(indent):
    body = f"{indent}def grow(self, by):\n{indent}    return self.size * by\n"
    text = result(body)
    assert text == OLD.replace(
        '        """Grow."""\n        return self.size + by\n', "        return self.size * by\n"
    )


def test_a_new_helper_behind_the_last_function():
    text = result("def last():\n    return helper()\n\n\ndef helper():\n    return 1\n")
    assert text.endswith("def last():\n    return helper()\n\n\ndef helper():\n    return 1\n")


def test_a_demo_is_left_out():
    changes = edit("def first(x):\n    return x * 2\n\n\nprint(first(2))\nassert first(2) == 4\n")
    assert "print" not in changes.files["pkg/m.py"].decode()
    assert any("left out 2 statements of a demo" in note for note in changes.notes)
    assert any("put first into pkg/m.py, kept the rest" in note for note in changes.notes)


def test_line_ends_stay():
    old = OLD.replace("\n", "\r\n")
    text = result("def first(x):\n    return x * 2\n", old=old)
    assert text == old.replace("    return x\r\n", "    return x * 2\r\n", 1)


UNCLEAR = {
    "a method that two classes have": "def __init__(self):\n    self.z = 1\n",
    "a loop at top level": "def first(x):\n    return x\n\n\nfor n in range(3):\n    first(n)\n",
    "a class with other attributes": "class Box:\n    size = 2\n\n    def grow(self, by):\n        return 1\n",
    "nothing that the file has": "def unknown():\n    return 1\n",
}


@pytest.mark.parametrize("body", UNCLEAR.values(), ids=UNCLEAR.keys())
def test_unclear_snippets_are_refused(body):
    with pytest.raises(ReplyError, match="only a part"):
        edit(body)


def test_an_elided_snippet_is_refused():
    with pytest.raises(ReplyError, match="left out"):
        edit(
            "class Box:\n    # ... existing code ...\n\n    def grow(self, by):\n        return 1\n"
        )


def test_a_whole_file_is_still_a_whole_file():
    assert result(OLD.replace("LIMIT = 3", "LIMIT = 4")) == OLD.replace("LIMIT = 3", "LIMIT = 4")
