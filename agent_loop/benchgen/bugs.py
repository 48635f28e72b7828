"""A bug as data: which bytes of which files say something else, and where that is."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Read = Callable[[str], bytes]
"""The right content of a file of the library, by its path."""
Where = Literal["function", "import"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Bytes of one file replaced; everything around them stays as it is."""

    path: str
    start: int
    """Offset in bytes in the right file."""
    end: int
    new: bytes

    def applied(self, text: bytes) -> bytes:
        return text[: self.start] + self.new + text[self.end :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One way to be wrong."""

    kind: str
    """The mutator, `combined`, `model` or `history`."""
    edits: tuple[Edit, ...]
    functions: tuple[str, ...]
    """`path::qualified.name` of what holds the sites; `path::<module>` outside functions."""
    where: Where
    """`import`: the site is evaluated while the module is imported (defaults, decorators …)."""
    parts: tuple[str, ...] = ()
    """Of a combined bug: the kinds of its sites."""

    @property
    def id(self) -> str:
        """Ten hex digits over the edits."""
        facts = [[one.path, one.start, one.end, one.new.hex()] for one in self.edits]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:10]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.path for one in self.edits))

    def files(self, read: Read) -> dict[str, bytes]:
        """The wrong content of every file it touches."""
        found: dict[str, bytes] = {}
        for edit in sorted(self.edits, key=lambda one: -one.start):
            found[edit.path] = edit.applied(found.get(edit.path) or read(edit.path))
        return found

    def lines(self, read: Read) -> dict[str, frozenset[int]]:
        """Lines of the right files that hold the sites, counted from 1."""
        found: dict[str, set[int]] = {}
        for edit in self.edits:
            text = read(edit.path)
            first = text.count(b"\n", 0, edit.start) + 1
            last = first + text[edit.start : max(edit.end - 1, edit.start)].count(b"\n")
            found.setdefault(edit.path, set()).update(range(first, last + 1))
        return {path: frozenset(lines) for path, lines in found.items()}


def combined(bugs: Sequence[Bug]) -> Bug | None:
    """All of them at once; `None` where two would touch the same bytes."""
    edits = sorted(
        (edit for bug in bugs for edit in bug.edits), key=lambda one: (one.path, one.start)
    )
    for one, next_one in pairwise(edits):
        if one.path == next_one.path and next_one.start <= one.end:
            return None
    return Bug(
        kind="combined",
        edits=tuple(edits),
        functions=tuple(sorted({name for bug in bugs for name in bug.functions})),
        where="import" if any(bug.where == "import" for bug in bugs) else "function",
        parts=tuple(sorted(bug.kind for bug in bugs)),
    )


def changes_code(bug: Bug, read: Read, known: Mapping[str, object]) -> str:
    """Digest of what Python makes of the wrong files; empty where nothing differs or parses.

    Args:
        bug: the bug.
        read: the right contents.
        known: the right files, compiled.
    """
    seen = hashlib.sha256()
    differs = False
    for path, text in sorted(bug.files(read).items()):
        try:
            code = compile(text, path, "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError, RecursionError):
            return ""
        differs = differs or code != known.get(path)
        seen.update(f"{path}\0".encode() + text)
    return seen.hexdigest() if differs else ""
