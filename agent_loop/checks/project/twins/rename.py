"""Other names for tests: their classes and functions, and whatever refers to them."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence

from agent_loop.checks.project.source.sabotage import draw_word
from agent_loop.checks.project.source.shape import Definition
from agent_loop.checks.project.source.text import Edit
from agent_loop.checks.project.twins.alter import Alterer


def draw_names(tests: Iterable[Sequence[str]], names: dict[str, str]) -> dict[str, str]:
    """Add a new name for every class and function of these tests that has none yet."""
    for *classes, function in tests:
        for name in classes:
            names.setdefault(name, f"Test{draw_word(7).capitalize()}")
        names.setdefault(function, f"{_prefix(function)}_{draw_word(8)}")
    return names


def rename_edits(tree: ast.Module, alterer: Alterer, names: Mapping[str, str]) -> list[Edit]:
    """Over the whole file; an import only where the file defines no such name itself."""
    nodes = list(ast.walk(tree))
    own = {one.name for one in nodes if isinstance(one, Definition | ast.ClassDef)}
    foreign = {old: new for old, new in names.items() if old not in own}
    edits = [edit for node in nodes for edit in _rename(node, alterer, names)]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            edits += [edit for one in node.names for edit in _rename_import(one, alterer, foreign)]
    return edits


def _rename(node: ast.AST, alterer: Alterer, names: Mapping[str, str]) -> list[Edit]:
    if isinstance(node, ast.Name) and node.id in names:
        start, end = alterer.spans.of(node)
        return [Edit(start=start, end=end, text=names[node.id])]
    if isinstance(node, ast.Attribute) and node.attr in names:
        return alterer.rename_attribute(node, names[node.attr])
    if isinstance(node, Definition | ast.ClassDef) and node.name in names:
        return [_rename_definition(node, alterer, names[node.name])]
    return []


def _rename_definition(node: Definition | ast.ClassDef, alterer: Alterer, name: str) -> Edit:
    start = alterer.spans.offset(node.lineno, node.col_offset)
    keyword = re.compile(rb"(?:async\s+)?(?:def|class)\s+").match(alterer.spans.data, start)
    begin = keyword.end() if keyword else start
    return Edit(start=begin, end=begin + len(node.name.encode()), text=name)


def _rename_import(one: ast.alias, alterer: Alterer, names: Mapping[str, str]) -> list[Edit]:
    start, end = alterer.spans.of(one)
    edits = []
    if one.name in names:
        stop = start + len(one.name.encode())
        edits.append(Edit(start=start, end=stop, text=names[one.name]))
    if one.asname and one.asname in names:
        begin = end - len(one.asname.encode())
        edits.append(Edit(start=begin, end=end, text=names[one.asname]))
    return edits


def _prefix(name: str) -> str:
    head = name.partition("_")[0]
    return head if head in ("test", "tests", "it", "should") else "test"
