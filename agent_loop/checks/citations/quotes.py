"""One quoted span against the papers cited beside it."""

from collections.abc import Sequence
from dataclasses import replace

from agent_loop.checks.citations.blocks import Paragraph, visible
from agent_loop.checks.citations.judgement import QuoteFinding, QuoteStatus
from agent_loop.checks.citations.match import (
    MIN_FRAGMENT_WORDS,
    Near,
    Source,
    fragments,
    locate,
    nearest,
    scattered,
    sources,
    strange,
)
from agent_loop.checks.citations.spans import Span
from agent_loop.research import Paper, PaperId, Search
from agent_loop.research.words import MIN_WORDS, words


def judge_quote(
    part: Paragraph, span: Span, text: str, cited: Sequence[PaperId], search: Search
) -> QuoteFinding:
    """The finding for the span, whose words are `text`, beside the papers `cited`."""
    beside = [paper for paper in search.papers if paper.id in cited]
    others = [paper for paper in search.papers if paper.id not in cited]
    base = QuoteFinding(
        paragraph=part.number,
        start=part.start + span.start,
        end=part.start + span.end,
        text=visible(" ".join(text.split())),
        status="not found",
    )
    if not span.closed:
        problem = "the quotation mark has no partner in its paragraph"
        return replace(base, status="not closed", problem=problem)
    places = tuple(
        place
        for paper in beside
        if (place := next(filter(None, (locate(text, one) for one in sources(paper))), None))
    )
    if words(text) < MIN_WORDS:
        return replace(base, status="short", places=places)
    if places:
        return replace(base, status="verified", places=places)
    titles = tuple(
        place for paper in beside if (place := locate(text, Source(paper=paper, text=paper.title)))
    )
    if titles:
        return replace(base, status="title", places=titles)
    return _missed(base, text, beside, others)


def _missed(
    base: QuoteFinding, text: str, beside: Sequence[Paper], others: Sequence[Paper]
) -> QuoteFinding:
    near_by = [one for paper in beside for one in sources(paper)]
    elsewhere = [paper for paper in others if any(locate(text, one) for one in sources(paper))]
    if elsewhere:
        status: QuoteStatus = "other paper" if beside else "no citation"
        where = f"it stands in arXiv:{elsewhere[0].id}, which this paragraph does not cite"
        return replace(base, status=status, problem=where)
    if not beside:
        problem = "this paragraph cites no fetched paper that it could come from"
        near = nearest(text, [one for paper in others for one in sources(paper)])
        return replace(base, status="no citation", problem=problem, near=near)
    parts = fragments(text)
    if len(parts) > 1 and any(words(part) < MIN_FRAGMENT_WORDS for part in parts):
        problem = f"a part between dots is shorter than {MIN_FRAGMENT_WORDS} words"
        return replace(base, status="short fragment", problem=problem)
    if any(scattered(text, one) for one in near_by):
        problem = "its parts stand in the abstract, but not in this order"
        return replace(base, status="wrong order", problem=problem)
    near = nearest(text, near_by) or nearest(text, [s for paper in others for s in sources(paper)])
    return replace(base, status="not found", problem=_why(near), near=near)


def _why(near: Near | None) -> str:
    if near is None:
        return "nothing like it stands in the cited papers"
    odd = strange(near.wrote, near.stands)
    if odd:
        return f"it holds the look-alike or invisible character {odd}"
    if near.wrote and near.stands:
        return f"you wrote {visible(near.wrote)!r} where the paper has {visible(near.stands)!r}"
    if near.wrote:
        return f"{visible(near.wrote)!r} does not stand there"
    if near.stands:
        return f"you left out {visible(near.stands)!r}; mark an omission with …"
    return "its punctuation differs, or it begins or ends in the middle of a word or number"
