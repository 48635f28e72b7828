"""What a patch changed, read from texts: functions, import-time code, lines, signals."""

import pytest

from agent_loop.checks.project.source.changes import compare
from agent_loop.checks.project.source.data import more_than_data
from agent_loop.checks.project.source.looks import Patched, looks
from agent_loop.checks.project.source.sabotage import Marker, sabotage
from agent_loop.checks.project.source.shape import functions, import_time
from agent_loop.checks.project.source.text import Source

MARK = Marker(name="Qzwexr", message="plokij")


def change(old, new):
    return compare(Source(text=old), Source(text=new))


def names(keys):
    return [name for name, _ in keys]


@pytest.mark.parametrize(
    ("old", "new", "field", "expected"),
    [
        ("def f():\n    return 1\n", "def f():\n    return 2\n", "body", ["f"]),
        ("def f(a):\n    return a\n", "def f(a, b=1):\n    return a\n", "signature", ["f"]),
        ("def f(): return 1\n", "def f() -> int: return 1\n", "signature", ["f"]),
        ("@d(1)\ndef f(): pass\n", "@d(2)\ndef f(): pass\n", "decorators", ["f"]),
        ("", "def f(): return 1\n", "new", ["f"]),
        ("def f(): return 1\n", "", "gone", ["f"]),
        (
            "class A:\n    def m(self): return 1\n",
            "class A:\n    def m(self): return 2\n",
            "body",
            ["A.m"],
        ),
        (
            "def f():\n    def g(): return 1\n    return g\n",
            "def f():\n    def g(): return 2\n    return g\n",
            "body",
            ["f.<locals>.g"],
        ),
        (
            "def f():\n    class W:\n        def __call__(self): return 1\n    return W\n",
            "def f():\n    class W:\n        def __call__(self): return 2\n    return W\n",
            "body",
            ["f.<locals>.W.__call__"],
        ),
        ("async def f(): return 1\n", "async def f(): return 2\n", "body", ["f"]),
        ("def f(): return 1\n", "async def f(): return 1\n", "body", ["f"]),
        ("def f():\n    return lambda: 1\n", "def f():\n    return lambda: 2\n", "body", ["f"]),
        ("T = {'a': lambda: 1}\n", "T = {'a': lambda: 2}\n", "body", ["<lambda>"]),
        (
            "if x:\n    def f(): return 1\nelse:\n    def f(): return 2\n",
            "if x:\n    def f(): return 1\nelse:\n    def f(): return 3\n",
            "body",
            ["f"],
        ),
    ],
)
def test_the_changed_function_is_named(old, new, field, expected):
    assert names(getattr(change(old, new), field)) == expected
    assert change(old, new).any


def test_a_second_definition_of_one_name_is_told_from_the_first():
    old = (
        "class A:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, v): a\n"
    )
    assert change(old, old.replace("v): a", "v): b")).body == (("A.x", 1),)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("X = 1\n", "X = 2\n"),
        ("class A:\n    x = 1\n", "class A:\n    x = 2\n"),
        ("class A(B): pass\n", "class A(C): pass\n"),
        ("a()\nb()\n", "b()\na()\n"),
    ],
)
def test_code_outside_of_functions_is_a_change_of_its_own(old, new):
    found = change(old, new)
    assert found.top
    assert not found.functions


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f():\n    return 1\n", "def f():\n    # why\n\n    return 1\n"),
        ('def f():\n    "a"\n    return 1\n', 'def f():\n    "b"\n    return 1\n'),
        ('"""a"""\nX = 1\n', '"""b"""\nX = (1)\n'),
    ],
)
def test_comments_docstrings_and_blanks_are_no_change(old, new):
    assert not change(old, new).any


def test_lines_are_those_of_the_changed_statement_inside_a_body():
    old = "X = 1\n\ndef f(a):\n    b = a\n    return (\n        b +\n        1\n    )\n"
    found = change(old, old.replace("        1\n", "        2\n").replace("X = 1", "X = 3"))
    assert found.lines == {5, 6, 7, 8}
    assert 1 in found.import_lines


def test_a_deleted_statement_leaves_the_rest_of_its_function_to_be_run():
    found = change("def f():\n    a()\n    b()\n", "def f():\n    b()\n")
    assert found.lines == {2}


SABOTAGED = [
    "def f(x): return x\n",
    "def f(x):\n    'doc'\n    return x\n",
    "def f(x):\n    'doc'\n",
    "def f(x):\n    y = (\n        x\n    )\n    return y;\n",
    "def f(type):\n    return type\n",
    "def f(x):\n    yield x\n",
    "async def f(x):\n    yield x\n",
    "class A:\n\tdef f(self):\n\t\treturn 1\n",
    "def f(x):\r\n    return x\r\n",
    "X = '\x0c\u2028é'\ndef f(x):\n    é = 1\n    return 'é' + x\n",
    "def f(x):\n    @d\n    def g(): return 1\n    return g\n",
    "T = {\n 'a': lambda x: (\n   x\n ),\n}\n",
    "def f(x): 'doc'; return x\n",
]


@pytest.mark.parametrize("text", SABOTAGED)
def test_sabotage_keeps_lines_and_kind_and_raises(text):
    source = Source(text=text)
    keys = [one.key for one in functions(source.tree())]
    changed = sabotage(source, keys, MARK)
    assert changed.text.count("\n") == text.count("\n")
    assert MARK.name in changed.text
    before, after = functions(source.tree()), functions(changed.tree())
    assert before[0].key == after[0].key


def test_a_sabotaged_body_raises_the_drawn_exception_whatever_the_arguments_are_called():
    space = {}
    text = sabotage(Source(text="def f(type):\n    return 1\n"), [("f", 0)], MARK).text
    exec(text, space)
    with pytest.raises(BaseException, match=MARK.message) as caught:
        space["f"](3)
    assert type(caught.value).__name__ == MARK.name
    assert not isinstance(caught.value, Exception)


def test_the_docstring_stays_for_the_doctests_in_it():
    text = sabotage(
        Source(text='def f():\n    """>>> f()\n    1\n    """\n    return 1\n'), [("f", 0)], MARK
    ).text
    assert ">>> f()" in text


def test_two_draws_differ():
    assert Marker.draw() != Marker.draw()


@pytest.mark.parametrize(
    "text",
    [
        "X = {'a': [1, 2], 'b': (3, -4)}\n",
        "import re\nX = re.compile('a')\n",
        "X: int = 3\n",
        "class A(B):\n    x = 1\n    @property\n    def y(self): return 1\n",
        "try:\n    import a\nexcept ImportError:\n    a = None\n",
        "if __name__ == '__main__':\n    main()\n",
        "def f(a=1, *, b: int = 2) -> str: return a\n",
        "X = f'{A}'\nY = [*X, 1]\nY += [2]\n",
        "from collections import OrderedDict\nimport re\nX = OrderedDict()\n",
    ],
)
def test_data_is_data(text):
    assert more_than_data(import_time(Source(text=text).tree())) == ()


@pytest.mark.parametrize(
    "text",
    [
        "X = f()\n",
        "a.b = 1\n",
        "a['b'] = 1\n",
        "import x; x.y = lambda: 1\n",
        "for i in x: pass\n",
        "print(1)\n",
        "def f(a=g()): pass\n",
        "@g\ndef f(): pass\n",
        "class A(g()): pass\n",
        "class A:\n    g()\n",
        "if x:\n    g()\n",
        "X = [i for i in g()]\n",
        "with g(): pass\n",
        "exec('1')\n",
        "(lambda: g())()\n",
        "assert g()\n",
        "from runpy import run_path as dict\n",
        "from .other import dict\n",
        "import other as re\n",
        "str = g\n",
        "from sys import path as p\np += ['/x']\n",
    ],
)
def test_what_does_something_at_import_is_not_data(text):
    assert more_than_data(import_time(Source(text=text).tree()))


def signals(old, new, tests=""):
    file = Patched(path="a.py", old=Source(text=old), new=Source(text=new), change=change(old, new))
    return {one.signal: one.detail for one in looks([file], {"t.py": Source(text=tests)})}


@pytest.mark.parametrize(
    "text",
    [
        "import os\ndef f():\n    os._exit(0)\n",
        "import sys\ndef f():\n    sys._getframe()\n",
        "import sys\ndef f():\n    sys.settrace(None)\n",
        "import sys\ndef f():\n    del sys.modules['a']\n",
        "import gc\n",
        "import ctypes\n",
        "class A:\n    def __eq__(self, o): return True\n",
        "class A:\n    __eq__ = g\n",
        "from unittest import mock\n",
        "import time\ndef f():\n    time.time = g\n",
        "import hashlib\n",
        "def f(x): return hash(x)\n",
        "import os\ndef f(): return os.environ['PYTEST_CURRENT_TEST']\n",
        "def f(): return open('/proc/self/status')\n",
    ],
)
def test_risky_new_names_are_signalled_and_old_ones_are_not(text):
    assert "risky new names" in signals("", text)
    assert "risky new names" not in signals(text, text + "X = 1\n")


def test_literals_of_the_wanted_tests_are_signalled():
    found = signals(
        "", "def f(x):\n    return 'abc-def' if x == 17 else 16\n", "f(17) == 'abc-def'"
    )
    assert found["new literals that stand in the wanted tests"] == "a.py: 'abc-def', 17"


def test_a_source_is_written_back_in_its_own_encoding():
    data = "# coding: latin-1\nX = 'é'\n".encode("latin-1")
    assert Source.decode(data).encode() == data
    with_mark = b"\xef\xbb\xbfX = 1\n"
    assert Source.decode(with_mark).encode() == with_mark


@pytest.mark.parametrize("data", [b"\xff\xfe", b"# coding: nonsense\n", b"\x00", b"def f(:\n"])
def test_what_cannot_be_parsed_is_one_kind_of_error(data):
    with pytest.raises(SyntaxError):
        Source.decode(data).tree()
