"""A source file as text whose spans can be replaced while every line keeps its number."""

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_loop import syntax


def words(text: str) -> frozenset[str]:
    """A set of names, written as one readable text."""
    return frozenset(text.split())


class Spanned(Protocol):
    """Any syntax node that knows where it stands."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace the UTF-8 bytes `start` to `end` by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One decoded Python file and the encoding it must be written back in."""

    text: str
    encoding: str = "utf-8"

    @classmethod
    def decode(cls, data: bytes) -> "Source":
        """By its coding line or byte-order mark.

        Raises:
            SyntaxError: no such encoding, or bytes that are not of it.
        """
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            return cls(text=data.decode(encoding), encoding=encoding)
        except (UnicodeDecodeError, LookupError) as error:
            raise SyntaxError(f"the file cannot be decoded: {error}") from error

    def encode(self) -> bytes:
        return self.text.encode(self.encoding)

    def tree(self) -> ast.Module:
        """Parse.

        Raises:
            SyntaxError: also for text that Python cannot take in (null bytes, too deep).
        """
        try:
            return syntax.parse(self.text)
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(f"the file cannot be parsed: {error}") from error

    def with_text(self, text: str) -> "Source":
        return Source(text=text, encoding=self.encoding)


class Spans:
    """Byte offsets of the nodes of one text.

    Lines are split at a newline only: `str.splitlines` also splits at form feeds and U+2028,
    which shifts every line number behind them. Columns of `ast` count UTF-8 bytes.
    """

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self._starts = [0]
        for line in self.data.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Of a 1-based line and a 0-based byte column."""
        return self._starts[line - 1] + column

    def of(self, node: Spanned) -> tuple[int, int]:
        end_line, end_column = node.end_lineno, node.end_col_offset
        if end_line is None or end_column is None:
            raise SyntaxError("a syntax node without an end")
        return self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)

    def text(self, node: Spanned) -> str:
        start, end = self.of(node)
        return self.data[start:end].decode()

    def line_end(self, offset: int) -> int:
        found = self.data.find(b"\n", offset)
        return len(self.data) if found < 0 else found

    def replace(self, edits: Sequence[Edit]) -> str:
        """The text with every edit made; edits must not overlap."""
        data = self.data
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return data.decode()
