"""Numbers among a door's options: what they may be stands in what is said when they are not."""

from argparse import ArgumentTypeError
from collections.abc import Callable

_MOST = 10**9


def whole(low: int, high: int) -> Callable[[str], int]:
    """A `type=` of argparse: a whole number from `low` to `high`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise ArgumentTypeError(f"{text!r:.40} is no whole number from {low} to {high}")
        return value

    return read


def above_zero(unit: str) -> Callable[[str], float]:
    """A `type=` of argparse: so many of a unit, more than none."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 < value < _MOST:  # also refuses nan
            raise ArgumentTypeError(f"{text!r:.40} is no number of {unit} above 0")
        return value

    return read
