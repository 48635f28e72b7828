"""Ids of steps that keep rising, also when the machine's clock was set back."""

from uuid import UUID

from langgraph.checkpoint.base import id as ids

_LATEST_TIME = 1 << 59
"""Of an id, in 100 ns since 1582: the year 3400. A later one was made up."""


def go_on_after(step_id: object) -> None:
    """Let every id that this process makes from now on be later than this one.

    Ids are times (UUID version 6) and the newest step is the one with the greatest id: steps after
    a clock that went back would be saved and never found. langgraph keeps its ids rising within a
    process only, by this number of its own.
    """
    try:
        number = UUID(str(step_id)).int
    except ValueError:
        return  # an id that is none: whoever looks at the step refuses it
    newest = ((number >> 80) << 12) | ((number >> 64) & 0x0FFF)
    if newest < _LATEST_TIME:
        known = vars(ids)
        known["_last_v6_timestamp"] = max(newest, known["_last_v6_timestamp"] or 0)
