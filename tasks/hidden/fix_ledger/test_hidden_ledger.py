import datetime

import pytest

from ledger import Book, Money, balances


@pytest.mark.parametrize("text", ["-0.05", "-7.10", "0.99", "-100.01", "12.00"])
def test_text_comes_back(text):
    assert str(Money.parse(text)) == text


def test_third_line():
    with pytest.raises(ValueError, match="line 3: "):
        Book.read("; one\n\n2026-13-01 a > b 1.00\n")


def test_one_day_and_negative_balance():
    book = Book.read("2026-03-01 a > b 0.25\n2026-03-02 a > b 0.50\n")
    day = book.between(datetime.date(2026, 3, 2), datetime.date(2026, 3, 2))
    assert [str(money) for money in balances(day).values()] == ["-0.50", "0.50"]
