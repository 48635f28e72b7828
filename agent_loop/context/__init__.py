"""What a worker sees of a project: a ranked map, the files that matter, an account of the rest."""

from collections.abc import Iterable, Mapping

from agent_loop.context.ranking import Question
from agent_loop.context.show import Body, Shown, show, whole
from agent_loop.context.sources import Cache

__all__ = ["Body", "Cache", "Question", "Shown", "bodies_of", "show"]


def bodies_of(files: Mapping[str, bytes], paths: Iterable[str], *, budget_chars: int) -> str:
    """The present text of some files, for a later lap: what does not fit is named instead."""
    parts: list[str] = []
    left = budget_chars
    for path in paths:
        text = whole(path, files[path]) if path in files else f"{path} is deleted\n"
        if len(text) > left:
            text = f"{path} is not shown again: it is too long\n"
        parts.append(text)
        left -= len(text)
    return "".join(parts)
