"""Unified diffs as models write them: wrong counts, no counts, other dialects.

Numbers in hunk headers are never trusted: a hunk is the lines it holds. The stated line only
decides between several equal places.
"""

import re
from dataclasses import dataclass, field

from agent_loop.edits.proposals import Delete, Move, Place, Proposal, Replace, Whole

_HUNK = re.compile(r"^@@(?: -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})?)?(?: @@|@@|\s|$)")
_V4A = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+)$")
_GIT_NAMES = re.compile(r"^diff --git (?:a/)?(\S+) (?:b/)?(\S+)$")
_FENCE = re.compile(r"^\s{0,3}(?:`{3,}|~{3,})")
_QUOTED = re.compile(r"\\(?:([0-7]{3})|(.))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b"}


@dataclass(slots=True)
class _Section:
    """One file of a diff."""

    old: str | None = None
    new: str | None = None
    creates: bool = False
    deletes: bool = False
    renames: bool = False
    executable: bool = False
    binary: bool = False
    hunks: list["_Hunk"] = field(default_factory=list)


@dataclass(slots=True)
class _Hunk:
    at: int | None
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Parsed:
    proposals: list[Proposal] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def has_diff(lines: list[str]) -> bool:
    """A hunk header with a file header before it, or the `*** Begin Patch` dialect."""
    named = False
    for number, line in enumerate(lines):
        named = named or _is_header(lines, number) or line.startswith("diff --git ")
        if _V4A.match(line[:500]) or (named and line.startswith("@@")):
            return True
        if line.startswith(("deleted file mode", "rename to ", "GIT binary patch")):
            return True
        if line.startswith("+++ /dev/null") and named:
            return True
    return False


def parse(lines: list[str]) -> Parsed:
    """Every file section of a reply."""
    reader = _Reader(lines)
    reader.run()
    parsed = Parsed()
    for number, section in enumerate(reader.sections, start=1):
        _take(parsed, section, number)
    return parsed


def _is_header(lines: list[str], number: int) -> bool:
    """`--- a` followed by `+++ b`: a removed line that begins with `-- ` looks like the first."""
    return (
        lines[number].startswith("--- ")
        and number + 1 < len(lines)
        and lines[number + 1].startswith("+++ ")
    )


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.sections: list[_Section] = []
        self.hunk: _Hunk | None = None
        self.section: _Section | None = None

    def run(self) -> None:
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            if _is_header(self.lines, at):
                self._files(line[4:], self.lines[at + 1][4:])
                at += 2
                continue
            if _FENCE.match(line[:200]):
                self.hunk = None
            elif not self._header(line) and self.hunk is not None:
                self.hunk.lines.append(line)
            at += 1

    def _files(self, old: str, new: str) -> None:
        self.hunk = None
        if self.section is None or self.section.hunks or self.section.old is None:
            self._begin()
        section = self.section
        if section is None:
            return
        section.old, section.new = _path(old), _path(new)
        section.creates = section.creates or section.old is None
        section.deletes = section.deletes or section.new is None
        if section.old is not None and section.new is not None and not section.renames:
            section.renames = _stripped(section.old) != _stripped(section.new)

    def _begin(self) -> None:
        self.section = _Section()
        self.sections.append(self.section)
        self.hunk = None

    def _header(self, line: str) -> bool:
        """Take a header line; False for the text of a hunk."""
        if line.startswith("diff --git "):
            self._begin()
            self._git_names(line)
        elif _V4A.match(line[:500]):
            self._v4a(line)
        elif line.startswith("*** ") and line.startswith(("*** End", "*** Begin")):
            self.hunk = None
        elif line.startswith("@@") and self.section is not None:
            match = _HUNK.match(line)
            stated = match.group(1) if match else None
            self.hunk = _Hunk(int(stated) - 1 if stated else None)
            self.section.hunks.append(self.hunk)
        elif self.hunk is None and self.section is not None:
            self._extended(self.section, line)
        else:
            return False
        return True

    def _git_names(self, line: str) -> None:
        match = _GIT_NAMES.match(line[:1000])
        if match and self.section:
            self.section.old, self.section.new = match.group(1), match.group(2)

    def _v4a(self, line: str) -> None:
        match = _V4A.match(line[:500])
        self._begin()
        if match is None or self.section is None:
            return
        verb, path = match.group(1), match.group(2).strip()
        self.section.old = self.section.new = path
        self.section.creates, self.section.deletes = verb == "Add", verb == "Delete"
        if verb != "Delete":
            self.hunk = _Hunk(None)
            self.section.hunks.append(self.hunk)

    def _extended(self, section: _Section, line: str) -> None:
        if line.startswith("new file mode"):
            section.creates, section.executable = True, line.rstrip().endswith("755")
        elif line.startswith("deleted file mode"):
            section.deletes = True
        elif line.startswith("rename from "):
            section.renames, section.old = True, _path(line[12:])
        elif line.startswith("rename to "):
            section.renames, section.new = True, _path(line[10:])
        elif line.startswith(("GIT binary patch", "Binary files ")):
            section.binary = True


def _path(text: str) -> str | None:
    """The path of a header line; `None` for /dev/null."""
    text = text.split("\t", 1)[0].strip()
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        text = _unquoted(text[1:-1])
    return None if text in {"/dev/null", "dev/null", "nul"} else text


def _unquoted(text: str) -> str:
    """Git's quoting: octal bytes and C escapes."""
    raw = bytearray()
    at = 0
    while at < len(text):
        match = _QUOTED.match(text, at)
        if match is None:
            raw += text[at].encode("utf-8", "replace")
            at += 1
            continue
        octal, char = match.groups()
        raw += bytes([int(octal, 8) & 255]) if octal else _ESCAPES.get(char, char).encode()
        at = match.end()
    return raw.decode("utf-8", "replace")


def _stripped(path: str) -> str:
    return path[2:] if path.startswith(("a/", "b/")) else path


def _take(parsed: Parsed, section: _Section, number: int) -> None:
    old, new = section.old, section.new
    path = new if new is not None else old
    name = f"the diff of {path[:120]}" if path else f"diff {number}"
    if section.binary:
        parsed.problems.append(f"{name} is binary and cannot be applied")
        return
    if path is None:
        parsed.problems.append(f"{name} names no file")
        return
    hunks = [hunk for hunk in section.hunks if any(line.strip() for line in hunk.lines)]
    if section.creates and not section.deletes:
        _take_new(parsed, section, path, hunks, name)
        return
    if section.deletes:
        parsed.proposals.append(Delete(place=Place(path=old or path, said=path), name=name))
        return
    if section.renames and old is not None and new is not None:
        parsed.proposals.append(Move(place=Place(path=old, said=old), to=_stripped(new), name=name))
    for index, hunk in enumerate(hunks, start=1):
        parsed.proposals.append(_replace(hunk, path, f"hunk {index} of {name}"))


def _take_new(parsed: Parsed, section: _Section, path: str, hunks: list[_Hunk], name: str) -> None:
    lines: list[str] = []
    open_end = None
    body = [line for hunk in hunks for line in _ended(hunk.lines)]
    # Some models forget the plus signs of a new file altogether.
    bare = not any(line.startswith("+") for line in body)
    for line in body:
        if line.startswith("\\ No newline"):
            open_end = True
        elif bare:
            lines.append(line.removeprefix(" "))
        elif line.startswith("+"):
            lines.append(line[1:])
        elif line.startswith("-"):
            parsed.problems.append(f"{name} removes lines from a file that is new")
            return
        else:
            lines.append(line.removeprefix(" "))
    parsed.proposals.append(
        Whole(
            place=Place(path=path, said=path),
            lines=tuple(lines),
            name=name,
            must_be_new=True,
            executable=section.executable,
            open_end=open_end,
        )
    )


def _ended(lines: list[str]) -> list[str]:
    """Without the blank lines and prose that follow a hunk."""
    stop = len(lines)
    while stop and not lines[stop - 1].startswith((" ", "+", "-", "\\", "\t")):
        stop -= 1
    return lines[:stop] if stop else lines


def _replace(hunk: _Hunk, path: str, name: str) -> Replace:
    search: list[str] = []
    new: list[str] = []
    open_end: bool | None = None
    last = ""
    for line in _ended(hunk.lines):
        sign, text = line[:1], line[1:]
        if sign == "+":
            new.append(text)
        elif sign == "-":
            search.append(text)
        elif sign == "\\":
            if last != "-":
                open_end = True
            elif open_end is None:
                open_end = False
        else:
            # A context line whose leading blank was lost starts with its own text.
            kept = text if sign == " " else line
            search.append(kept)
            new.append(kept)
        last = sign
    return Replace(
        place=Place(path=path, said=path),
        search=tuple(search),
        new=tuple(new),
        name=name,
        at=hunk.at,
        open_end=open_end,
    )
