"""Reads one YAML mapping and remembers the line of every key.

A small YAML: text, whole and decimal numbers, `true`, `false`, `null`, lists and maps. `yes`, `on`,
dates and base-60 numbers stay text; own tags and merge keys are refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import yaml

from agent_loop.yamlfile.hints import hint

MAX_BYTES = 1 << 20
MAX_DEPTH = 50
MAX_REPEATED_NODES = 10_000
MAX_REPEATED_CHARS = 1 << 20

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]
KeyPath = tuple[str | int, ...]


class _Mark(Protocol):
    line: int
    column: int


_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"
_TAG = "tag:yaml.org,2002:"
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
# libyaml is many times faster on large files; the pure loader serves where it was not built.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_PROBLEM_CHARS = 1200


class YamlProblem(ValueError):
    """A YAML file cannot be used; `line` counts from 1, 0 where no line is to blame."""

    def __init__(self, line: int, problem: str) -> None:
        if len(problem) > _PROBLEM_CHARS:
            # A value of any length may stand in it; how to mend it stands at one of the ends.
            problem = f"{problem[: _PROBLEM_CHARS // 2]}...{problem[-_PROBLEM_CHARS // 2 :]}"
        super().__init__(f"line {line}: {problem}" if line else problem)
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The data of one file, and where each key stood."""

    data: dict[str, Plain]
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, *path: str | int) -> int:
        """Line of a key or list item, of the nearest thing around it where it is missing."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 1


def load(path: Path, *, max_bytes: int = MAX_BYTES) -> Document:
    """Read a YAML file whose top is a map.

    Raises:
        YamlProblem: missing, no regular file, too large, not UTF-8, binary, empty, malformed,
            a key twice, aliases that explode, nested too deep, or no map at the top.
    """
    return parse(_text(path, max_bytes))


def parse(text: str) -> Document:
    """Read YAML text whose top is a map.

    Raises:
        YamlProblem: as `load`.
    """
    try:
        _measure(text)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "malformed"
        if what.startswith("but ") and error.context:
            what = f"{error.context}, {what}"
        if "nesting depth" in what:  # libyaml's own limit, where its scanner runs ahead of ours
            raise YamlProblem(_mark_line(mark), _TOO_DEEP) from error
        more = hint(what, text, mark.line, mark.column) if mark else ""
        raise YamlProblem(_mark_line(mark), f"is not valid YAML: {what}{more}") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlProblem(0, f"is not valid YAML: {str(error).splitlines()[0]}") from error
    if node is None:
        raise YamlProblem(0, "is empty")
    if not isinstance(node, yaml.MappingNode):
        raise YamlProblem(_line(node), "must be a map of 'key: value' lines")
    reader = _Reader()
    data = reader.mapping(node, ())
    return Document(data=data, lines=reader.lines)


def _text(path: Path, max_bytes: int) -> str:
    try:
        if not path.exists():
            raise YamlProblem(0, "does not exist")
        if not path.is_file():  # a pipe or a device would block or never end
            raise YamlProblem(0, "is a folder" if path.is_dir() else "is not a regular file")
        with path.open("rb") as file:
            raw = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, YamlProblem):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise YamlProblem(0, f"cannot be read: {reason}") from error
    if len(raw) > max_bytes:
        raise YamlProblem(0, f"is larger than {max_bytes:,} bytes")
    return _decoded(raw)


def _decoded(raw: bytes) -> str:
    if b"\0" in raw:
        line = raw[: raw.index(b"\0")].count(b"\n") + 1
        raise YamlProblem(line, "is a binary file, not text (or not saved as UTF-8)")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise YamlProblem(line, "holds bytes that are not UTF-8; save it as UTF-8") from error
    if not text.strip():
        raise YamlProblem(0, "is empty")
    return text


def _measure(text: str) -> None:
    """Refuse deep nesting before the composer, which recurses, sees it."""
    depth = 0
    for event in _events(text):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise YamlProblem(_line(event), _TOO_DEEP)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _events(text: str) -> Iterator[yaml.Event]:
    yield from yaml.parse(text, Loader=_Loader)


def _line(marked: yaml.Node | yaml.Event) -> int:
    return _mark_line(marked.start_mark)


def _mark_line(mark: _Mark | None) -> int:
    return mark.line + 1 if mark else 0


class _Reader:
    """Turns nodes into plain data; counts what aliases repeat."""

    def __init__(self) -> None:
        self.lines: dict[KeyPath, int] = {(): 1}
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._repeated_nodes = 0
        self._repeated_chars = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Plain:
        self._count(node)
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self._open:
            raise YamlProblem(_line(node), "holds an alias that contains itself")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self.mapping(node, path)
            return self._sequence(node, path)
        finally:
            self._open.discard(id(node))

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Plain]:
        _check_tag(node, "map")
        self._open.add(id(node))
        data: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            key = _key(key_node)
            if key in data:
                first = self.lines[(*path, key)]
                raise YamlProblem(
                    _line(key_node), f"key '{key}' stands here again (first on line {first})"
                )
            self.lines[(*path, key)] = _line(key_node)
            data[key] = self.value(value_node, (*path, key))
        return data

    def _sequence(self, node: yaml.Node, path: KeyPath) -> list[Plain]:
        _check_tag(node, "seq")
        items: list[Plain] = []
        for index, item in enumerate(node.value):
            self.lines[(*path, index)] = _line(item)
            items.append(self.value(item, (*path, index)))
        return items

    def _count(self, node: yaml.Node) -> None:
        if id(node) not in self._seen:
            self._seen.add(id(node))
            return
        self._repeated_nodes += 1
        if isinstance(node, yaml.ScalarNode):
            self._repeated_chars += len(node.value)
        over = self._repeated_nodes > MAX_REPEATED_NODES
        if over or self._repeated_chars > MAX_REPEATED_CHARS:
            raise YamlProblem(_line(node), "holds aliases (*name) that expand to far too much")


def _check_tag(node: yaml.Node, kind: str) -> None:
    if node.tag != _TAG + kind:
        raise YamlProblem(_line(node), f"holds the tag '{node.tag}'; plain YAML only")


def _key(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        if node.tag == _TAG + "merge":
            raise YamlProblem(_line(node), "holds a merge key '<<'; write the keys out")
        key = _scalar(node)
        if isinstance(key, str):
            return key
    raise YamlProblem(_line(node), "holds a key that is not text; put it in quotes")


def _scalar(node: yaml.ScalarNode) -> Plain:
    tag = str(node.tag).removeprefix(_TAG)
    text = str(node.value)
    if tag in ("str", "timestamp", "value") or node.style in ("'", '"', "|", ">"):
        if tag not in ("str", "timestamp", "value"):
            _check_tag(node, "str")
        return text
    if tag == "null":
        return None
    if tag == "bool":
        return {"true": True, "false": False}.get(text.lower(), text)
    if tag == "int":
        return _number(node, text) if _WHOLE.fullmatch(text) else text
    if tag == "float":
        return _decimal(text)
    _check_tag(node, "str")
    return text


def _decimal(text: str) -> float | str:
    plain = text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan")
    try:
        return float(plain)
    except ValueError:  # a base-60 number, or text with a number's tag
        return text


def _number(node: yaml.ScalarNode, text: str) -> int:
    if len(text) > 40:
        raise YamlProblem(_line(node), "holds a number with more than 40 digits")
    return int(text.replace("_", ""))
