"""One line of a log: `2026-01-02T10:00:00 WARNING disk is nearly full`."""

import datetime
from collections import namedtuple

LEVELS = ["debug", "info", "warning", "error"]

Line = namedtuple("Line", "time level message")


def parse(text):
    """The parts of a line; `None` for a line that is none."""
    parts = text.rstrip("\n").split(" ", 2)
    if len(parts) != 3 or parts[1].lower() not in LEVELS:
        return None
    try:
        time = datetime.datetime.fromisoformat(parts[0])
    except ValueError:
        return None
    return Line(time, parts[1].lower(), parts[2])


def read(file):
    for text in file:
        line = parse(text)
        if line is not None:
            yield line
