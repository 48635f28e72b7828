"""A small ledger: amounts, entries, accounts, reports."""

from ledger.book import Book
from ledger.entries import Entry, parse_line
from ledger.money import Money
from ledger.report import balances

__all__ = ["Book", "Entry", "Money", "balances", "parse_line"]
