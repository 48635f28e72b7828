"""Twins and copies of doctests: the expected output stands in a docstring or a text file."""

import ast
import doctest
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent_loop.checks.project.source.sabotage import draw_word
from agent_loop.checks.project.source.text import Source
from agent_loop.checks.project.twins.copies import CopiedTest, Copy, fresh_path
from agent_loop.checks.project.twins.place import NodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class Doctest:
    """Where the examples of one doctest stand."""

    text: str
    first_line: int
    """1-based, of the first line of `text`."""


def locate(path: str, source: Source, dotted: str) -> Doctest | None:
    """The text that holds the examples of the doctest `dotted` (`package.module.Class.name`)."""
    if not path.endswith(".py"):
        return Doctest(text=source.text, first_line=1)
    body: Sequence[ast.stmt] = source.tree().body
    for name in _inner_names(path, dotted):
        scope = [
            one
            for one in body
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and one.name == name
        ]
        if not scope:
            return None
        body = scope[-1].body
    return _docstring(source, body)


def _docstring(source: Source, body: Sequence[ast.stmt]) -> Doctest | None:
    first = body[0] if body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    lines = source.text.split("\n")[first.lineno - 1 : first.end_lineno]
    return Doctest(text="\n".join(lines), first_line=first.lineno)


def _module_length(path: str, dotted: str) -> int:
    """How many of the dotted names are the module's."""
    place = PurePosixPath(path)
    names = dotted.split(".")
    last = place.parent.name if place.stem == "__init__" else place.stem
    return names.index(last) + 1 if last in names else len(names)


def _inner_names(path: str, dotted: str) -> list[str]:
    return dotted.split(".")[_module_length(path, dotted) :]


def _wants(found: Doctest) -> Iterator[int]:
    """0-based numbers of the last line of every expected output, within the text."""
    # The quotes stand in the lines too; a parser for examples does not mind them.
    for example in doctest.DocTestParser().get_examples(_blank_quotes(found.text)):
        if example.want:
            source_lines = example.source.count("\n")
            yield example.lineno + source_lines + example.want.count("\n") - 1


def _blank_quotes(text: str) -> str:
    for quotes in ('"""', "'''"):
        text = text.replace(quotes, "   ")
    return text


def examples_of(path: str, data: bytes, dotted: str) -> str | None:
    """The examples as text, to see whether a patch touched them."""
    try:
        found = locate(path, Source.decode(data), dotted)
        if found is None:
            return None
        parsed = doctest.DocTestParser().get_examples(_blank_quotes(found.text))
    except (SyntaxError, ValueError):
        return None
    return repr([(one.source, one.want, sorted(one.options.items())) for one in parsed])


def twins(path: str, data: bytes, ids: Sequence[str]) -> tuple[Copy, ...]:
    """One fresh file per expected output.

    Raises:
        SyntaxError, ValueError: the file or its examples cannot be read.
    """
    source = Source.decode(data)
    copies: list[Copy] = []
    for one in map(NodeId.parse, ids):
        found = locate(path, source, one.parts[-1])
        for line in _wants(found) if found else ():
            copies.append(_twin(source, one, (found.first_line if found else 1) + line - 1))
    return tuple(copies)


def _twin(source: Source, test: NodeId, line: int) -> Copy:
    lines = source.text.split("\n")
    text = lines[line]
    indent = len(text) - len(text.lstrip())
    # In front: an exception's message may be ignored, its name is not.
    lines[line] = text[:indent] + draw_word(3) + text[indent:]
    path = fresh_path(test.path)
    copied = CopiedTest(original=test.at(test.path), run=_run_id(test, path), lines=frozenset())
    data = source.with_text("\n".join(lines)).encode()
    return Copy(path=path, data=data, tests=(copied,))


def _run_id(test: NodeId, path: str) -> str:
    if not path.endswith(".py"):
        return f"{path}::{PurePosixPath(path).name}"
    names = test.parts[-1].split(".")
    length = _module_length(test.path, test.parts[-1])
    module = names[:length] if PurePosixPath(test.path).stem == "__init__" else names[: length - 1]
    inner = names[length:]
    return f"{path}::{'.'.join([*module, PurePosixPath(path).stem, *inner])}"


def renamed(path: str, data: bytes, ids: Sequence[str]) -> Copy:
    """The file under another name."""
    fresh = fresh_path(path)
    tests = [
        CopiedTest(original=one.at(path), run=_run_id(one, fresh), lines=frozenset())
        for one in map(NodeId.parse, ids)
    ]
    return Copy(path=fresh, data=data, tests=tuple(tests))
