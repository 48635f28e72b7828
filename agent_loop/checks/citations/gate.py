"""The citation gate: pure functions from an answer and what was fetched to a judgement."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from agent_loop.checks.citations.blocks import Paragraph, hazards, paragraphs, visible
from agent_loop.checks.citations.judgement import (
    CitationFinding,
    Judgement,
    NumberFinding,
    QuoteFinding,
)
from agent_loop.checks.citations.mentions import Mention, mentions
from agent_loop.checks.citations.numbers import numbers
from agent_loop.checks.citations.problems import complaints
from agent_loop.checks.citations.quotes import judge_quote
from agent_loop.checks.citations.sentences import uncited
from agent_loop.checks.citations.spans import Span, spans
from agent_loop.research import PaperId, Search

MAX_ANSWER_CHARS = 16_000
MAX_MARKS = 400
_MARKS = re.compile("[\"＂″ʺ˝‟“„«»「『❝〝‹《〈｢❮⟪⟨﹁﹃”›〟❞ˮ״‴〃‵]|(?<![^\\W_])['‘‚`´❛＇]|``|<<|,,")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")


def judge(
    answer: str, search: Search, *, check_numbers: Literal["check", "ignore"] = "check"
) -> Judgement:
    """Judge an answer by the papers of one search. Never raises on any text."""
    oversized = _oversized(answer)
    parts = () if oversized else paragraphs(answer)
    bases = {paper.id.base for paper in search.papers}
    citations: list[CitationFinding] = []
    quotes: list[QuoteFinding] = []
    masked: list[tuple[Paragraph, str]] = []
    for part in parts:
        named, quoted, rest = _paragraph(part, search, bases)
        citations += named
        quotes += quoted
        masked.append((part, rest))
    loose = () if check_numbers == "ignore" else _loose_numbers(masked, quotes)
    listed, sentence_count = uncited(parts, citations)
    finding = Judgement(
        answer=answer,
        search=search,
        paragraphs=parts,
        citations=tuple(citations),
        quotes=tuple(quotes),
        numbers=loose,
        unquoted=_unquoted(citations, quotes),
        withdrawn_only=_withdrawn_only(quotes),
        uncited=listed,
        sentences=sentence_count,
        problems=(),
    )
    return replace(
        finding,
        problems=(*hazards(_own_words(answer, quotes)), *(oversized or complaints(finding))),
    )


def _own_words(answer: str, quotes: Sequence[QuoteFinding]) -> str:
    """The answer without what papers really say: that may hold anything, and is shown as text."""
    for quote in quotes:
        if quote.status == "verified":
            answer = answer[: quote.start] + "x" * (quote.end - quote.start) + answer[quote.end :]
    return answer


def _oversized(answer: str) -> tuple[str, ...]:
    """More than any answer needs is not read: the work must stay bounded."""
    if len(answer) > MAX_ANSWER_CHARS:
        return (f"The answer has {len(answer)} characters: write at most {MAX_ANSWER_CHARS}.",)
    if len(_MARKS.findall(answer)) > MAX_MARKS:
        return (f"The answer has more than {MAX_MARKS} quotation marks: quote less.",)
    return ()


def _paragraph(
    part: Paragraph, search: Search, bases: set[str]
) -> tuple[list[CitationFinding], list[QuoteFinding], str]:
    """Citations, quotes, and the text that is neither (blanked, same length)."""
    named = mentions(part.text, bases)
    quoted = spans(part)
    inside = {
        span: [one for one in named if span.start <= one.start and one.end <= span.end]
        for span in quoted
    }
    citations = [_cited(part, one, search) for one in named]
    found: list[QuoteFinding] = []
    swallowed: set[int] = set()
    rest = part.text
    for span in quoted:
        outside = _ids(citations, part, [one for one in named if one not in inside[span]])
        whole = judge_quote(part, span, part.text[span.start : span.end], outside, search)
        if inside[span] and whole.status != "verified":
            everywhere = _ids(citations, part, named)
            bare = _without(part.text, span, inside[span])
            whole = judge_quote(part, span, bare, everywhere, search)
        elif inside[span]:
            swallowed |= {part.start + one.start for one in inside[span]}
        found.append(whole)
        if whole.status != "short":
            rest = _blank(rest, span.outer_start, span.outer_end)
    for one in named:
        rest = _blank(rest, one.start, one.end)
    kept = [one for one in citations if one.start not in swallowed]
    return kept, found, rest


def _cited(part: Paragraph, one: Mention, search: Search) -> CitationFinding:
    blank = CitationFinding(
        paragraph=part.number,
        start=part.start + one.start,
        end=part.start + one.end,
        raw=visible(one.raw),
        status="malformed",
        id=one.id,
        problem=one.problem,
    )
    if one.id is None:
        return blank
    same = [paper.id for paper in search.papers if paper.id.base == one.id.base]
    met = [identity for identity in same if one.id.meets(identity)]
    if met:
        return replace(blank, status="fetched", id=met[0])
    if same:
        problem = f"version {one.id.version} was not fetched; the search gave arXiv:{same[0]}"
        return replace(blank, status="other version", problem=problem)
    return replace(blank, status="unknown", problem="no paper of this id was fetched")


def _ids(
    citations: Sequence[CitationFinding], part: Paragraph, named: Sequence[Mention]
) -> tuple[PaperId, ...]:
    places = {part.start + one.start for one in named}
    return tuple(
        dict.fromkeys(
            one.id
            for one in citations
            if one.start in places and one.status == "fetched" and one.id
        )
    )


def _without(text: str, span: Span, named: Sequence[Mention]) -> str:
    """The quoted text without the citations written inside its marks, brackets included."""
    inner = text
    for one in named:
        inner = _blank(inner, one.start, one.end)
    cut = inner[span.start : span.end]
    original = text[span.start : span.end]
    emptied = [
        match
        for match in _BRACKETS.finditer(cut)
        if not re.search(r"\w", match[0])
        and re.search(r"\w", original[match.start() : match.end()])
    ]
    for match in emptied:
        cut = _blank(cut, match.start(), match.end())
    return cut.rstrip(" -–—(")


def _loose_numbers(
    masked: Sequence[tuple[Paragraph, str]], quotes: Sequence[QuoteFinding]
) -> tuple[NumberFinding, ...]:
    stand: set[str] = set()
    for quote in quotes:
        if not quote.evidence:
            continue
        for place in quote.places:
            for start, end in place.spans:
                stand |= {one.token for one in numbers(place.source.text[start:end])}
    loose = []
    for part, rest in masked:
        for one in numbers(rest):
            if one.token not in stand:
                context = rest[max(0, one.start - 40) : one.end + 40]
                loose.append(
                    NumberFinding(
                        paragraph=part.number,
                        token=one.token,
                        context=visible(" ".join(context.split())),
                    )
                )
    return tuple(loose)


def _unquoted(
    citations: Sequence[CitationFinding], quotes: Sequence[QuoteFinding]
) -> tuple[PaperId, ...]:
    proven = {
        place.source.paper.id
        for quote in quotes
        if quote.status == "verified"
        for place in quote.places
    }
    cited = dict.fromkeys(one.id for one in citations if one.status == "fetched" and one.id)
    return tuple(identity for identity in cited if identity not in proven)


def _withdrawn_only(quotes: Sequence[QuoteFinding]) -> tuple[int, ...]:
    verified = [quote for quote in quotes if quote.status == "verified"]
    leaning = {quote.paragraph for quote in verified if not quote.evidence}
    return tuple(sorted(leaning - {quote.paragraph for quote in verified if quote.evidence}))


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
