"""What is wrong with an answer, in sentences the worker can act on."""

import re
from collections.abc import Iterator

from agent_loop.checks.citations.judgement import Judgement, QuoteFinding
from agent_loop.research.words import MIN_WORDS

_SHOWN = 160


def complaints(found: Judgement) -> tuple[str, ...]:
    """One sentence or two for each problem, in the order of the answer."""
    return tuple(_all(found))


def _all(found: Judgement) -> Iterator[str]:
    if not found.citations:
        yield "No paper is cited: write [arXiv:ID] beside each claim, with a quote."
    for one in found.citations:
        if one.status != "fetched":
            yield f"Paragraph {one.paragraph}: citation {one.raw!r}: {one.problem}."
    for quote in found.quotes:
        if quote.status not in ("verified", "title", "short"):
            yield _quote(quote)
    for identity in found.unquoted:
        yield (
            f"arXiv:{identity} is cited without a verified quote: quote at least {MIN_WORDS} words "
            "of its abstract, word for word, in the paragraph that cites it, or do not cite it."
        )
    for number in found.withdrawn_only:
        yield (
            f"Paragraph {number}: its only evidence is a withdrawn paper: quote another one too, "
            "or leave the claim out."
        )
    for loose in found.numbers:
        fix = "quote the sentence that has it, or leave it out"
        if re.fullmatch(r"[Ss][0-9]{1,4}", loose.token):
            fix = f"cite a sentence in square brackets, after what it supports: [{loose.token}]"
        yield (
            f"Paragraph {loose.paragraph}: the number {loose.token!r} (in '{loose.context}') is in "
            f"no verified quote: {fix}."
        )


def _quote(quote: QuoteFinding) -> str:
    text = f'Paragraph {quote.paragraph}: quote "{_short(quote.text)}": {quote.problem}.'
    if quote.near is not None:
        where = f"arXiv:{quote.near.source.paper.id}"
        text += f' The closest real words, in {where}: "{_short(quote.near.text)}".'
    return text


def _short(text: str) -> str:
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]} … {text[-_SHOWN:]}"
