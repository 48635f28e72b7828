"""What the asserts alone say about names: which the solution must supply, which are the judge's."""

import ast
import builtins
import sys

BUILTIN = frozenset(dir(builtins))
_ALWAYS = frozenset(("__name__", "__file__", "__doc__"))


def bound(tree: ast.AST) -> set[str]:
    """Names the code itself gives a value, in any scope."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
    return found


def free(tree: ast.AST, helpers: ast.AST) -> set[str]:
    """Names used and bound nowhere."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return used - bound(tree) - bound(helpers) - _ALWAYS


def modules(tree: ast.AST, helpers: ast.AST) -> set[str]:
    """Library modules the asserts use without importing them: the judge's own, whatever happens."""
    dotted = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    return dotted & free(tree, helpers) & set(sys.stdlib_module_names)


def wanted(tree: ast.AST, helpers: ast.AST) -> set[str]:
    """Names the solution must supply.

    Builtins are the judge's, except one that an assert calls when it names nothing else: there the
    builtin's name is the task's. It stays the judge's where another assert uses it beside a name
    of the solution, and where the solution does not define it.
    """
    found = free(tree, helpers) - BUILTIN - modules(tree, helpers)
    alone: set[str] = set()
    beside: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            names = {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}
            if names <= BUILTIN:
                alone |= _called(node.test)
            else:
                beside |= names
    return found | (alone - beside)


def _called(test: ast.expr) -> set[str]:
    call = test.left if isinstance(test, ast.Compare) else test
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    return {call.func.id} if named else set()  # type: ignore[attr-defined]
