"""Edits as a JSON object."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_loop.edits.fences import blocks_of, lines_of
from agent_loop.edits.loosejson import Value, values_in
from agent_loop.edits.proposals import Delete, Place, Proposal, Replace, Whole

_LISTS = ("edits", "changes", "files", "operations", "patches", "modifications")
_PATH = ("path", "file", "filename", "file_path", "filepath", "file_name")
_SEARCH = ("search", "old", "old_str", "old_string", "find", "before", "original", "old_text")
_NEW = ("replace", "new", "new_str", "new_string", "replacement", "after", "updated", "new_text")
_WHOLE = ("content", "contents", "code", "file_text")
_FIRST_KEY = re.compile(
    r"(?:[\[{]\s*(?://[^\n]{0,200}\s)?\s*){1,4}"
    rf"(?:[\"']?(?:{'|'.join((*_LISTS, *_PATH, *_SEARCH, *_NEW, *_WHOLE))})[\"']?\s*[:=]"
    r"|[\"'][^\"'\n]{1,200}\.\w{1,8}[\"']\s*:)"
)
"""Where broken JSON begins as edits do. Code and prose are full of other braces."""
_JSON_BLOCKS = frozenset({"", "json", "jsonc", "json5", "text", "plaintext", "edit", "edits"})
_DELETE = ("delete", "remove", "deleted")
_MAX_EDITS = 500


@dataclass(slots=True)
class Parsed:
    proposals: list[Proposal] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def without_code(text: str) -> str:
    """A reply without its blocks of other languages: dictionaries in code are no edits."""
    lines = lines_of(text)
    for block in blocks_of(text):
        if block.language not in _JSON_BLOCKS:
            stop = min(block.end, len(lines))
            lines[block.line - 1 : stop] = [""] * (stop - block.line + 1)
    return "\n".join(lines)


def parse(text: str) -> Parsed:
    """The edits of the first JSON value in a text that has the shape of edits."""
    for value, repaired, at in values_in(text):
        if repaired and not _FIRST_KEY.match(text, at):
            continue
        entries = _entries(value)
        if entries:
            parsed = Parsed()
            if repaired:
                parsed.notes.append("repaired the JSON")
            for number, entry in enumerate(entries[:_MAX_EDITS], start=1):
                _take(parsed, entry, f"edit {number}")
            return parsed
    return Parsed()


def _entries(value: Value) -> list[dict[str, Value]]:
    """Edits out of the shapes that models give them."""
    if isinstance(value, list):
        return [entry for entry in value if isinstance(entry, dict) and _is_edit(entry)]
    if not isinstance(value, dict):
        return []
    for key in _LISTS:
        inner = value.get(key)
        if isinstance(inner, list):
            outer = {name: value[name] for name in _PATH if isinstance(value.get(name), str)}
            entries = [{**outer, **entry} for entry in inner if isinstance(entry, dict)]
            return [entry for entry in entries if _is_edit(entry)]
        if isinstance(inner, dict):
            return _by_path(inner)
    return [value] if _is_edit(value) else _by_path(value)


def _by_path(value: dict[str, Value]) -> list[dict[str, Value]]:
    """{path: content} or {path: {search, replace}}."""
    found: list[dict[str, Value]] = []
    for path, content in value.items():
        if "." not in path and "/" not in path:
            return []
        if isinstance(content, str):
            found.append({"path": path, "content": content})
        elif isinstance(content, dict):
            found.append({**content, "path": path})
        elif isinstance(content, list):
            found.extend({**entry, "path": path} for entry in content if isinstance(entry, dict))
    return found


def _is_edit(entry: dict[str, Value]) -> bool:
    return _text(entry, _PATH) is not None and (
        _text(entry, _NEW) is not None
        or _text(entry, _WHOLE) is not None
        or any(entry.get(key) is True for key in _DELETE)
    )


def _text(entry: dict[str, Value], keys: Sequence[str]) -> str | None:
    for key in keys:
        value = entry.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
            return "\n".join(str(line).removesuffix("\n") for line in value)
    return None


def _take(parsed: Parsed, entry: dict[str, Value], name: str) -> None:
    path = _text(entry, _PATH)
    place = Place(path=path, said=path or "")
    search, new = _text(entry, _SEARCH), _text(entry, _NEW)
    if any(entry.get(key) is True for key in _DELETE):
        parsed.proposals.append(Delete(place=place, name=name))
    elif search is not None and new is not None:
        old_lines, new_lines = _lines(search), _lines(new)
        parsed.proposals.append(Replace(place=place, search=old_lines, new=new_lines, name=name))
    else:
        whole = _text(entry, _WHOLE)
        content = whole if whole is not None else new
        if content is None:
            parsed.problems.append(f"{name} has neither search and replace nor content")
            return
        parsed.proposals.append(Whole(place=place, lines=_lines(content), name=name))


def _lines(text: str) -> tuple[str, ...]:
    """A newline at the end closes the last line, it opens no new one."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    return tuple(plain.split("\n")) if plain else ()
