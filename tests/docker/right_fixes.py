"""Small bugs, each with its right fix and a test of some kind: none may be refused.

One entry: module text, what the fix replaces, by what, and the test (in a file of its own).
"""

MANY = 125
"""More than the twins that one run holds (120)."""
HEAD = "import pytest\nimport unittest\nfrom case_{name} import *\n\n\n"
KIT = """
def same(got, want):
    assert got == want


class Cases:
    def test_high(self):
        assert self.turned("ab") == "AB"
        assert self.turned("c") == "C"
"""
HEAP_CASES = """
class Made:
    def made(self):
        heap = self.kind()
        heap.push(1)
        heap.push(2)
        return heap.items


class HeapCases(Made):
    def test_both(self):
        self.assertEqual(self.made(), [1, 2])

    def test_quiet(self):
        self.made()[1]
"""


def unit(body):
    return f"class TestIt(unittest.TestCase):\n    def test_it(self):\n        {body}\n"


def many(body, tests=MANY):
    return "\n\n".join(f"def test_{n}():\n    {body.format(n=n + 2)}\n" for n in range(tests))


FIXES = {
    "function_equal": (
        "def double(x):\n    return x + x + 1\n",
        ("x + x + 1", "x + x"),
        "def test_it():\n    assert double(2) == 4\n    assert double(0) == 0\n",
    ),
    "function_raises": (
        "def take(x):\n    return x\n",
        ("    return x", "    if x is None:\n        raise TypeError('none')\n    return x"),
        "def test_it():\n    with pytest.raises(TypeError, match='none'):\n        take(None)\n",
    ),
    "function_approx": (
        "def third(x):\n    return x // 3\n",
        ("//", "/"),
        "def test_it():\n    assert third(1) == pytest.approx(0.3333, abs=1e-3)\n",
    ),
    "approx_list": (
        "def halves(x):\n    return [v // 2 for v in x]\n",
        ("//", "/"),
        "def test_it():\n    assert halves([1, 2]) == pytest.approx([0.5, 1.0])\n",
    ),
    "function_unittest": (
        "def join(a, b):\n    return b + a\n",
        ("b + a", "a + b"),
        unit("self.assertEqual(join('x', 'y'), 'xy')"),
    ),
    "unittest_raises": (
        "def pop(items):\n    return items[-1] if items else None\n",
        ("items[-1] if items else None", "items[-1]"),
        unit("self.assertRaises(IndexError, pop, [])\n        self.assertEqual(pop([1]), 1)"),
    ),
    "unittest_truth": (
        "def even(x):\n    return x % 2\n",
        ("x % 2", "x % 2 == 0"),
        unit("self.assertTrue(even(2))\n        self.assertFalse(even(3))"),
    ),
    "unittest_in": (
        "def letters(x):\n    return [x]\n",
        ("[x]", "list(x)"),
        unit("self.assertIn('b', letters('abc'))\n        self.assertIsNotNone(letters('a'))"),
    ),
    "sub_test_method": (
        "def square(x):\n    return x * 2\n",
        ("x * 2", "x * x"),
        unit(
            "for x, y in [(1, 1), (2, 4), (3, 9)]:\n            with self.subTest(x=x):\n"
            "                self.assertEqual(square(x), y)"
        ),
    ),
    "sub_tests_fixture": (
        "def cube(x):\n    return x * 3\n",
        ("x * 3", "x**3"),
        "def test_it(subtests):\n    for x in (1, 2, 3):\n        with subtests.test(x=x):\n"
        "            assert cube(x) == x * x * x\n",
    ),
    "parametrised": (
        "def sign(x):\n    return 1 if x > 0 else -1\n",
        ("else -1", "else -1 if x < 0 else 0"),
        "@pytest.mark.parametrize(('x', 'want'), [(3, 1), (-3, -1), (0, 0)])\n"
        "def test_it(x, want):\n    assert sign(x) == want\n",
    ),
    "parametrised_raises": (
        "def root(x):\n    return abs(x) ** 0.5\n",
        ("    return abs(x)", "    if x < 0:\n        raise ValueError(x)\n    return x"),
        "@pytest.mark.parametrize(('x', 'want'), [(4, 2), (-1, ValueError), (9, 3)])\n"
        "def test_it(x, want):\n    if isinstance(want, int):\n        assert root(x) == want\n"
        "    else:\n        with pytest.raises(want):\n            root(x)\n",
    ),
    "fixture": (
        "class Box:\n    def __init__(self):\n        self.items = []\n\n"
        "    def add(self, x):\n        self.items = [x]\n",
        ("self.items = [x]", "self.items.append(x)"),
        "@pytest.fixture\ndef box():\n    made = Box()\n    made.add(1)\n    return made\n\n\n"
        "def test_it(box):\n    box.add(2)\n    assert box.items == [1, 2]\n",
    ),
    "fixture_calls_it": (
        "def make():\n    return {'a': 0}\n",
        ("0", "1"),
        "@pytest.fixture\ndef made():\n    return make()\n\n\n"
        "def test_it(made):\n    assert made == {'a': 1}\n",
    ),
    "doctest": (
        'def greet(name):\n    """Say hello.\n\n    >>> greet("Ann")\n    \'Hello Ann\'\n    """\n'
        "    return 'Hello' + name\n",
        ("'Hello' + name", "'Hello ' + name"),
        "",
    ),
    "doctest_exception": (
        'def need(x):\n    """Give it back.\n\n    >>> need(0)\n    Traceback (most recent call '
        'last):\n    ValueError: nothing\n    >>> need(2)\n    2\n    """\n    return x\n',
        ("    return x", "    if not x:\n        raise ValueError('nothing')\n    return x"),
        "",
    ),
    "method": (
        "class Count:\n    def __init__(self):\n        self.n = 0\n\n"
        "    def up(self):\n        self.n += 2\n        return self\n",
        ("+= 2", "+= 1"),
        "def test_it():\n    assert Count().up().up().n == 2\n",
    ),
    "property": (
        "class Area:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n\n"
        "    @property\n    def size(self):\n        return self.a + self.b\n",
        ("self.a + self.b", "self.a * self.b"),
        "def test_it():\n    assert Area(2, 5).size == 10\n",
    ),
    "setter": (
        "class Temp:\n    _v = 0\n\n    @property\n    def v(self):\n        return self._v\n\n"
        "    @v.setter\n    def v(self, x):\n        self._v = x + 1\n",
        ("x + 1", "x"),
        "def test_it():\n    t = Temp()\n    t.v = 3\n    assert t.v == 3\n",
    ),
    "class_method": (
        "class P:\n    def __init__(self, x):\n        self.x = x\n\n    @classmethod\n"
        "    def of(cls, text):\n        return cls(text)\n",
        ("cls(text)", "cls(int(text))"),
        "def test_it():\n    assert P.of('3').x == 3\n",
    ),
    "static_method": (
        "class S:\n    @staticmethod\n    def inc(x):\n        return x\n",
        ("return x", "return x + 1"),
        "def test_it():\n    assert S.inc(1) == 2\n",
    ),
    "decorator_argument": (
        "def times(n):\n    def wrap(f):\n        def call(x):\n            return f(x) * n\n"
        "        return call\n    return wrap\n\n\n@times(2)\ndef tripled(x):\n    return x\n",
        ("@times(2)", "@times(3)"),
        "def test_it():\n    assert tripled(4) == 12\n",
    ),
    "default_argument": (
        "def pad(x, width=2):\n    return x.rjust(width)\n",
        ("width=2", "width=4"),
        "def test_it():\n    assert pad('a') == '   a'\n",
    ),
    "module_table": (
        "NAMES = {1: 'one', 2: 'tow'}\n\n\ndef name(x):\n    return NAMES[x]\n",
        ("tow", "two"),
        "def test_it():\n    assert name(2) == 'two'\n",
    ),
    "module_regex": (
        "import re\n\nWORD = re.compile('[a-z]')\n\n\ndef words(x):\n    return WORD.findall(x)\n",
        ("[a-z]'", "[a-z]+'"),
        "def test_it():\n    assert words('ab c') == ['ab', 'c']\n",
    ),
    "table_of_lambdas": (
        "OPS = {'+': lambda a, b: a + b, '-': lambda a, b: b - a}\n\n\n"
        "def run(op, a, b):\n    return OPS[op](a, b)\n",
        ("b - a", "a - b"),
        "def test_it():\n    assert run('-', 5, 3) == 2\n",
    ),
    "deleted_override": (
        "class Base:\n    def who(self):\n        return 'base'\n\n\n"
        "class Child(Base):\n    x = 1\n\n    def who(self):\n        return 'child'\n",
        ("\n    def who(self):\n        return 'child'\n", ""),
        "def test_it():\n    assert Child().who() == 'base'\n",
    ),
    "class_attribute": (
        "class Config:\n    limit = 10\n",
        ("10", "100"),
        "def test_it():\n    assert Config.limit == 100\n    assert Config().limit > 50\n",
    ),
    "base_class": (
        "class A:\n    kind = 'a'\n\n\nclass B:\n    kind = 'b'\n\n\nclass C(A):\n    pass\n",
        ("class C(A)", "class C(B)"),
        "def test_it():\n    assert C.kind == 'b'\n",
    ),
    "generator": (
        "def count(n):\n    for i in range(n):\n        yield i\n",
        ("yield i", "yield i + 1"),
        "def test_it():\n    assert list(count(3)) == [1, 2, 3]\n",
    ),
    "async_function": (
        "import asyncio\n\n\nasync def later(x):\n    await asyncio.sleep(0)\n    return x\n",
        ("return x", "return x * 2"),
        "import asyncio\n\n\ndef test_it():\n    assert asyncio.run(later(4)) == 8\n",
    ),
    "async_generator": (
        "async def ticks(n):\n    for i in range(n):\n        yield i * 2\n",
        ("i * 2", "i"),
        "import asyncio\n\n\nasync def take():\n    return [x async for x in ticks(3)]\n\n\n"
        "def test_it():\n    assert asyncio.run(take()) == [0, 1, 2]\n",
    ),
    "context_manager": (
        "from contextlib import contextmanager\n\n\n@contextmanager\ndef opened(log):\n"
        "    log.append('in')\n    yield\n",
        ("    yield\n", "    yield\n    log.append('out')\n"),
        "def test_it():\n    log = []\n    with opened(log):\n        pass\n"
        "    assert log == ['in', 'out']\n",
    ),
    "nested_function": (
        "def adder(n):\n    def add(x):\n        return x - n\n    return add\n",
        ("x - n", "x + n"),
        "def test_it():\n    assert adder(2)(3) == 5\n",
    ),
    "lambda_in_function": (
        "def by_length(words):\n    return sorted(words, key=lambda w: w)\n",
        ("lambda w: w", "lambda w: (len(w), w)"),
        "def test_it():\n    assert by_length(['aaa', 'b']) == ['b', 'aaa']\n",
    ),
    "comparison_method": (
        "class V:\n    def __init__(self, x):\n        self.x = x\n\n    def __eq__(self, o):\n"
        "        return self is o\n",
        ("self is o", "isinstance(o, V) and self.x == o.x"),
        "def test_it():\n    assert V(1) == V(1)\n    assert V(1) != V(2)\n",
    ),
    "new_function": (
        "def shout(x):\n    return x\n",
        (
            "def shout(x):\n    return x\n",
            "def _loud(x):\n    return x.upper() + '!'\n\n\ndef shout(x):\n    return _loud(x)\n",
        ),
        "def test_it():\n    assert shout('a') == 'A!'\n",
    ),
    "dataclass_field": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n    x: int = 1\n",
        ("x: int = 1", "x: int = 0"),
        "def test_it():\n    assert Point() == Point(0)\n    assert Point().x == 0\n",
    ),
    "helper_with_the_check": (
        "def clean(x):\n    return x\n",
        ("return x", "return x.strip()"),
        "def check(given, want):\n    assert clean(given) == want\n\n\n"
        "def test_it():\n    check(' a ', 'a')\n    check('b', 'b')\n",
    ),
    "inherited_tests_of_a_mixin": (
        "def low(x):\n    return x\n",
        ("return x", "return x.lower()"),
        "class Cases:\n    def test_it(self):\n        assert low(self.given) == 'abc'\n\n\n"
        "class TestUpper(Cases):\n    given = 'ABC'\n\n\nclass TestMixed(Cases):\n"
        "    given = 'aBc'\n",
    ),
    "inherited_tests_of_another_file": (
        "def high(x):\n    return x\n",
        ("return x", "return x.upper()"),
        "from tests.kit import Cases\n\n\n"
        "class TestHigh(Cases):\n    turned = staticmethod(high)\n\n\n"
        "class TestHighToo(Cases):\n    turned = staticmethod(high)\n",
    ),
    "inherited_tests_of_a_package": (
        "class Heap:\n    def __init__(self):\n        self.items = []\n\n"
        "    def push(self, x):\n        self.items = [x]\n",
        ("self.items = [x]", "self.items.append(x)"),
        "import tests\n\n\n"
        "class HeapTest(tests.HeapCases, unittest.TestCase):\n    kind = Heap\n\n"
        "    def test_own(self):\n        self.assertEqual(self.made(), [1, 2])\n",
    ),
    "helper_in_another_file": (
        "def flat(x):\n    return x\n",
        ("return x", "return [v for row in x for v in row]"),
        "from tests.kit import same\n\n\ndef test_it():\n    same(flat([[1], [2]]), [1, 2])\n",
    ),
    "test_without_a_check": (
        "def work(x):\n    return 1 / x\n",
        ("return 1 / x", "return 1 / x if x else 0"),
        "def test_it():\n    work(0)\n",
    ),
    "try_and_fail": (
        "def strict(x):\n    return x\n",
        ("return x", "raise KeyError(x)"),
        "def test_it():\n    try:\n        strict(1)\n    except KeyError:\n        pass\n"
        "    else:\n        pytest.fail('nothing raised')\n",
    ),
    "branch_that_never_runs": (
        "def plain(x):\n    return x + 'x'\n",
        ("x + 'x'", "x"),
        "import sys\n\n\ndef test_it():\n    if sys.version_info < (3, 0):\n"
        "        assert plain('b') == 'never'\n    assert plain('a') == 'a'\n",
    ),
    "conjunction_and_message": (
        "def pair(x):\n    return (x, x)\n",
        ("(x, x)", "(x, x + 1)"),
        "def test_it():\n    assert pair(1)[0] == 1 and pair(1)[1] == 2, 'a pair'\n",
    ),
    "command_line_tool": (
        "import sys\n\n\ndef main():\n    print(len(sys.argv))\n\n\n"
        "if __name__ == '__main__':\n    main()\n",
        ("len(sys.argv)", "len(sys.argv) - 1"),
        "import subprocess\nimport sys\n\n\ndef test_it():\n    done = subprocess.run(\n"
        "        [sys.executable, '-m', 'case_command_line_tool', 'a', 'b'],\n"
        "        capture_output=True,\n    )\n"
        "    assert done.stdout == b'2\\n'\n",
    ),
    "thread": (
        "import threading\n\n\ndef collect(n):\n    found = []\n\n    def work(i):\n"
        "        found.append(i + 1)\n\n    for i in range(n):\n"
        "        one = threading.Thread(target=work, args=(i,))\n        one.start()\n"
        "        one.join()\n    return found\n",
        ("i + 1", "i"),
        "def test_it():\n    assert collect(3) == [0, 1, 2]\n",
    ),
    "import_time_decorator": (
        "SEEN = []\n\n\ndef register(f):\n    SEEN.append(f)\n    return f\n\n\n"
        "@register\ndef one():\n    return 1\n",
        ("SEEN.append(f)", "SEEN.append(f.__name__)"),
        "def test_it():\n    assert SEEN == ['one']\n",
    ),
    "more_tests_without_a_check_than_twins_of_one_run": (
        "def quiet(x):\n    return 1 / (x - x)\n",
        ("(x - x)", "x"),
        many("quiet({n})"),
    ),
    "more_checks_than_twins_of_one_run_and_most_never_run": (
        "def same(x):\n    return x + 1\n",
        ("x + 1", "x"),
        many(
            "for x in ():\n" + "        assert x == {n}\n" * 5 + "    assert same({n}) == {n}",
            tests=25,
        ),
    ),
    "more_doctests_than_twins_of_one_run": (
        "def one():\n    return 2\n\n\n"
        + "\n\n".join(
            f'def one_{n}():\n    """Do.\n\n    >>> one()\n    1\n    """\n' for n in range(MANY)
        ),
        ("return 2", "return 1"),
        "",
    ),
    "carriage_returns": (
        "def line(x):\r\n    return x\r\n",
        ("return x", "return x + '.'"),
        "def test_it():\n    assert line('a') == 'a.'\n",
    ),
    "other_encoding": (
        "# coding: latin-1\ndef accent(x):\n    return x + '\u00e8'\n",
        ("\u00e8", "\u00e9"),
        "def test_it():\n    assert accent('a') == 'a\u00e9'\n",
    ),
}


def encoded(text):
    return text.encode("latin-1" if text.startswith("# coding: latin-1") else "utf-8")


def project():
    """All of it as one project, by path."""
    files = {
        "pyproject.toml": b'[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n',
        "tests/__init__.py": HEAP_CASES.encode(),
        "tests/kit.py": KIT.encode(),
    }
    for name, (module, (old, _), test) in FIXES.items():
        assert module.count(old) >= 1, name
        files[f"case_{name}.py"] = encoded(module)
        if test:
            files[f"tests/test_{name}.py"] = (HEAD.format(name=name) + test).encode()
    return files


def fix(name):
    """The files of one right fix."""
    module, (old, new), _ = FIXES[name]
    return {f"case_{name}.py": encoded(module.replace(old, new, 1))}
