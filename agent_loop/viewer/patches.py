"""A unified diff taken apart for showing: by file and hunk, and side by side. Never applied."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agent_loop.ports import Json

MAX_BYTES = 8 << 20
MAX_LINES = 60_000
MAX_LINE_CHARS = 4_000
MAX_FILES = 2_000
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
Ran = Mapping[str, frozenset[int]]
"""Lines of the changed files that the wanted tests executed."""


@dataclass(slots=True, kw_only=True)
class Shown:
    """One line of a hunk."""

    kind: Literal[" ", "+", "-", "\\"]
    old: int | None
    new: int | None
    text: str
    ran: Literal[True] | None = None


@dataclass(slots=True, kw_only=True)
class Hunk:
    """One hunk; `rows` are the places in `lines` that stand beside each other."""

    header: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: list[Shown] = field(default_factory=list)
    rows: list[tuple[int | None, int | None]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class FileDiff:
    """What changes in one file."""

    old: str | None = None
    new: str | None = None
    binary: bool = False
    old_mode: str = ""
    new_mode: str = ""
    added: int = 0
    removed: int = 0
    hunks: list[Hunk] = field(default_factory=list)


class _Reader:
    """Goes through the lines once; what it does not know it names and passes over."""

    def __init__(self, lines: Sequence[str], ran: Ran | None) -> None:
        self.lines = lines
        self.ran = ran
        self.files: list[FileDiff] = []
        self.problems: list[str] = []
        self.at = 0

    def read(self) -> None:
        while self.at < len(self.lines) and len(self.files) <= MAX_FILES:
            line = self.lines[self.at]
            self.at += 1
            if line.startswith("diff --git "):
                self.files.append(FileDiff())
                old, new = _git_names(line)
                self.files[-1].old, self.files[-1].new = old, new
            elif line.startswith("@@ "):
                self._hunk(line)
            elif line.startswith("--- ") and not self._in_git():
                self.files.append(FileDiff(old=_named(line[4:])))
            elif self.files:
                _header(self.files[-1], line)

    def _in_git(self) -> bool:
        """A plain diff has no `diff --git` line: its `---` begins a file."""
        return bool(self.files) and not self.files[-1].hunks

    def _hunk(self, line: str) -> None:
        head = _HUNK.match(line)
        if head is None or not self.files:
            self._problem(f"line {self.at}: a hunk header that cannot be read")
            return
        old, new = int(head[1]), int(head[3])
        counts = [1 if head[2] is None else int(head[2]), 1 if head[4] is None else int(head[4])]
        hunk = Hunk(
            header=line[:300],
            old_start=old,
            old_count=counts[0],
            new_start=new,
            new_count=counts[1],
        )
        self._fill(hunk, self.files[-1])
        hunk.rows = list(_beside(hunk.lines))
        self.files[-1].hunks.append(hunk)

    def _fill(self, hunk: Hunk, file: FileDiff) -> None:
        old, new = hunk.old_start, hunk.new_start
        old_end, new_end = old + hunk.old_count, new + hunk.new_count
        while self.at < len(self.lines):
            line = self.lines[self.at]
            sign = line[:1] or " "
            if sign == "\\":
                hunk.lines.append(Shown(kind="\\", old=None, new=None, text=line[2:100]))
                self.at += 1
                continue
            if (old >= old_end and new >= new_end) or sign not in " +-":
                break
            self.at += 1
            text = line[1 : MAX_LINE_CHARS + 1]
            if sign == "+":
                ran = self._ran(file.new, new)
                hunk.lines.append(Shown(kind="+", old=None, new=new, text=text, ran=ran))
                file.added += 1
            elif sign == "-":
                hunk.lines.append(Shown(kind="-", old=old, new=None, text=text))
                file.removed += 1
            else:
                hunk.lines.append(Shown(kind=" ", old=old, new=new, text=text))
            old, new = old + (sign != "+"), new + (sign != "-")
        if old != old_end or new != new_end:
            self._problem(f"line {self.at}: a hunk has other counts than its header says")

    def _ran(self, path: str | None, number: int) -> Literal[True] | None:
        """True: it ran. Nobody knows of the others: not every line begins a statement."""
        if self.ran is None or path is None:
            return None
        return True if number in self.ran.get(path, frozenset()) else None

    def _problem(self, text: str) -> None:
        if len(self.problems) < 20:
            self.problems.append(text)


def taken_apart(raw: bytes, ran: Ran | None) -> dict[str, Json]:
    """Files, hunks and lines of a patch, with what could not be read.

    `ran`: by file, the changed lines that tests executed; `None` where nobody wrote it down.
    """
    lines = raw[:MAX_BYTES].decode("utf-8", "replace").split("\n")
    reader = _Reader(lines[:MAX_LINES], ran)
    reader.read()
    return {
        "bytes": len(raw),
        "cut": len(raw) > MAX_BYTES or len(lines) > MAX_LINES,
        "problems": list(reader.problems),
        "files": [_json(file) for file in reader.files[:MAX_FILES]],
    }


def _beside(lines: Sequence[Shown]) -> Iterator[tuple[int | None, int | None]]:
    """Removed lines stand left of the added ones that follow them."""
    left: list[int] = []
    right: list[int] = []
    for at, line in enumerate(lines):
        if line.kind == "-" and not right:
            left.append(at)
        elif line.kind == "+":
            right.append(at)
        elif line.kind != "\\":
            yield from _paired(left, right)
            left, right = ([at], []) if line.kind == "-" else ([], [])
            if line.kind == " ":
                yield at, at
    yield from _paired(left, right)


def _paired(left: list[int], right: list[int]) -> Iterator[tuple[int | None, int | None]]:
    for at in range(max(len(left), len(right))):
        yield (
            left[at] if at < len(left) else None,
            right[at] if at < len(right) else None,
        )


def _header(file: FileDiff, line: str) -> None:
    for prefix, take in _HEADERS.items():
        if line.startswith(prefix):
            take(file, line[len(prefix) :])
            return


def _old(file: FileDiff, rest: str) -> None:
    file.old = _named(rest)


def _new(file: FileDiff, rest: str) -> None:
    file.new = _named(rest)


def _created(file: FileDiff, rest: str) -> None:
    file.old, file.new_mode = None, rest[:10]


def _deleted(file: FileDiff, rest: str) -> None:
    file.new, file.old_mode = None, rest[:10]


def _old_mode(file: FileDiff, rest: str) -> None:
    file.old_mode = rest[:10]


def _new_mode(file: FileDiff, rest: str) -> None:
    file.new_mode = rest[:10]


def _from(file: FileDiff, rest: str) -> None:
    file.old = _unquoted(rest)


def _to(file: FileDiff, rest: str) -> None:
    file.new = _unquoted(rest)


def _binary(file: FileDiff, _: str) -> None:
    file.binary = True


_HEADERS = {
    "--- ": _old,
    "+++ ": _new,
    "new file mode ": _created,
    "deleted file mode ": _deleted,
    "old mode ": _old_mode,
    "new mode ": _new_mode,
    "rename from ": _from,
    "rename to ": _to,
    "Binary files ": _binary,
    "GIT binary patch": _binary,
}


def _status(file: FileDiff) -> str:
    if file.old is None and file.new is not None:
        return "added"
    if file.new is None and file.old is not None:
        return "deleted"
    if file.old != file.new:
        return "renamed"
    return "mode" if file.new_mode and not file.hunks else "modified"


def _named(rest: str) -> str | None:
    name = _unquoted(rest.split("\t")[0].rstrip("\r"))
    if name == "/dev/null":
        return None
    return name[2:] if name.startswith(("a/", "b/")) else name


def _git_names(line: str) -> tuple[str | None, str | None]:
    """Both are the same path unless a rename says otherwise, so the middle parts them."""
    rest = line[len("diff --git ") :].rstrip("\r")
    half = len(rest) // 2
    old, new = _unquoted(rest[:half]), _unquoted(rest[half + 1 :])
    if old[2:] == new[2:] and old.startswith("a/") and new.startswith("b/"):
        return old[2:], new[2:]
    return None, None


def _unquoted(name: str) -> str:
    if not (name.startswith('"') and name.endswith('"') and len(name) > 1):
        return name[:1_000]
    octal = re.compile(rb"\\([0-7]{3})")
    raw = name[1:-1].encode("utf-8", "replace")
    raw = octal.sub(lambda found: bytes([int(found[1], 8) & 255]), raw)
    raw = raw.replace(b'\\"', b'"').replace(b"\\t", b"\t").replace(b"\\\\", b"\\")
    return raw.decode("utf-8", "replace")[:1_000]


def _json(file: FileDiff) -> Json:
    return {
        **{name: getattr(file, name) for name in FileDiff.__slots__ if name != "hunks"},
        "status": _status(file),
        "hunks": [
            {
                **{
                    name: getattr(hunk, name)
                    for name in Hunk.__slots__
                    if name not in ("lines", "rows")
                },
                "lines": [
                    {name: getattr(one, name) for name in Shown.__slots__} for one in hunk.lines
                ],
                "rows": [list(row) for row in hunk.rows],
            }
            for hunk in file.hunks
        ],
    }
