"""Definitions and references of a source file, by tree-sitter."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import tree_sitter_javascript
import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor

MAX_SOURCE_BYTES = 400_000
_MAX_SIGNATURE_CHARS = 120
_PYTHON = """
(function_definition name: (identifier) @name) @definition
(class_definition name: (identifier) @name) @definition
(module (expression_statement (assignment left: (identifier) @name) @definition))
(identifier) @reference
"""
_JAVASCRIPT = """
(function_declaration name: (identifier) @name) @definition
(generator_function_declaration name: (identifier) @name) @definition
(class_declaration name: (identifier) @name) @definition
(method_definition name: (property_identifier) @name) @definition
(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition))
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition))
[(identifier) (property_identifier)] @reference
"""
_SUFFIXES = {
    ".py": "python", ".pyi": "python",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One definition."""

    name: str
    line: int
    """From 1."""
    last_line: int
    depth: int
    """0 at top level, 1 for a method, …"""
    signature: str
    """Its head on one line: `def slug(text, sep="-")`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """What a file defines, and which names it uses how often."""

    definitions: tuple[Symbol, ...] = ()
    references: Mapping[str, int] = field(default_factory=dict)


class SymbolReader:
    """Parsers of the known languages, made when they are first needed."""

    def read(self, path: str, data: bytes) -> Symbols:
        """Nothing for a language that has no grammar here, or for a very large file."""
        language = _SUFFIXES.get("." + path.rpartition(".")[2].lower())
        if language is None or len(data) > MAX_SOURCE_BYTES:
            return Symbols()
        parser, query = self._python if language == "python" else self._javascript
        found = QueryCursor(query).matches(parser.parse(data).root_node)
        definitions: dict[int, Symbol] = {}
        references: dict[str, int] = {}
        for _, captures in found:
            if "definition" in captures:
                symbol = _symbol(captures["definition"][0], captures["name"][0])
                definitions.setdefault(captures["name"][0].start_byte, symbol)
            for node in captures.get("reference", ()):
                name = _text(node)
                references[name] = references.get(name, 0) + 1
        ordered = sorted(definitions.values(), key=lambda one: (one.line, one.name))
        return Symbols(definitions=tuple(ordered), references=references)

    @cached_property
    def _python(self) -> tuple[Parser, Query]:
        return _tools(Language(tree_sitter_python.language()), _PYTHON)

    @cached_property
    def _javascript(self) -> tuple[Parser, Query]:
        return _tools(Language(tree_sitter_javascript.language()), _JAVASCRIPT)


def _tools(language: Language, query: str) -> tuple[Parser, Query]:
    return Parser(language), Query(language, query)


def _symbol(node: Node, name: Node) -> Symbol:
    return Symbol(
        name=_text(name),
        line=node.start_point[0] + 1,
        last_line=node.end_point[0] + 1,
        depth=_depth(node),
        signature=_signature(node),
    )


def _depth(node: Node) -> int:
    depth, parent = 0, node.parent
    while parent is not None:
        depth += parent.type in {
            "function_definition", "class_definition", "function_declaration", "class_declaration",
            "method_definition",
        }  # fmt: skip
        parent = parent.parent
    return depth


def _signature(node: Node) -> str:
    """The text up to the body, on one line."""
    body = node.child_by_field_name("body")
    text = _text(node)
    if body is not None:
        raw = node.text or b""
        text = raw[: body.start_byte - node.start_byte].decode("utf-8", "replace")
    else:
        text = text.split("\n", 1)[0]
    flat = " ".join(text.split()).rstrip(":{ ")
    return flat if len(flat) <= _MAX_SIGNATURE_CHARS else flat[: _MAX_SIGNATURE_CHARS - 1] + "…"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
