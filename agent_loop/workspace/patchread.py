"""Applies a patch of ours strictly: every line must be where the patch says. For the round trip."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent_loop.workspace.quoting import unquoted

State = tuple[bytes, bool]
"""Content, and whether the file is executable."""
_HUNK = re.compile(rb"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@$")
_NO_NEWLINE = b"\\ No newline at end of file"


class BadPatch(ValueError):
    """The patch does not fit the files."""


@dataclass(slots=True)
class _Section:
    path: str
    creates: bool = False
    deletes: bool = False
    executable: bool | None = None


def applied(patch: bytes, files: Mapping[str, State]) -> dict[str, State]:
    """The files after the patch.

    Raises:
        BadPatch: a header, a count or a line is not as it must be.
    """
    result = dict(files)
    lines = patch.split(b"\n")
    if lines.pop() != b"":
        raise BadPatch("it does not end with a newline")
    at = 0
    while at < len(lines):
        if not lines[at].startswith(b"diff --git "):
            raise BadPatch(f"line {at + 1} is no file header")
        stop = at + 1
        while stop < len(lines) and not lines[stop].startswith(b"diff --git "):
            stop = _skip_hunk(lines, stop) if lines[stop].startswith(b"@@ ") else stop + 1
        _apply_section(lines[at:stop], result)
        at = stop
    return result


def _skip_hunk(lines: list[bytes], at: int) -> int:
    """The line behind a hunk; its counts say how long it is."""
    old, new = _counts(lines[at])
    at += 1
    while (old > 0 or new > 0) and at < len(lines):
        sign = lines[at][:1]
        old -= sign in {b" ", b"-"}
        new -= sign in {b" ", b"+"}
        at += 1
    if old or new:
        raise BadPatch(f"line {at + 1}: the hunk before it has other counts than it says")
    while at < len(lines) and lines[at] == _NO_NEWLINE:
        at += 1
    return at


def _counts(line: bytes) -> tuple[int, int]:
    match = _HUNK.match(line)
    if match is None:
        raise BadPatch(f"bad hunk header {line!r}")
    _, old, _, new = match.groups()
    return int(old) if old is not None else 1, int(new) if new is not None else 1


def _apply_section(lines: list[bytes], files: dict[str, State]) -> None:
    section, at = _head(lines)
    if section.creates == (section.path in files):
        raise BadPatch(f"{section.path} is there, or is not, against what the patch says")
    old, was_executable = files.get(section.path, (b"", False))
    new = _apply_hunks(old, lines[at:], section.path)
    if section.deletes:
        if new:
            raise BadPatch(f"{section.path} is deleted but something is left of it")
        del files[section.path]
        return
    runs = was_executable if section.executable is None else section.executable
    files[section.path] = (new, runs)


def _head(lines: list[bytes]) -> tuple[_Section, int]:
    try:
        section = _Section(_path_of(lines[0].decode()))
    except (UnicodeDecodeError, ValueError) as error:
        raise BadPatch(f"the name in {lines[0][:200]!r} cannot be read") from error
    at = 1
    while at < len(lines) and not lines[at].startswith(b"@@ "):
        line = lines[at]
        section.creates = section.creates or line.startswith(b"new file mode")
        section.deletes = section.deletes or line.startswith(b"deleted file mode")
        if line.startswith((b"new file mode ", b"new mode ")):
            section.executable = line.endswith(b"755")
        at += 1
    return section, at


def _path_of(header: str) -> str:
    """Both names of a header are the same but for their first letter."""
    names = header.removeprefix("diff --git ")
    first = names[: len(names) // 2]
    second = names[len(names) // 2 + 1 :]
    path = unquoted(first).removeprefix("a/")
    if unquoted(second) != "b/" + path:
        raise BadPatch(f"two names in {header!r}")
    return path


def _apply_hunks(old: bytes, lines: list[bytes], path: str) -> bytes:
    source = _split(old)
    out: list[bytes] = []
    done, at = 0, 0
    while at < len(lines):
        stop = _skip_hunk(lines, at)
        match = _HUNK.match(lines[at])
        start = int(match.group(1)) if match else 0
        count = _counts(lines[at])[0]
        start = start - 1 if count else start
        if not done <= start <= len(source):
            raise BadPatch(f"{path}: the hunk {lines[at][:80]!r} lies before the last, or outside")
        out += source[done:start]
        done = _apply_hunk(source, start, lines[at + 1 : stop], out, path)
        at = stop
    return b"".join(out + source[done:])


def _apply_hunk(
    source: list[bytes], at: int, lines: list[bytes], out: list[bytes], path: str
) -> int:
    for number, line in enumerate(lines):
        sign, text = line[:1], line[1:]
        if sign == b"\\":
            continue
        ended = number + 1 < len(lines) and lines[number + 1] == _NO_NEWLINE
        text = text if ended else text + b"\n"
        if sign in {b" ", b"-"}:
            if at >= len(source) or source[at] != text:
                raise BadPatch(f"{path}: line {at + 1} is not what the patch expects")
            at += 1
        if sign in {b" ", b"+"}:
            out.append(text)
    return at


def _split(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    lines = [piece + b"\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines
