"""Does a report give its bug away? It may say what failing tests say, and nothing of the diff."""

import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from agent_loop.benchgen.bugs import Bug, Read

_WINDOW = 4
"""So many tokens of a changed line in a row are code, not chance."""
_NEAR = 3
"""Lines around a site that a report may not number or quote either: a patch shows them."""
_NUMBERED = re.compile(
    r"(?i)(?:\blines?|\bln\.?|\bl\.|\brow|#L|:|\bL)\s*(?:no\.?\s*|number\s*)?(\d{1,6})\b"
)
_LONG = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What only the diff says."""

    paths: tuple[str, ...]
    lines: frozenset[int]
    windows: frozenset[tuple[str, ...]]
    fragments: tuple[str, ...]
    names: tuple[str, ...]
    """Identifiers."""
    allowed: str
    """What the failing tests and their output say, which anybody may repeat."""


def secrets_of(bug: Bug, read: Read, allowed: Sequence[str]) -> Secrets:
    """Gather them from both sides of the change.

    Args:
        bug: the bug.
        read: the right contents.
        allowed: texts of the failing tests and what they said.
    """
    said = "\n".join(allowed)
    changed = [text for pair in _changed_lines(bug, read) for text in pair]
    said_tokens = _tokens(said)
    known = set(_windows(said_tokens))
    hunks = [*changed, *_context(bug, read)]
    windows = {one for text in hunks for one in _windows(_tokens(text))} - known
    fragments = {_squeezed(one) for one in _fragments(bug, read)}
    lines = bug.lines(read)
    return Secrets(
        paths=bug.paths,
        lines=frozenset(
            number + off
            for ones in lines.values()
            for number in ones
            for off in range(-_NEAR, _NEAR + 1)
        ),
        windows=frozenset(windows),
        fragments=tuple(sorted(one for one in fragments if one not in _squeezed(said))),
        names=tuple(sorted(_names(changed, bug) - set(said_tokens))),
        allowed=said,
    )


def leaks(report: str, secrets: Secrets) -> list[str]:
    """What of the diff a report says; empty for an honest one."""
    rules: tuple[Callable[[str, Secrets], Iterator[str]], ...] = (_path, _line, _code, _name)
    return [found for rule in rules for found in rule(report, secrets)]


def _path(report: str, secrets: Secrets) -> Iterator[str]:
    flat = report.replace("\\", "/").lower()
    for path in secrets.paths:
        place = PurePosixPath(path)
        dotted = ".".join(place.with_suffix("").parts)
        if place.name == "__init__.py":
            candidates = [path]
        else:
            candidates = [path, place.name]
            if dotted.lower() not in secrets.allowed.lower():
                candidates.append(dotted)
        for one in candidates:
            if re.search(rf"(?<![\w.]){re.escape(one.lower())}\b", flat):
                yield f"names the file: {one}"
                break


def _line(report: str, secrets: Secrets) -> Iterator[str]:
    said = {match[0] for match in _NUMBERED.finditer(secrets.allowed)}
    for match in _NUMBERED.finditer(report):
        if int(match[1]) in secrets.lines and match[0] not in said:
            yield f"names the line: {match[0].strip()}"
            return


def _code(report: str, secrets: Secrets) -> Iterator[str]:
    tokens = _tokens(report)
    for window in _windows(tokens):
        if window in secrets.windows:
            yield f"quotes the change: {' '.join(window)}"
            return
    flat = _squeezed(report)
    for fragment in secrets.fragments:
        if fragment in flat:
            yield f"quotes the change: {fragment[:60]}"
            return


def _name(report: str, secrets: Secrets) -> Iterator[str]:
    for name in secrets.names:
        telling = len(name) >= _LONG or "_" in name.strip("_") or name.startswith("_")
        marked = rf"`{re.escape(name)}[`(.]|\b{re.escape(name)}\("
        plain = rf"(?<![\w.]){re.escape(name)}(?!\w)"
        if re.search(plain if telling else marked, report):
            yield f"names what only the change shows: {name}"
            return


def _changed_lines(bug: Bug, read: Read) -> Iterator[tuple[str, str]]:
    """The whole lines of each site, right and wrong."""
    for edit in bug.edits:
        text = read(edit.path)
        start = text.rfind(b"\n", 0, edit.start) + 1
        stop = text.find(b"\n", edit.end)
        end = len(text) if stop < 0 else stop
        right = text[start:end]
        wrong = text[start : edit.start] + edit.new + text[edit.end : end]
        yield right.decode("utf-8", "replace"), wrong.decode("utf-8", "replace")


def _context(bug: Bug, read: Read) -> Iterator[str]:
    """The lines that a patch shows around each site."""
    for edit in bug.edits:
        lines = read(edit.path).decode("utf-8", "replace").split("\n")
        first = read(edit.path).count(b"\n", 0, edit.start)
        last = read(edit.path).count(b"\n", 0, edit.end)
        yield from lines[max(first - _NEAR, 0) : last + _NEAR + 1]


def _fragments(bug: Bug, read: Read) -> Iterator[str]:
    """The changed bytes themselves, and their lines, where they are long enough to mean it."""
    for edit in bug.edits:
        right = read(edit.path)[edit.start : edit.end].decode("utf-8", "replace")
        for one in (right, edit.new.decode("utf-8", "replace")):
            if len(_squeezed(one)) >= 5 and len(_tokens(one)) > 1:
                yield one
    for pair in _changed_lines(bug, read):
        for one in pair:
            if len(_squeezed(one)) >= 6 and len(_tokens(one)) > 1:
                yield one


def _names(changed: Sequence[str], bug: Bug) -> set[str]:
    """Identifiers of the changed lines, and what the functions around them are called."""
    found = {one for text in changed for one in _tokens(text) if one.isidentifier()}
    for function in bug.functions:
        found.update(function.partition("::")[2].split("."))
    common = {"self", "cls", "None", "True", "False", "args", "kwargs", "<module>", "result"}
    return {one for one in found - common if not keyword.iskeyword(one) and len(one) > 2}


def _tokens(text: str) -> list[str]:
    """Words and marks, the same way for code and for prose."""
    return re.findall(r"\w+|[^\w\s]", text)


def _windows(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Runs of tokens that hold at least two words, so that brackets alone are no code."""
    for start in range(len(tokens) - _WINDOW + 1):
        window = tuple(tokens[start : start + _WINDOW])
        if sum(one[0].isalnum() or one[0] in "_\"'" for one in window) >= 2 and any(
            not one[0].isalnum() and one[0] not in "_\"'" for one in window
        ):
            yield window


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
