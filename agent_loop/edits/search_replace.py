"""SEARCH/REPLACE blocks: the marks, the path above them, and what models do to both."""

import re
from dataclasses import dataclass, field

from agent_loop.edits.pathline import place_above, place_in_comment, place_in_info, place_of
from agent_loop.edits.proposals import Place, Replace
from agent_loop.edits.targets import Known

_START = re.compile(
    r"^\s{0,12}(?:<{3,10}\s*(?:SEARCH|ORIGINAL|OLD|HEAD|FIND)\b|<{5,10}(?=\s*$)|-{3,10}\s*SEARCH\b)"
    r"(.*)$",
    re.IGNORECASE,
)
_MIDDLE = re.compile(r"^\s{0,12}={5,10}\s*(?:REPLACE)?\s*$", re.IGNORECASE)
_END = re.compile(
    r"^\s{0,12}(?:>{3,10}\s*(?:REPLACE|UPDATED|NEW|END)\b|>{5,10}\s*$|\+{3,10}\s*REPLACE\b)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^\s{0,12}(?:`{3,}|~{3,})(.*)$")
_NUMBERED = re.compile(r"^\s*\d{1,6}\s?[|:]\s?")


@dataclass(slots=True)
class Parsed:
    """The blocks of a reply and the text that is left without them."""

    blocks: list[Replace] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    unfinished: bool = False
    """The last block has no end mark."""


def has_marks(lines: list[str]) -> bool:
    """There is a SEARCH mark, and a divider behind it."""
    started = False
    for line in lines:
        started = started or bool(_START.match(line[:200]))
        if started and _MIDDLE.match(line[:200]):
            return True
    return False


def is_mark(line: str) -> bool:
    """No file holds such a line, but a block that was read wrongly does."""
    return bool(_START.match(line[:200]) or _END.match(line[:200]))


def parse(lines: list[str], known: Known) -> Parsed:
    """Every block of a reply. Linear: each line is looked at once or twice."""
    parsed, at, last = Parsed(), 0, None
    while at < len(lines):
        start = _START.match(lines[at][:400])
        if start is None:
            parsed.rest.append(lines[at])
            at += 1
            continue
        stop, body, finished = _body(lines, at + 1)
        number = len(parsed.blocks) + len(parsed.problems) + 1
        place = _place(parsed.rest, start.group(1), body, known) or last
        _take(parsed, body, place, f"block {number}", finished=finished)
        last = place or last
        at = stop
    return parsed


def _body(lines: list[str], at: int) -> tuple[int, list[str], bool]:
    """(line behind the block, its lines, whether its end mark was there)."""
    body: list[str] = []
    divided = False
    while at < len(lines):
        line = lines[at][:200]
        if _END.match(line):
            return at + 1, body, True
        if _START.match(line):
            return at, body, False
        if divided and _FENCE.match(line) and not _opens_inside(body):
            return at, body, False
        divided = divided or bool(_MIDDLE.match(line))
        body.append(lines[at])
        at += 1
    return at, body, False


def _opens_inside(body: list[str]) -> bool:
    """The replacement began with a fence of its own, so this fence ends that one."""
    marks = [number for number, line in enumerate(body) if _MIDDLE.match(line[:200])]
    after = [line for line in body[marks[0] + 1 :] if line.strip()] if marks else []
    return not after or bool(_FENCE.match(after[0][:200]))


def _place(rest: list[str], behind: str, body: list[str], known: Known) -> Place | None:
    """Behind the mark, on the fence above it, in the lines above that."""
    if behind.strip():
        found = place_of(behind.strip().strip(":<>"), known)
        if found is not None:
            return found
    above = rest[-6:]
    if above and (fence := _FENCE.match(above[-1][:400])):
        found = place_in_info(fence.group(1).strip(), known) if fence.group(1).strip() else None
        if found is not None:
            return found
    prose = "\n".join(line for line in above if not _FENCE.match(line[:400]))
    found = place_above(prose, known)
    if found is None and body:
        found = place_in_comment(body[0], known)
        if found is not None and not known.begins_with(found.path, body[0]):
            del body[0]
    return found


def _take(
    parsed: Parsed, body: list[str], place: Place | None, name: str, *, finished: bool
) -> None:
    parsed.unfinished = not finished
    dividers = [number for number, line in enumerate(body) if _MIDDLE.match(line[:200])]
    if not dividers:
        parsed.problems.append(f"{name} has no ======= line between SEARCH and REPLACE")
        return
    # A heading underlined with = may stand in either half: prefer a divider of seven.
    exact = [number for number in dividers if body[number].strip() == "======="]
    split = (exact or dividers)[0]
    search, new = _plain(body[:split]), _plain(body[split + 1 :])
    parsed.blocks.append(
        Replace(place=place or Place(path=None), search=tuple(search), new=tuple(new), name=name)
    )


def _plain(half: list[str]) -> list[str]:
    """Without a fence around it, without line numbers in front."""
    inner = [number for number, line in enumerate(half) if line.strip()]
    if (
        len(inner) >= 2
        and _FENCE.match(half[inner[0]][:200])
        and _FENCE.match(half[inner[-1]][:200])
    ):
        half = half[inner[0] + 1 : inner[-1]]
    full = [line for line in half if line.strip()]
    if len(full) > 1 and all(_NUMBERED.match(line[:40]) for line in full):
        return [_NUMBERED.sub("", line, count=1) for line in half]
    return half
