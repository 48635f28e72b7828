"""Writes the difference of two trees as a patch for `git apply`, and reads it back.

Git itself is not run: a project's configuration, attributes and hooks must not matter. Every patch
is applied to the first tree in memory before it is handed out; one that fails is not handed out.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_loop.errors import ReplyError
from agent_loop.workspace.patchread import BadPatch, applied
from agent_loop.workspace.quoting import quoted

_CONTEXT = 3
_ALIGN_LIMIT = 4_000_000


class PatchRefused(ReplyError):
    """The change cannot be written as a patch of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """One regular file."""

    data: bytes
    executable: bool = False


def write_patch(before: Mapping[str, FileState], after: Mapping[str, FileState]) -> bytes:
    """The patch that makes `after` out of `before`; empty when nothing differs.

    Raises:
        PatchRefused: a changed file is binary, or the patch fails its own round trip.
    """
    changed = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    # Deletions first: a file may have to make room for a folder of its name.
    changed.sort(key=lambda path: path in after)
    patch = b"".join(_file(path, before.get(path), after.get(path)) for path in changed)
    _check(patch, before, after, changed)
    return patch


def _check(
    patch: bytes,
    before: Mapping[str, FileState],
    after: Mapping[str, FileState],
    changed: Sequence[str],
) -> None:
    """Apply the patch to the files it is about and compare."""
    old = {path: (before[path].data, before[path].executable) for path in changed if path in before}
    new = {path: (after[path].data, after[path].executable) for path in changed if path in after}
    try:
        result = applied(patch, old)
    except BadPatch as problem:
        raise PatchRefused(f"The patch does not apply to its own project: {problem}.") from problem
    if result != new:
        wrong = sorted(path for path in {*result, *new} if result.get(path) != new.get(path))
        raise PatchRefused(f"The patch does not give back the working copy: {', '.join(wrong)}.")


def _file(path: str, old: FileState | None, new: FileState | None) -> bytes:
    for state in (old, new):
        if state is not None and b"\0" in state.data:
            raise PatchRefused(
                f"{path} is a binary file; changes.patch holds text only. Leave binary files alone."
            )
    head = [f"diff --git {quoted('a/' + path)} {quoted('b/' + path)}"]
    if old is None and new is not None:
        head.append(f"new file mode {_mode(new)}")
    elif new is None and old is not None:
        head.append(f"deleted file mode {_mode(old)}")
    elif old is not None and new is not None and old.executable != new.executable:
        head += [f"old mode {_mode(old)}", f"new mode {_mode(new)}"]
    hunks = b"".join(_hunks(old.data if old else b"", new.data if new else b""))
    if hunks:
        head.append(f"--- {_name('a/' + path) if old else '/dev/null'}")
        head.append(f"+++ {_name('b/' + path) if new else '/dev/null'}")
    return "".join(line + "\n" for line in head).encode() + hunks


def _mode(state: FileState) -> str:
    return "100755" if state.executable else "100644"


def _name(path: str) -> str:
    """Git ends a name that holds a blank with a tab, so that a time stamp cannot be meant."""
    text = quoted(path)
    return text + "\t" if " " in text and not text.startswith('"') else text


def _lines(data: bytes) -> list[bytes]:
    """Split at newlines only, newline kept."""
    pieces = data.split(b"\n")
    lines = [piece + b"\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _hunks(old: bytes, new: bytes) -> Iterator[bytes]:
    old_lines, new_lines = _lines(old), _lines(new)
    for group in _groups(old_lines, new_lines):
        start_old, stop_old = group[0][1], group[-1][2]
        start_new, stop_new = group[0][3], group[-1][4]
        yield (f"@@ -{_range(start_old, stop_old)} +{_range(start_new, stop_new)} @@\n").encode()
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_signed(b" ", line) for line in old_lines[i1:i2])
                continue
            yield from (_signed(b"-", line) for line in old_lines[i1:i2])
            yield from (_signed(b"+", line) for line in new_lines[j1:j2])


def _signed(sign: bytes, line: bytes) -> bytes:
    if line.endswith(b"\n"):
        return sign + line
    return sign + line + b"\n\\ No newline at end of file\n"


def _range(start: int, stop: int) -> str:
    """`first,count` from 1; an empty range names the line before it."""
    count = stop - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


_Opcode = tuple[str, int, int, int, int]


def _groups(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[list[_Opcode]]:
    """Opcodes with three lines of context, as hunks."""
    opcodes = _opcodes(old, new)
    if all(tag == "equal" for tag, *_ in opcodes):
        return
    group: list[_Opcode] = []
    for number, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        first, last = number == 0, number == len(opcodes) - 1
        keep_head = 0 if first else min(_CONTEXT, i2 - i1)
        keep_tail = 0 if last else min(_CONTEXT, i2 - i1)
        if not first and not last and i2 - i1 <= 2 * _CONTEXT:
            group.append((tag, i1, i2, j1, j2))
            continue
        if keep_head:
            group.append((tag, i1, i1 + keep_head, j1, j1 + keep_head))
        if not first and not last:
            yield group
            group = []
        if keep_tail:
            group.append((tag, i2 - keep_tail, i2, j2 - keep_tail, j2))
    if group:
        yield group


def _opcodes(old: Sequence[bytes], new: Sequence[bytes]) -> list[_Opcode]:
    """Equal ends taken off first; a middle too large to compare is replaced as a whole."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    stop_old, stop_new = len(old) - tail, len(new) - tail
    found: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
    if (stop_old - head) * (stop_new - head) > _ALIGN_LIMIT:
        found.append(("replace", head, stop_old, head, stop_new))
    else:
        matcher = difflib.SequenceMatcher(None, old[head:stop_old], new[head:stop_new])
        found += [
            (tag, i1 + head, i2 + head, j1 + head, j2 + head)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        ]
    if tail:
        found.append(("equal", stop_old, len(old), stop_new, len(new)))
    return found
