"""Functions of a file and its import-time code, each as a text that can be compared.

A function's shape holds its own nodes only: nested definitions are one place-holder each, so
that a change inside them marks the innermost function, and docstrings are left out.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Definition = ast.FunctionDef | ast.AsyncFunctionDef
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Key = tuple[str, int]
"""Qualified name, and which of the definitions of that name (property setters, `if` branches)."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPOUND = (ast.If, ast.Try, ast.TryStar, ast.With, ast.For, ast.While, ast.Match)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function, method or import-time lambda."""

    key: Key
    node: FunctionNode
    body: str
    signature: str
    decorators: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of code that runs when the module is imported."""

    scope: str
    shape: str
    node: ast.AST
    decorator: bool = False
    """It is called with what it decorates, so a bare name is more than data."""


def without_docstring(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    if body and is_docstring(body[0]):
        return list(body[1:])
    return list(body)


def is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def shape(node: object, *, lambdas: bool = False) -> str:
    """Like `ast.dump`, with nested definitions (and lambdas, if told) as place-holders."""
    if isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
        return f"<{type(node).__name__} {node.name}>"
    if lambdas and isinstance(node, ast.Lambda):
        return "<Lambda>"
    if isinstance(node, ast.Constant):
        return f"Constant({type(node.value).__name__} {node.value!r})"
    if isinstance(node, ast.AST):
        fields = (
            f"{name}={shape(value, lambdas=lambdas)}" for name, value in ast.iter_fields(node)
        )
        return f"{type(node).__name__}({', '.join(fields)})"
    if isinstance(node, list):
        return "[" + ", ".join(shape(part, lambdas=lambdas) for part in node) + "]"
    return repr(node)


def _function(node: FunctionNode, key: Key) -> Function:
    if isinstance(node, ast.Lambda):
        return Function(
            key=key, node=node, body=shape(node.body), signature=shape(node.args), decorators=""
        )
    body = without_docstring(node.body) or [ast.Pass()]
    return Function(
        key=key,
        node=node,
        body=type(node).__name__ + shape(body),
        signature=shape(node.args) + shape(node.returns),
        decorators=shape(node.decorator_list),
    )


def functions(tree: ast.Module) -> tuple[Function, ...]:
    """Every function of the file, outer before inner.

    A lambda outside of any function counts as one, since there is no function around it that
    could be marked in its place.
    """
    seen: Counter[str] = Counter()
    found: list[Function] = []

    def take(node: FunctionNode, name: str) -> None:
        found.append(_function(node, (name, seen[name])))
        seen[name] += 1

    def walk(node: ast.AST, scope: tuple[str, ...], *, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _DEFINITIONS):
                take(child, ".".join((*scope, child.name)))
                walk(child, (*scope, child.name, "<locals>"), inside=True)
            elif isinstance(child, ast.ClassDef):
                walk(child, (*scope, child.name), inside=inside)
            elif isinstance(child, ast.Lambda) and not inside:
                take(child, ".".join((*scope, "<lambda>")))
            else:
                walk(child, scope, inside=inside)

    walk(tree, (), inside=False)
    return tuple(found)


def import_time(tree: ast.Module) -> tuple[Item, ...]:
    """Everything that runs at import, in order; a definition gives its header, not its body."""
    return tuple(_items(without_docstring(tree.body), ""))


def _item(scope: str, node: ast.AST, *, decorator: bool = False) -> Item:
    return Item(scope=scope, shape=shape(node, lambdas=True), node=node, decorator=decorator)


def _header(node: Definition) -> list[ast.expr]:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    parts = [*arguments.defaults]
    parts += [one for one in arguments.kw_defaults if one is not None]
    parts += [one.annotation for one in every if one.annotation is not None]
    return [*parts, *([node.returns] if node.returns is not None else [])]


def _items(body: Sequence[ast.stmt], scope: str) -> Iterator[Item]:
    for node in body:
        inner = scope
        if isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
            inner = f"{scope}.{node.name}"
            yield from (_item(inner, part, decorator=True) for part in node.decorator_list)
        if isinstance(node, _DEFINITIONS):
            yield from (_item(f"{inner}()", part) for part in _header(node))
        elif isinstance(node, ast.ClassDef):
            for part in (*node.bases, *node.keywords):
                yield _item(inner, part)
            yield from _items(without_docstring(node.body), inner)
        else:
            yield _item(scope, node)
            if isinstance(node, _COMPOUND):
                yield from _items(list(_definitions(node)), scope)


def _definitions(node: ast.AST) -> Iterator[ast.stmt]:
    """Definitions directly under the branches of a compound statement."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*_DEFINITIONS, ast.ClassDef)):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _definitions(child)
