"""All entries, in order of their dates."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from ledger.entries import Entry, parse_line


class Book:
    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = sorted(entries, key=lambda entry: entry.date)

    @classmethod
    def read(cls, text: str) -> Book:
        """Raises ValueError naming the line."""
        entries = []
        for number, line in enumerate(text.splitlines()):
            try:
                entry = parse_line(line)
            except ValueError as problem:
                raise ValueError(f"line {number}: {problem}") from problem
            if entry is not None:
                entries.append(entry)
        return cls(entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def between(self, first: datetime.date, last: datetime.date) -> Book:
        """The entries of a span, both days included."""
        return Book(entry for entry in self if first <= entry.date < last)
