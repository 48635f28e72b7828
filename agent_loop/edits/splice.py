"""A reply that holds only the functions that change: each takes the place of its namesake.

Small models do this more than anything else when asked for a whole file. It is taken only where
nothing is ambiguous: every statement of the snippet is an import, or a definition whose name the
file has once (a method counts by its class, or alone where only one class has it), or new.
"""

import ast
import itertools
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_loop.edits import pysource
from agent_loop.edits.textfile import TextFile

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Named = _Definition | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True, kw_only=True)
class Spliced:
    """The file with the snippet in it."""

    text: TextFile
    replaced: tuple[str, ...]
    left_out: int
    """Statements of the snippet that are no part of a module: demos, prints, asserts."""


@dataclass(slots=True)
class _Plan:
    """Line ranges of the file (from 0) and what stands there instead."""

    edits: list[tuple[int, int, list[str]]] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    """New definitions, to be put before the next one that is replaced."""
    replaced: list[str] = field(default_factory=list)
    left_out: int = 0


def spliced(text: TextFile, snippet: Sequence[str]) -> Spliced | None:
    """Put the definitions of a snippet in place of their namesakes; `None` where unclear."""
    old, new = pysource.parse("\n".join(text.lines)), pysource.parse("\n".join(snippet))
    if isinstance(old, pysource.Broken) or isinstance(new, pysource.Broken):
        return None
    plan = _Plan()
    for node in new.body:
        if not _place(node, old, snippet, plan):
            return None
    if not plan.replaced or _overlap(plan.edits):
        return None
    return Spliced(
        text=_apply(text, old, plan), replaced=tuple(plan.replaced), left_out=plan.left_out
    )


def _place(node: ast.stmt, old: ast.Module, snippet: Sequence[str], plan: _Plan) -> bool:
    """Find the place of one statement; False where there is no telling."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        known = {ast.dump(other) for other in old.body}
        if ast.dump(node) not in known:
            plan.imports.extend(_lines(node, snippet))
        return True
    if isinstance(node, ast.Expr | ast.Assert) or _is_main_guard(node):
        plan.left_out += not _is_docstring(node)
        return True
    if not isinstance(node, _Named) or not _name(node):
        return False
    places = [
        other for other in old.body if isinstance(other, _Named) and _name(other) == _name(node)
    ]
    if len(places) > 1:
        return False
    if not places:
        return _place_method_or_new(node, old, snippet, plan)
    if isinstance(node, ast.ClassDef) and isinstance(places[0], ast.ClassDef):
        return _place_class(node, places[0], snippet, plan)
    _replace(places[0], _lines(node, snippet), _name(node), plan)
    return True


def _place_method_or_new(
    node: _Named, old: ast.Module, snippet: Sequence[str], plan: _Plan
) -> bool:
    lines = _lines(node, snippet)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _takes_self(node):
        homes = [
            member
            for other in old.body
            if isinstance(other, ast.ClassDef)
            for member in other.body
            if isinstance(member, _Definition) and member.name == node.name
        ]
        if len(homes) != 1:
            return False
        _replace(homes[0], _indented(lines, homes[0].col_offset), node.name, plan)
        return True
    plan.waiting += [*lines, "", ""]
    return True


def _place_class(
    node: ast.ClassDef, home: ast.ClassDef, snippet: Sequence[str], plan: _Plan
) -> bool:
    """Whole, or method by method where the snippet shows only some of them."""
    mine = {one.name: one for one in node.body if isinstance(one, _Definition)}
    theirs = {one.name: one for one in home.body if isinstance(one, _Definition)}
    if theirs.keys() <= mine.keys():
        _replace(home, _lines(node, snippet), node.name, plan)
        return True
    if not mine.keys() <= theirs.keys() or len(mine) != _count(node) or len(theirs) != _count(home):
        return False
    others = [one for one in node.body if not isinstance(one, _Definition)]
    if any(not _is_docstring(one) for one in others):
        return False
    for name, member in mine.items():
        lines = _indented(_lines(member, snippet), theirs[name].col_offset)
        _replace(theirs[name], lines, f"{node.name}.{name}", plan)
    return True


def _count(node: ast.ClassDef) -> int:
    """Definitions, doubles (a property and its setter) counted apart."""
    return sum(isinstance(one, _Definition) for one in node.body)


def _replace(home: ast.stmt, lines: list[str], name: str, plan: _Plan) -> None:
    if home.col_offset == 0:
        lines, plan.waiting = [*plan.waiting, *lines], []
    plan.edits.append((_first_line(home), home.end_lineno or home.lineno, lines))
    plan.replaced.append(name)


def _apply(text: TextFile, old: ast.Module, plan: _Plan) -> TextFile:
    edits = sorted(plan.edits, reverse=True)
    if plan.waiting:
        # New definitions behind the last replaced one go below it.
        first, last, lines = max(one for one in edits)
        edits[edits.index((first, last, lines))] = (
            first, last, [*lines, "", "", *plan.waiting[:-2]],
        )  # fmt: skip
    for first, last, lines in edits:
        text = text.splice(first, last, lines)
    at = _import_line(old)
    return text.splice(at, at, plan.imports) if plan.imports else text


def _import_line(old: ast.Module) -> int:
    """Behind the last import at the top, or behind the docstring."""
    at = 0
    for node in old.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node):
            at = node.end_lineno or at
        elif at:
            break
    return at


def _overlap(edits: list[tuple[int, int, list[str]]]) -> bool:
    ordered = sorted((first, last) for first, last, _ in edits)
    return any(left[1] > right[0] for left, right in itertools.pairwise(ordered))


def _name(node: _Named) -> str:
    if isinstance(node, _Definition):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _takes_self(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    first = [*node.args.posonlyargs, *node.args.args][:1]
    return bool(first) and first[0].arg in {"self", "cls"}


def _first_line(node: ast.stmt) -> int:
    """From 0, decorators included."""
    decorators = node.decorator_list if isinstance(node, _Definition) else []
    return min([node.lineno, *(one.lineno for one in decorators)]) - 1


def _lines(node: ast.stmt, source: Sequence[str]) -> list[str]:
    return list(source[_first_line(node) : node.end_lineno])


def _indented(lines: list[str], width: int) -> list[str]:
    plain = textwrap.dedent("\n".join(lines)).split("\n")
    return [" " * width + line if line.strip() else line for line in plain]


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and (isinstance(node.value.value, str) or node.value.value is ...)
    )


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)
