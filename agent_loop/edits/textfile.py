"""A text file as lines that keep their own bytes: line ends, byte-order mark, encoding."""

import difflib
import io
import tokenize
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

_BOM = b"\xef\xbb\xbf"
_ALIGN_LIMIT = 250_000


class NotText(ValueError):
    """The file is binary, or the new text does not fit its encoding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """One file, split at newlines only. `ends[i]` is what follows `lines[i]`."""

    lines: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    bom: bool = False
    encoding: str = "utf-8"

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Raises NotText for a binary file."""
        if b"\0" in data:
            raise NotText("it is a binary file")
        bom = data.startswith(_BOM)
        text, encoding = _decode(data[3:] if bom else data)
        lines, ends = [], []
        pieces = text.split("\n")
        for piece in pieces[:-1]:
            line = piece.rstrip("\r")
            lines.append(line)
            ends.append(piece[len(line) :] + "\n")
        if pieces[-1]:
            lines.append(pieces[-1])
            ends.append("")
        return cls(lines=tuple(lines), ends=tuple(ends), bom=bom, encoding=encoding)

    def write(self) -> bytes:
        """Raises NotText when a character does not fit the file's encoding."""
        text = "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as problem:
            raise NotText(f"{problem.object[problem.start]!r} is no {self.encoding}") from problem
        return _BOM + data if self.bom else data

    @property
    def usual_end(self) -> str:
        counted = Counter(end for end in self.ends if end)
        return counted.most_common(1)[0][0] if counted else "\n"

    def splice(self, start: int, stop: int, new: Sequence[str], *, loose: bool = False) -> Self:
        """Put `new` in place of lines[start:stop]. Lines that stay keep their own bytes.

        `loose`: lines that differ only in trailing blanks count as the same.
        """
        old, fallback = self.lines[start:stop], self._end_near(start)
        lines, ends = list(new), [fallback] * len(new)
        old_ends, behind = self.ends[start:stop], 0
        for at, source in enumerate(self._kept(old, new, loose=loose)):
            if source is not None:
                lines[at] = old[source]
            behind = source if source is not None else behind
            # A changed line ends as the line did that stood in its place.
            ends[at] = (old_ends[behind] if behind < len(old_ends) else "") or fallback
            behind += 1
        all_lines = [*self.lines[:start], *lines, *self.lines[stop:]]
        all_ends = [*self.ends[:start], *ends, *self.ends[stop:]]
        open_end = bool(self.ends) and not self.ends[-1]
        all_ends[:-1] = [end or fallback for end in all_ends[:-1]]
        if open_end and all_ends and (new or stop < len(self.lines)):
            all_ends[-1] = ""
        return replace(self, lines=tuple(all_lines), ends=tuple(all_ends))

    def _end_near(self, at: int) -> str:
        for near in (at, at - 1):
            if 0 <= near < len(self.ends) and self.ends[near]:
                return self.ends[near]
        return self.usual_end

    def _kept(self, old: Sequence[str], new: Sequence[str], *, loose: bool) -> list[int | None]:
        if not loose and len(set(self.ends) - {""}) < 2:
            return [None] * len(new)
        if loose:
            return align([line.rstrip() for line in old], [line.rstrip() for line in new])
        return align(old, new)


def align(old: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """For each new line the old line it is, if it is one."""
    found: list[int | None] = [None] * len(new)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        found[head] = head
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        found[len(new) - 1 - tail] = len(old) - 1 - tail
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(middle_old) * len(middle_new) <= _ALIGN_LIMIT:
        for block in difflib.SequenceMatcher(None, middle_old, middle_new).get_matching_blocks():
            for step in range(block.size):
                found[head + block.b + step] = head + block.a + step
    return found


def _decode(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data.decode(encoding), encoding
    except (SyntaxError, UnicodeDecodeError, LookupError):
        # Every byte is a character there, so untouched lines come out as they went in.
        return data.decode("latin-1"), "latin-1"
