"""Which functions, which import-time code and which lines a patch changed in one file."""

import ast
import difflib
from collections import Counter
from dataclasses import dataclass, field

from agent_loop.checks.project.source.shape import (
    Function,
    Item,
    Key,
    functions,
    import_time,
    without_docstring,
)
from agent_loop.checks.project.source.text import Source

_EMPTY = Source(text="")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """What differs between two versions of one file, by meaning, not by text."""

    body: tuple[Key, ...] = ()
    signature: tuple[Key, ...] = ()
    decorators: tuple[Key, ...] = ()
    new: tuple[Key, ...] = ()
    gone: tuple[Key, ...] = ()
    top: bool = False
    """Import-time code differs: statements, defaults, bases, class attributes."""
    added: tuple[Item, ...] = ()
    """Import-time code that the old file did not have."""
    lines: frozenset[int] = frozenset()
    """Lines of the new file whose execution shows that the change ran."""
    import_lines: frozenset[int] = field(default=frozenset())
    """Changed lines outside of functions."""

    @property
    def functions(self) -> tuple[Key, ...]:
        """Those whose sabotage tells something, in the new file."""
        return (*self.body, *self.new, *self.signature, *self.decorators)

    @property
    def any(self) -> bool:
        """False for comments, docstrings and blank lines: no code was changed."""
        return bool(self.functions or self.gone or self.top)


def compare(old: Source | None, new: Source | None) -> SourceChange:
    """Compare two versions of a file; `None` stands for a file that is not there.

    Raises:
        SyntaxError: the new version cannot be parsed. An old one that cannot counts as empty.
    """
    after = (new or _EMPTY).tree()
    before = _old_tree(old)
    then = {one.key: one for one in functions(before)}
    now = {one.key: one for one in functions(after)}
    kinds = _kinds(then, now)
    before_items, after_items = import_time(before), import_time(after)
    added_lines = changed_lines((old or _EMPTY).text, (new or _EMPTY).text)
    return SourceChange(
        body=kinds["body"],
        signature=kinds["signature"],
        decorators=kinds["decorators"],
        new=kinds["new"],
        gone=tuple(key for key in then if key not in now),
        top=[one.shape for one in before_items] != [one.shape for one in after_items],
        added=_added(before_items, after_items),
        lines=_function_lines(now, kinds, added_lines),
        import_lines=_import_lines(after, added_lines),
    )


def _old_tree(old: Source | None) -> ast.Module:
    try:
        return (old or _EMPTY).tree()
    except SyntaxError:
        return _EMPTY.tree()


def _kinds(then: dict[Key, Function], now: dict[Key, Function]) -> dict[str, tuple[Key, ...]]:
    kinds: dict[str, list[Key]] = {"body": [], "signature": [], "decorators": [], "new": []}
    for key, function in now.items():
        before = then.get(key)
        if before is None:
            kinds["new"].append(key)
        elif before.body != function.body:
            kinds["body"].append(key)
        elif before.signature != function.signature:
            kinds["signature"].append(key)
        elif before.decorators != function.decorators:
            kinds["decorators"].append(key)
    return {kind: tuple(keys) for kind, keys in kinds.items()}


def _added(before: tuple[Item, ...], after: tuple[Item, ...]) -> tuple[Item, ...]:
    left = Counter((one.scope, one.shape) for one in before)
    found: list[Item] = []
    for one in after:
        if left[one.scope, one.shape] > 0:
            left[one.scope, one.shape] -= 1
        else:
            found.append(one)
    return tuple(found)


def changed_lines(old: str, new: str) -> frozenset[int]:
    """1-based lines of `new` that `old` does not have at that place."""
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    return frozenset(
        line + 1
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag in ("replace", "insert")
        for line in range(start, end)
    )


def _function_lines(
    now: dict[Key, Function], kinds: dict[str, tuple[Key, ...]], added: frozenset[int]
) -> frozenset[int]:
    """Lines inside function bodies: the changed statements of a changed body, else all of it."""
    found: set[int] = set()
    for kind, keys in kinds.items():
        for key in keys:
            inside = _body_lines(now[key])
            touched = inside & _statements(now[key].node, added) if kind == "body" else inside
            found |= touched or inside
    return frozenset(found)


def _body_lines(function: Function) -> set[int]:
    node = function.node
    if isinstance(node, ast.Lambda):
        return set(range(node.body.lineno, (node.body.end_lineno or node.body.lineno) + 1))
    body = without_docstring(node.body) or node.body
    return set(range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1))


def _statements(node: ast.AST, added: frozenset[int]) -> set[int]:
    """All lines of the innermost statements that hold an added line.

    A line event names the first line of a statement, or of a part of it, and the changed line
    may be another one of the same statement.
    """
    found: set[int] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.stmt) and child is not node:
            inner = [one.lineno for one in ast.walk(child) if isinstance(one, ast.stmt)]
            nested = min((line for line in inner if line > child.lineno), default=None)
            end = (child.end_lineno or child.lineno) if nested is None else nested - 1
            span = set(range(child.lineno, max(end, child.lineno) + 1))
            if span & added:
                found |= span
    return found | set(added)


def _import_lines(tree: ast.Module, added: frozenset[int]) -> frozenset[int]:
    return frozenset(_statements(tree, added)) if added else frozenset()
