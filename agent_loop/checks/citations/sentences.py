"""The sentences of an answer that stand on no paper."""

import re
from collections.abc import Sequence

from agent_loop.checks.citations.blocks import Paragraph, visible
from agent_loop.checks.citations.judgement import CitationFinding

_END = re.compile(r"[.!?…][\"”’')\]*_]*(?=\s)")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|cf|et al|vs|Fig|Eq|Sec|resp|approx|[A-Z])\.\Z")

_LONGEST_ABBREVIATION = 16
"""Characters, the one before it included: all that is looked at, in an answer of full stops."""


def uncited(
    parts: Sequence[Paragraph], citations: Sequence[CitationFinding]
) -> tuple[tuple[str, ...], int]:
    """Sentences without a citation, as written, and how many sentences there are in all."""
    listed: list[str] = []
    count = 0
    for part in parts:
        if part.heading:
            continue
        marks = [
            (one.start - part.start, one.end - part.start)
            for one in citations
            if one.paragraph == part.number
        ]
        for start, end in _sentences(part.text, marks):
            count += 1
            if not any(start <= a < end for a, _ in marks):
                listed.append(visible(" ".join(part.text[start:end].split())))
    return tuple(listed), count


def _sentences(text: str, marks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of sentences; one that is nothing but citations belongs to the one before."""
    found: list[tuple[int, int]] = []
    start = 0
    edges = [match.end() for match in _END.finditer(text) if not _inner(text, match, marks)]
    for end in [*edges, len(text)]:
        piece = text[start:end]
        own = list(piece)
        for a, b in marks:
            for at in range(max(a, start), min(b, end)):
                own[at - start] = " "
        if not any(char.isalnum() for char in own) and found:
            found[-1] = (found[-1][0], end)
        elif re.search(r"\w", piece):
            found.append(_led(text, start, end, marks, found))
        start = end
    return found


def _led(
    text: str,
    start: int,
    end: int,
    marks: Sequence[tuple[int, int]],
    found: list[tuple[int, int]],
) -> tuple[int, int]:
    """`... said so." [arXiv:ID] Next ...`: the leading citation goes to the sentence before."""
    for a, b in marks:
        if found and start <= a < end and not re.search(r"\w", text[start:a]):
            found[-1] = (found[-1][0], b)
            start = b
    return start, end


def _inner(text: str, match: re.Match[str], marks: Sequence[tuple[int, int]]) -> bool:
    if any(a <= match.start() < b for a, b in marks):
        return True
    before = text[max(0, match.start() - _LONGEST_ABBREVIATION) : match.start() + 1]
    return _ABBREVIATION.search(before) is not None
