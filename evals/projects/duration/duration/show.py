"""Seconds to text."""

from duration.parse import UNITS


def show(seconds):
    """The shortest text that `parse` reads as so many seconds; `0s` for none."""
    if seconds < 0:
        raise ValueError("a duration is not negative")
    parts = []
    for unit, size in UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
