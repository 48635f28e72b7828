"""The house keeps its sizes: small functions, small modules, no drawer for odds and ends."""

import ast
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "agent_loop"
MODULE_CAP = 400
FUNCTION_CAP = 50
FUNCTION_P90 = 30
DRAWERS = {"utils", "helpers", "common", "misc", "manager", "base"}


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def bodies(path):
    """(name, lines of the body without its docstring) of every function in a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:
                yield node.name, body[-1].end_lineno - body[0].lineno + 1


def test_no_module_is_longer_than_the_cap():
    long = {
        str(p.relative_to(ROOT)): n
        for p in modules()
        if (n := p.read_text("utf-8").count("\n")) > MODULE_CAP
    }
    assert not long


def test_no_function_is_longer_than_the_cap():
    long = {
        f"{p.relative_to(ROOT)}:{name}": n
        for p in modules()
        for name, n in bodies(p)
        if n > FUNCTION_CAP
    }
    assert not long


def test_nine_functions_of_ten_are_short():
    lengths = [n for p in modules() for _, n in bodies(p)]
    assert quantiles(lengths, n=10)[-1] <= FUNCTION_P90


def test_no_drawer_modules():
    assert not [p for p in modules() if p.stem in DRAWERS]


def test_the_measure_sees_a_long_function(tmp_path):
    long = tmp_path / "long.py"
    long.write_text("def f():\n" + "    x = 1\n" * (FUNCTION_CAP + 1), encoding="utf-8")
    assert dict(bodies(long)) == {"f": FUNCTION_CAP + 1}
