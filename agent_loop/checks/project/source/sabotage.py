"""The changed functions with bodies that only raise: the wanted tests must notice.

The exception's name and message are drawn per run, so that the text shows no mark that a
reply could have looked for. Line numbers stay as they are.
"""

import ast
import secrets
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_loop.checks.project.source.shape import (
    FunctionNode,
    Key,
    functions,
    without_docstring,
)
from agent_loop.checks.project.source.text import Edit, Source, Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The exception of one sabotage run."""

    name: str
    message: str
    path: str = ""
    """A file inside the container that the sabotaged code leaves behind: the exception itself
    may end in another process or thread, out of the test's sight."""

    @classmethod
    def draw(cls, folder: str = "") -> "Marker":
        path = f"{folder}/{draw_word(10)}" if folder else ""
        return cls(name=draw_word(9).capitalize(), message=draw_word(11), path=path)

    @property
    def statement(self) -> str:
        note = f"__import__('os').close(__import__('os').open({self.path!r}, 65)); "
        return (note if self.path else "") + f"raise {self.expression}"

    @property
    def expression(self) -> str:
        # Not by the name `type`: an argument of the function may be called so.
        kind = f"BaseException.__class__({self.name!r}, (BaseException,), {{}})"
        return f"{kind}({self.message!r})"


def draw_word(length: int) -> str:
    """Small letters, different in every run."""
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(length))


def sabotage(source: Source, keys: Sequence[Key], marker: Marker) -> Source:
    """The file with the bodies of the functions `keys` replaced.

    Raises:
        SyntaxError: the result does not compile; nothing of it may be used.
    """
    spans = Spans(source.text)
    picked = _outermost([one.node for one in functions(source.tree()) if one.key in set(keys)])
    text = spans.replace([_edit(spans, node, marker) for node in picked])
    changed = source.with_text(text)
    compile(changed.tree(), "<sabotage>", "exec", dont_inherit=True)
    return changed


def _outermost(nodes: list[FunctionNode]) -> list[FunctionNode]:
    inner = {id(one) for node in nodes for one in ast.walk(node) if one is not node}
    return [node for node in nodes if id(node) not in inner]


def _edit(spans: Spans, node: FunctionNode, marker: Marker) -> Edit:
    if isinstance(node, ast.Lambda):
        start, end = spans.of(node.body)
        lines = spans.data[start:end].count(b"\n")
        # A lambda over several lines stands in brackets, where line ends are free.
        return Edit(
            start=start,
            end=end,
            text=f"(_ for _ in ()).throw({marker.expression})" + "\n" * lines,
        )
    raising = marker.statement + ("; yield" if _yields(node) else "")
    body = without_docstring(node.body)
    if not body:
        _, end = spans.of(node.body[-1])
        return Edit(start=end, end=end, text=f"; {raising}")
    start, end = spans.offset(_first_line(body[0]), body[0].col_offset), spans.of(body[-1])[1]
    rest = spans.data[end : spans.line_end(end)].strip()
    if rest == b";":
        end = spans.line_end(end)
    return Edit(start=start, end=end, text=raising + "\n" * spans.data[start:end].count(b"\n"))


def _first_line(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return node.lineno


def _yields(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in _own(node.body))


def _own(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function, those of nested functions and classes left out."""
    for node in nodes:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _own(list(ast.iter_child_nodes(node)))
