"""Is a text that a reply gives for a file the whole file?"""

from collections.abc import Sequence

from agent_loop.edits import pysource
from agent_loop.edits.elision import elided_line, lost_definitions, shrunk
from agent_loop.edits.proposals import Whole
from agent_loop.edits.textfile import TextFile

SMALLER = "Send SEARCH/REPLACE blocks with only the lines that change."


def complete_python(path: str, lines: Sequence[str]) -> bool:
    return path.endswith(".py") and pysource.is_python("\n".join(lines))


def why_not_whole(edit: Whole, path: str, text: TextFile) -> str:
    """What speaks against writing this text over the file there."""
    if edit.must_be_new and any(map(str.strip, text.lines)):
        return f"{path} exists; a diff against /dev/null cannot change it."
    elided = elided_line(edit.lines, text.lines)
    if elided:
        return f"{elided!r} stands for lines of {path} that you left out. {SMALLER}"
    if shrunk(edit.lines, text.lines):
        return (
            f"your {path} has {len(edit.lines)} lines, the one there has {len(text.lines)}: "
            f"it was cut, or is only a part. {SMALLER}"
        )
    if not edit.closed and len(edit.lines) * 20 < len(text.lines) * 19:
        return f"the block with {path} was not closed: the reply was cut. {SMALLER}"
    if not edit.closed and path.endswith(".py") and not complete_python(path, edit.lines):
        return f"the block with {path} was not closed: the reply was cut. {SMALLER}"
    lost = _lost(path, edit.lines, text.lines)
    if lost:
        names = ", ".join(sorted(lost)[:6])
        return f"your {path} no longer defines {names}: it is only a part of the file. {SMALLER}"
    return ""


def is_part(path: str, new: Sequence[str], old: Sequence[str]) -> bool:
    """Python, clearly shorter than the file, without a sign of lines left out."""
    return (
        path.endswith(".py")
        and len(new) * 10 <= len(old) * 7
        and not elided_line(new, old)
        and bool(_names_lost(new, old))
    )


def _names_lost(new: Sequence[str], old: Sequence[str]) -> frozenset[str]:
    before, after = pysource.parse("\n".join(old)), pysource.parse("\n".join(new))
    if isinstance(before, pysource.Broken) or isinstance(after, pysource.Broken):
        return frozenset()
    return pysource.members(before) - pysource.members(after)


def _lost(path: str, new: Sequence[str], old: Sequence[str]) -> frozenset[str]:
    if not path.endswith(".py") or len(new) * 10 > len(old) * 7:
        return frozenset()
    before, after = pysource.parse("\n".join(old)), pysource.parse("\n".join(new))
    if isinstance(before, pysource.Broken) or isinstance(after, pysource.Broken):
        return frozenset()
    return lost_definitions(pysource.defined_names(after), pysource.defined_names(before))
