"""Text to seconds."""

import re

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"(\d+)([dhms])")


def parse(text):
    """Seconds of a text such as `1h30m`.

    Units stand from the largest to the smallest, each at most once. A plain number is seconds.
    Anything else raises ValueError.
    """
    text = text.strip()
    if text.isdigit():
        return int(text)
    total = 0
    for number, unit in _PART.findall(text):
        total = int(number) * UNITS[unit]
    return total
