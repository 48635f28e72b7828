"""Lines of a ledger file."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from ledger.money import Money


@dataclass(frozen=True)
class Entry:
    date: datetime.date
    debit: str
    credit: str
    amount: Money
    note: str = ""


def parse_line(line: str) -> Entry | None:
    """`2026-01-31 cash > rent 500.00 ; January`; `None` for blank lines and comments.

    Raises:
        ValueError: the line is wrong.
    """
    text, _, note = line.partition(";")
    if not text.strip():
        return None
    words = text.split()
    if len(words) != 5 or words[2] != ">":
        raise ValueError(f"expected 'DATE FROM > TO AMOUNT', got {text.strip()!r}")
    date, credit, _, debit, amount = words
    return Entry(
        date=datetime.date.fromisoformat(date),
        debit=debit,
        credit=credit,
        amount=Money.parse(amount),
        note=note.strip(),
    )
