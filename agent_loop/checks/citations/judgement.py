"""What the citation gate found: one finding for each citation, quote and number."""

from dataclasses import dataclass
from typing import Literal

from agent_loop.checks.citations.blocks import Paragraph
from agent_loop.checks.citations.match import Near, Place
from agent_loop.research import PaperId, Search

CitationStatus = Literal["fetched", "unknown", "other version", "malformed"]
QuoteStatus = Literal[
    "verified", "title", "short", "not found", "other paper", "wrong order", "short fragment",
    "no citation", "not closed",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationFinding:
    """One place that names a paper; offsets in the answer."""

    paragraph: int
    start: int
    end: int
    raw: str
    status: CitationStatus
    id: PaperId | None
    """The fetched version where `status` is `fetched`, else what was cited."""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteFinding:
    """One quoted span; offsets in the answer."""

    paragraph: int
    start: int
    end: int
    text: str
    status: QuoteStatus
    places: tuple[Place, ...] = ()
    """Where it stands: one for each cited paper that holds it."""
    problem: str = ""
    near: Near | None = None

    @property
    def evidence(self) -> bool:
        """Whether it proves anything: a paper that was taken back proves nothing."""
        return any(not place.source.paper.withdrawn for place in self.places) and (
            self.status == "verified"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFinding:
    """One number outside the verified quotes that stands in none of them."""

    paragraph: int
    token: str
    context: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Everything about one answer; `problems` empty means it passes."""

    answer: str
    search: Search
    paragraphs: tuple[Paragraph, ...]
    citations: tuple[CitationFinding, ...]
    quotes: tuple[QuoteFinding, ...]
    numbers: tuple[NumberFinding, ...]
    unquoted: tuple[PaperId, ...]
    """Cited papers without one verified quote."""
    withdrawn_only: tuple[int, ...]
    """Paragraphs whose only evidence is a paper that was taken back."""
    uncited: tuple[str, ...]
    """Sentences without any citation: listed, not forbidden."""
    sentences: int
    problems: tuple[str, ...]
    """Each says what is wrong, where, and what to write instead."""

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def cited(self) -> tuple[PaperId, ...]:
        """The fetched papers that are cited, in order of first mention."""
        ids = [one.id for one in self.citations if one.status == "fetched" and one.id]
        return tuple(dict.fromkeys(ids))
