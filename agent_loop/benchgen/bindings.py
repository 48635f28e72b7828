"""What gives the names of a failing statement their meaning: lines before it, and the set-up."""

import ast
from collections.abc import Iterator

_MOST = 4
"""Statements shown before a failing one."""
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_SET_UPS = ("setUpClass", "setup_class", "setUp", "setup_method")
"""In the order in which they run."""


def bindings(tree: ast.Module, function: ast.AST, node: ast.stmt) -> list[ast.stmt]:
    """Statements that ran before `node` and bind names it uses, the last ones of each name.

    Args:
        tree: the test's file.
        function: where `node` stands; fixtures of the file that it asks for count too, and, in a
            method, what its class sets up on `self`.
        node: the statement that failed.
    """
    before = [one for one in _statements(function) if (one.end_lineno or 0) < node.lineno]
    given = [*_fixtures(tree, function), *_set_up(tree, function)]
    ran = [*given, *sorted(before, key=lambda one: one.lineno)]
    needed = names_in(node)
    found: list[ast.stmt] = []
    for one in reversed(ran):
        bound = _bound_by(one)
        if bound & needed and len(found) < _MOST:
            found.append(one)
            needed = (needed - bound) | names_in(one, ast.Load)
    return list(reversed(found))


def names_in(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """Names, and `self.name` for what an object of the test holds."""
    return {
        name
        for one in ast.walk(node)
        if (name := _name_of(one)) and isinstance(getattr(one, "ctx", None), context)
    }


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        holder = node.value.id
        return f"self.{node.attr}" if holder in ("self", "cls") else ""
    return ""


def _bound_by(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    return names_in(node, ast.Store)


def _fixtures(tree: ast.Module, function: ast.AST) -> list[ast.stmt]:
    """Of the file, those that the function has as arguments."""
    asked = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    return [
        one
        for one in functions
        if one.name in asked and any(_is_fixture(mark) for mark in one.decorator_list)
    ]


def _is_fixture(mark: ast.expr) -> bool:
    return "fixture" in ast.unparse(mark.func if isinstance(mark, ast.Call) else mark)


def _set_up(tree: ast.Module, function: ast.AST) -> list[ast.stmt]:
    """Of the class that the function is a method of."""
    holders = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    holder = next((one for one in holders if function in one.body), None)
    methods = holder.body if holder is not None else []
    return [
        line
        for name in _SET_UPS
        for one in methods
        if isinstance(one, ast.FunctionDef) and one.name == name and one is not function
        for line in one.body
    ]


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Of a function and its blocks; what inner functions and classes hold is not its own."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.stmt):
            yield one
        if not isinstance(one, _DEFINITIONS):
            yield from _statements(one)
