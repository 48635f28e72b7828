"""An answer cut into pieces at its citations and quotes, in the order of the text."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent_loop.checks.citations.judgement import CitationFinding, Judgement, QuoteFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of the answer; at most one of `citation` and `quote` is set."""

    text: str
    citation: CitationFinding | None = None
    quote: QuoteFinding | None = None


def pieces(found: Judgement) -> Iterator[Piece]:
    """The whole answer, piece by piece; a citation inside a quote belongs to the quote."""
    marks: list[CitationFinding | QuoteFinding] = [*found.quotes, *found.citations]
    done = 0
    for one in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        start, end = one.start, one.end
        if start < done:
            continue
        if start > done:
            yield Piece(text=found.answer[done:start])
        text = found.answer[start:end]
        if isinstance(one, CitationFinding):
            yield Piece(text=text, citation=one)
        else:
            yield Piece(text=text, quote=one)
        done = end
    if done < len(found.answer):
        yield Piece(text=found.answer[done:])
