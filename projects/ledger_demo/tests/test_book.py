import datetime

import pytest

from ledger import Book, Money, balances
from ledger.report import table

TEXT = """\
; nothing on this line
2026-01-31 cash > rent 500.00 ; January
2026-01-01 salary > cash 1200.00
2026-02-28 cash > rent 500.00 ; February
"""


def test_entries_are_in_order():
    assert [entry.note for entry in Book.read(TEXT)] == ["", "January", "February"]


def test_a_wrong_line_is_named_from_one():
    with pytest.raises(ValueError, match="line 2: expected"):
        Book.read("2026-01-01 a > b 1.00\nnonsense\n")


def test_both_days_of_a_span_count():
    span = Book.read(TEXT).between(datetime.date(2026, 1, 1), datetime.date(2026, 1, 31))
    assert len(span) == 2


def test_balances():
    assert balances(Book.read(TEXT)) == {
        "cash": Money(20000),
        "rent": Money(100000),
        "salary": Money(-120000),
    }


def test_table():
    text = table(Book.read("2026-01-01 bank > cash 0.50\n"))
    assert text == "bank  -0.50\ncash   0.50"
