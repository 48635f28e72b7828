"""One quoted text against the texts of papers: verbatim, in fragments, or how near it came."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_loop.research import Paper, Traced, find, fold, fold_source, invisible, name_of, spaced
from agent_loop.research.words import words

MIN_FRAGMENT_WORDS = 2
"""Single words with dots between them can be made to say anything."""
MAX_REACH_CHARS = 2000
"""How far apart the fragments of one quote may stand in a page of full text."""

_ELLIPSIS = re.compile(
    r"[\[(]\s*(?:…|\.\s?\.\s?\.|\\l?dots)\s*[\])]|…|\.\s?\.\s?\.\.?|\\l?dots\b(?:\{\})?"
)
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,2})(?=\S)(.+?)(?<=\S)\1(?![\w*])", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One text of one paper that may be quoted."""

    paper: Paper
    text: str
    page: int | None = None
    """`None`: the abstract; else the page of the full text, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a quote stands; spans in `source.text`, one for each fragment."""

    source: Source
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """The closest real span to a quote that stands nowhere."""

    source: Source
    span: tuple[int, int]
    ratio: float
    wrote: str
    """The first words that differ, as quoted."""
    stands: str
    """... and as they stand in the source."""

    @property
    def text(self) -> str:
        """The real words, on one line."""
        return " ".join(self.source.text[self.span[0] : self.span[1]].split())


def sources(paper: Paper) -> tuple[Source, ...]:
    """The abstract, then each page of the full text where it was fetched."""
    pages = tuple(
        Source(paper=paper, text=page, page=number) for number, page in enumerate(paper.pages, 1)
    )
    return (Source(paper=paper, text=paper.abstract), *pages)


def fragments(quote: str) -> tuple[str, ...]:
    """A quote cut at its `…`; parts without a word are dropped."""
    return tuple(part for part in _ELLIPSIS.split(quote) if words(part))


def readings(quote: str) -> Iterator[str]:
    """The quote, and the quote without what belongs to the answer's own sentence and markup.

    A comma or full stop before the closing mark may be the answer's, and so may `*emphasis*`.
    """
    seen: set[str] = set()
    plain = quote
    while _EMPHASIS.search(plain):
        plain = _EMPHASIS.sub(r"\2", plain)
    for text in (quote, plain):
        bare = text.strip()
        shorter = bare[:-1] if bare.endswith((",", ".")) and not bare.endswith("..") else bare
        for reading in (bare, shorter):
            if reading not in seen:
                seen.add(reading)
                yield reading


def locate(quote: str, source: Source) -> Place | None:
    """Where the quote stands verbatim, whole or in fragments that keep their order."""
    hay = fold_source(source.text)
    plain = _as_it_stands(quote, source)
    if plain:
        return Place(source=source, spans=(spaced(source.text).original(*plain),))
    for reading in readings(quote):
        at = find(fold(reading), hay, source.text)
        if at:
            return Place(source=source, spans=(hay.original(*at),))
        spans = _in_order(fragments(reading), hay, source)
        if spans:
            return Place(source=source, spans=spans)
    return None


def _as_it_stands(quote: str, source: Source) -> tuple[int, int] | None:
    if any(invisible(char) for char in quote):
        return None
    return find(spaced(quote), spaced(source.text), source.text)


def _in_order(
    parts: Sequence[str], hay: Traced, source: Source
) -> tuple[tuple[int, int], ...] | None:
    if not parts or (len(parts) > 1 and any(words(part) < MIN_FRAGMENT_WORDS for part in parts)):
        return None
    spans: list[tuple[int, int]] = []
    start = first = 0
    for part in parts:
        at = find(fold(part.strip(" ,;")), hay, source.text, start)
        if at is None:
            return None
        first = first if spans else at[0]
        if source.page is not None and at[1] - first > MAX_REACH_CHARS:
            return None
        spans.append(hay.original(*at))
        start = at[1]
    return tuple(spans)


def scattered(quote: str, source: Source) -> bool:
    """Whether every fragment stands in the source, only not in this order."""
    parts = fragments(quote)
    hay = fold_source(source.text)
    return len(parts) > 1 and all(
        words(part) >= MIN_FRAGMENT_WORDS
        and find(fold(part.strip(" ,;.")), hay, source.text) is not None
        for part in parts
    )


# --- near misses ----------------------------------------------------------------------------

_WORD = re.compile(r"\S+")
_ENOUGH = 0.5
_SHIFT = 3


def nearest(quote: str, candidates: Sequence[Source]) -> Near | None:
    """The real span closest to the quote, where any is close enough to be meant."""
    wanted = [_bare(word) for word in fold(quote).text.split()]
    if not wanted:
        return None
    found = [near for source in candidates if (near := _nearest_in(wanted, source)) is not None]
    return max(found, key=lambda near: near.ratio, default=None)


def _nearest_in(wanted: list[str], source: Source) -> Near | None:
    hay = fold_source(source.text)
    stands = [(match[0], *hay.original(*match.span())) for match in _WORD.finditer(hay.text)]
    real = [_bare(word) for word, _, _ in stands]
    matcher = difflib.SequenceMatcher(None, real, wanted, autojunk=False)
    anchor = matcher.find_longest_match(0, len(real), 0, len(wanted))
    if anchor.size == 0:
        return None
    first = max(0, anchor.a - anchor.b)
    last = min(len(real), first + len(wanted))
    first, last = _trimmed(real, wanted, first, last)
    ratio = difflib.SequenceMatcher(
        None, " ".join(real[first:last]), " ".join(wanted), autojunk=False
    ).ratio()
    if ratio < _ENOUGH:
        return None
    wrote, there = _difference(wanted, real[first:last])
    return Near(
        source=source,
        span=(stands[first][1], stands[last - 1][2]),
        ratio=ratio,
        wrote=wrote,
        stands=there,
    )


def _bare(word: str) -> str:
    """Without the punctuation around it, which is seldom what went wrong."""
    return word.strip(".,;:()[]'") or word


def _trimmed(real: list[str], wanted: list[str], first: int, last: int) -> tuple[int, int]:
    """The window near `first:last` that shares most with the quote, edges met."""
    edges = range(-_SHIFT, _SHIFT + 1)
    windows = [
        (first + a, last + b)
        for a in edges
        for b in edges
        if 0 <= first + a < last + b <= len(real)
    ]
    matcher = difflib.SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(wanted)

    def shared(window: tuple[int, int]) -> tuple[int, int, int]:
        part = real[slice(*window)]
        matcher.set_seq1(part)
        same = sum(block.size for block in matcher.get_matching_blocks())
        edges_met = (part[0] == wanted[0]) + (part[-1] == wanted[-1])
        return same, edges_met, -abs(len(part) - len(wanted))

    return max(windows, key=shared, default=(first, last))


def _difference(wanted: list[str], real: list[str]) -> tuple[str, str]:
    matcher = difflib.SequenceMatcher(None, real, wanted, autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag != "equal":
            return " ".join(wanted[b1:b2]), " ".join(real[a1:a2])
    return "", ""


def strange(wrote: str, stands: str) -> str:
    """Names the character that makes two words look alike and be different; else `""`."""
    own = set(stands)
    for char in wrote:
        if char not in own and (invisible(char) or (not char.isascii() and char.isalnum())):
            return name_of(char)
    return ""
