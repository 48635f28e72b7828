"""Walks one file and makes every bug its mutators know, as edits of bytes."""

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan, MetadataWrapper

from agent_loop.benchgen.bugs import Bug, Edit, Where
from agent_loop.benchgen.mutators.registry import MUTATORS
from agent_loop.benchgen.mutators.site import Around, Wrong

_Spans = Mapping[cst.CSTNode, CodeSpan]
_SKIPPED = (cst.Annotation, cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal)


def bugs_of(path: str, text: bytes) -> list[Bug]:
    """Every single-site bug of a file, in the order of its text.

    Raises:
        ValueError: the file cannot be parsed.
    """
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        spans = wrapper.resolve(ByteSpanPositionProvider)
    except (cst.ParserSyntaxError, UnicodeError, RecursionError) as error:
        raise ValueError(f"{path}: cannot be parsed: {error}") from error
    found = _Walk(path, text, wrapper.module, spans).run()
    return list({bug.id: bug for bug in found}.values())


class _Walk:
    """One pass over the tree, parents kept."""

    def __init__(self, path: str, text: bytes, module: cst.Module, spans: _Spans) -> None:
        self._path = path
        self._text = text
        self._module = module
        self._spans = spans
        # Texts are spliced into the middle of a file, where no mark belongs.
        self._encoding = module.encoding.removesuffix("-sig")
        self._offset = 3 if text.startswith(b"\xef\xbb\xbf") else 0
        self._parents: list[cst.CSTNode] = []
        self._names: list[tuple[str, ...]] = []
        self._functions: list[str] = []
        self._body_depth = 0
        """Function bodies around the node: 0 is what runs when the module is imported."""

    def run(self) -> Iterator[Bug]:
        yield from self._node(self._module)

    def _node(self, node: cst.CSTNode) -> Iterator[Bug]:
        if isinstance(node, _SKIPPED):
            return
        yield from self._wrongs(node)
        scope = isinstance(node, cst.FunctionDef | cst.ClassDef)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._functions.append(node.name.value)
        if isinstance(node, cst.FunctionDef):
            self._names.append(_names_of(node))
        self._parents.append(node)
        for child in node.children:
            inside = isinstance(node, cst.FunctionDef) and child is node.body
            inside = inside or (isinstance(node, cst.Lambda) and child is node.body)
            self._body_depth += inside
            yield from self._node(child)
            self._body_depth -= inside
        self._parents.pop()
        if isinstance(node, cst.FunctionDef):
            self._names.pop()
        if scope:
            self._functions.pop()

    def _wrongs(self, node: cst.CSTNode) -> Iterator[Bug]:
        around = Around(
            parents=tuple(self._parents[-4:]),
            names=self._names[-1] if self._names and self._body_depth else (),
        )
        for mutator in MUTATORS:
            for wrong in mutator(node, around):
                edit = self._edit(node, wrong)
                if edit is not None:
                    yield self._bug(wrong, edit)

    def _bug(self, wrong: Wrong, edit: Edit) -> Bug:
        where: Where = "function" if self._body_depth else "import"
        name = ".".join(self._functions) or "<module>"
        function = f"{self._path}::{name}"
        return Bug(kind=wrong.kind, edits=(edit,), functions=(function,), where=where)

    def _edit(self, node: cst.CSTNode, wrong: Wrong) -> Edit | None:
        if wrong.node is None:
            return self._removed(node)
        if isinstance(node, cst.ExceptHandler) and isinstance(wrong.node, cst.ExceptHandler):
            return self._edit_of_type(node, wrong.node)
        span = self._spans[node]
        start, end = span.start + self._offset, span.start + span.length + self._offset
        new = self._module.code_for_node(_unwrapped(node, wrong.node)).encode(self._encoding)
        if isinstance(wrong.node, cst.BaseCompoundStatement) or self._text[start:end] == new:
            return None
        return Edit(path=self._path, start=start, end=end, new=self._glued(start, new))

    def _edit_of_type(self, old: cst.ExceptHandler, new: cst.ExceptHandler) -> Edit | None:
        if old.type is None or new.type is None:
            return None
        return self._edit(old.type, Wrong("", new.type))

    def _glued(self, start: int, new: bytes) -> bytes:
        """With a blank where a word would run into the one before it."""
        before = self._text[start - 1 : start]
        words = (before + new[:1]).decode("latin-1")
        clash = len(words) == 2 and all(one.isalnum() or one == "_" for one in words)
        return b" " + new if clash else new

    def _removed(self, node: cst.CSTNode) -> Edit | None:
        """The whole lines of a statement; `pass` where its block would be empty."""
        span = self._spans[node]
        start, end = span.start + self._offset, span.start + span.length + self._offset
        block = self._parents[-1] if self._parents else None
        if not isinstance(block, cst.IndentedBlock | cst.Module):
            return None
        siblings: Sequence[cst.CSTNode] = block.body
        stop = self._text.find(b"\n", max(end - 1, start))
        line_end = len(self._text) if stop < 0 else stop + 1
        if len(siblings) == 1:
            return Edit(path=self._path, start=start, end=end, new=b"pass")
        line_start = self._text.rfind(b"\n", 0, start) + 1
        if self._text[line_start:start].strip():
            return None
        return Edit(path=self._path, start=line_start, end=line_end, new=b"")


def _unwrapped(old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
    """Without the parentheses around the old node: its span leaves them in the text."""
    around = getattr(old, "lpar", None)
    if around and getattr(new, "lpar", None) is around:
        return new.with_changes(lpar=[], rpar=[])
    return new


def _names_of(function: cst.FunctionDef) -> tuple[str, ...]:
    """Parameters, then names assigned in the function's own body."""
    parameters = function.params
    named = [*parameters.posonly_params, *parameters.params, *parameters.kwonly_params]
    found = [one.name.value for one in named if one.name.value not in ("self", "cls")]
    collector = _Assigned()
    for one in function.body.body:
        one.visit(collector)
    return tuple(dict.fromkeys([*found, *collector.names]))


class _Assigned(cst.CSTVisitor):
    """Plain names that are assigned to, functions inside left out."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_Lambda(self, node: cst.Lambda) -> bool:
        return False

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        if isinstance(node.target, cst.Name):
            self.names.append(node.target.value)
        return False
