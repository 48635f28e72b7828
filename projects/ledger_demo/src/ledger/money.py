"""Amounts in whole cents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Money:
    cents: int = 0

    @classmethod
    def parse(cls, text: str) -> Money:
        """`12.34`, `-0.50`, `7`.

        Raises:
            ValueError: no amount.
        """
        whole, _, fraction = text.strip().partition(".")
        if not whole.lstrip("+-").isdigit() or not (fraction == "" or fraction.isdigit()):
            raise ValueError(f"no amount: {text!r}")
        if len(fraction) > 2:
            raise ValueError(f"more than two decimals: {text!r}")
        return cls(int(whole) * 100 + int((fraction + "00")[:2]))

    def __add__(self, other: Money) -> Money:
        return Money(self.cents + other.cents)

    def __neg__(self) -> Money:
        return Money(-self.cents)

    def __str__(self) -> str:
        return f"{self.cents // 100}.{self.cents % 100:02d}"

    def split(self, parts: int) -> list[Money]:
        """Shares that differ by one cent at most and add up to the whole."""
        each, left = divmod(self.cents, parts)
        return [Money(each + (1 if n < left else 0)) for n in range(parts)]
