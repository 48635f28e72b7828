"""What stands where."""

from __future__ import annotations

from ledger.book import Book
from ledger.money import Money


def balances(book: Book) -> dict[str, Money]:
    """Balance of every account, by name."""
    found: dict[str, Money] = {}
    for entry in book:
        found[entry.debit] = found.get(entry.debit, Money()) + entry.amount
        found[entry.credit] = found.get(entry.credit, Money()) + -entry.amount
    return dict(sorted(found.items()))


def table(book: Book) -> str:
    """Accounts and balances in two columns, amounts aligned to the right."""
    rows = balances(book)
    wide = max((len(name) for name in rows), default=0)
    amounts = max((len(str(money)) for money in rows.values()), default=0)
    return "\n".join(f"{name:<{wide}}  {money!s:>{amounts}}" for name, money in rows.items())
