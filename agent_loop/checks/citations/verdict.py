"""A judgement as the verdict of a lap: reason, feedback, proofs, looks."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from agent_loop.checks.citations.judgement import Judgement, QuoteFinding
from agent_loop.ports import Look, Proof, Verdict
from agent_loop.research import frozen
from agent_loop.research.words import MIN_WORDS, words

MAX_FEEDBACK_CHARS = 16_000
_MOSTLY = 0.5
_BESIDE_WORDS = 3
_SENTENCE_END = re.compile(r"[.!?;](?=\s|\Z)")
_NEGATION = re.compile(
    r"(?i)\b(?:not|no|never|none|neither|nor|cannot|without|fail(?:s|ed)?|unable|hardly|\w+n['’]t)\b"
)


def verdict_of(found: Judgement, *, numbers: Literal["check", "ignore"], seconds: float) -> Verdict:
    """The verdict on one answer."""
    verified = [quote for quote in found.quotes if quote.status == "verified"]
    proven = f"{_count(len(verified), 'quote')} of {_count(len(found.cited), 'paper')} verified"
    problems = len(found.problems)
    reason = proven if found.passed else f"{_count(problems, 'problem')}: {found.problems[0]}"
    return Verdict(
        passed=found.passed,
        isolation="citations",
        reason=reason[:300],
        feedback=_feedback(found)[:MAX_FEEDBACK_CHARS],
        output="\n".join(listing(found))[:MAX_FEEDBACK_CHARS],
        proofs=tuple(_proofs(found, numbers)),
        looks=tuple(_looks(found, numbers)),
        executed=_executed(found),
        seconds=seconds,
    )


def _executed(found: Judgement) -> tuple[str, ...]:
    """What the verdict rests on: the papers, pinned, and where each verified quote stands."""
    places = [
        f"arXiv:{place.source.paper.id} {_where(place.source.page)} {start}-{end}"
        for quote in found.quotes
        if quote.status == "verified"
        for place in quote.places
        for start, end in place.spans
    ]
    return (f"papers sha256 {frozen.digest(found.search)}", *places)


def _feedback(found: Judgement) -> str:
    if found.passed:
        return "Every cited paper was fetched, every quote stands in its abstract word for word."
    return "\n".join(f"- {problem}" for problem in found.problems)


def listing(found: Judgement) -> Iterator[str]:
    """Each citation, quote, loose number and uncited sentence, one line each."""
    for one in found.citations:
        said = f"{one.raw} - {one.status} {one.problem}"
        yield f"citation, paragraph {one.paragraph}: {said}".rstrip()
    for quote in found.quotes:
        where = ", ".join(
            f"arXiv:{place.source.paper.id} {_where(place.source.page)}" for place in quote.places
        )
        tail = where or quote.problem
        yield f'quote, paragraph {quote.paragraph}: "{quote.text}" - {quote.status} {tail}'.rstrip()
        if quote.near is not None:
            near = quote.near
            yield f'  closest, arXiv:{near.source.paper.id}: "{near.text}"'
    for loose in found.numbers:
        yield f"number, paragraph {loose.paragraph}: {loose.token} - in no verified quote"
    for sentence in found.uncited:
        yield f"no citation: {sentence}"


def _where(page: int | None) -> str:
    return "abstract" if page is None else f"page {page}"


def _proofs(found: Judgement, numbers: Literal["check", "ignore"]) -> Iterator[Proof]:
    strange = [one for one in found.citations if one.status != "fetched"]
    wrong = [q for q in found.quotes if q.status not in ("verified", "title", "short")]
    yield Proof(
        name="every cited paper was fetched",
        held=bool(found.cited) and not strange,
        detail=", ".join(f"arXiv:{identity}" for identity in found.cited),
    )
    yield Proof(
        name="every quote stands in its paper word for word",
        held=not wrong and any(quote.evidence for quote in found.quotes),
        detail=f"{sum(q.status == 'verified' for q in found.quotes)} verified, {len(wrong)} not",
    )
    yield Proof(
        name="every cited paper is quoted",
        held=bool(found.cited) and not found.unquoted and not found.withdrawn_only,
        detail=", ".join(f"arXiv:{identity} is not" for identity in found.unquoted),
    )
    if numbers == "check":
        yield Proof(
            name="every number stands in a quote",
            held=not found.numbers,
            detail=", ".join(one.token for one in found.numbers)[:300],
        )


def _looks(found: Judgement, numbers: Literal["check", "ignore"]) -> Iterator[Look]:
    if numbers == "ignore":
        yield Look(signal="numbers unchecked", detail="the task says numbers: ignore")
    loose = [q.text for q in found.quotes if q.status == "short" and not q.places]
    if loose:
        shown = "; ".join(loose)[:300]
        yield Look(signal="short quotes that stand in no cited paper", detail=shown)
    joined = [q.text for q in found.quotes if q.status == "verified" and _patched(q)]
    if joined:
        detail = "; ".join(joined)[:300]
        yield Look(signal="quotes joined from parts of few words", detail=detail)
    denied = [one for q in found.quotes if q.status == "verified" for one in _denied(q)]
    if denied:
        yield Look(signal="a negation stands just outside a quote", detail="; ".join(denied)[:300])
    if found.sentences and len(found.uncited) > found.sentences * _MOSTLY:
        detail = f"{len(found.uncited)} of {found.sentences} sentences cite nothing"
        yield Look(signal="mostly uncited", detail=detail)
    gone = {place.source.paper.id for q in found.quotes for place in q.places
            if place.source.paper.withdrawn}  # fmt: skip
    if gone:
        detail = ", ".join(f"arXiv:{identity}" for identity in sorted(gone))
        yield Look(signal="quotes a withdrawn paper", detail=detail)


def _patched(quote: QuoteFinding) -> bool:
    return any(
        len(place.spans) > 1
        and any(words(place.source.text[a:b]) < MIN_WORDS for a, b in place.spans)
        for place in quote.places
    )


def _denied(quote: QuoteFinding) -> Iterator[str]:
    """The words beside a quote, or those left out of it, where they may turn its sense around."""
    for place in quote.places:
        text, spans = place.source.text, place.spans
        left_out = [text[a[1] : b[0]] for a, b in pairwise(spans)]
        before = _SENTENCE_END.split(text[: spans[0][0]])[-1].split()[-_BESIDE_WORDS:]
        after = _SENTENCE_END.split(text[spans[-1][1] :])[0].split()[:_BESIDE_WORDS]
        for said in (" ".join(before), *left_out, " ".join(after)):
            if _NEGATION.search(said):
                yield " ".join(said.split())[:80]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
