"""What a search found: papers, and the search they came from. Plain values, plain JSON."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent_loop.ports import Json
from agent_loop.research.ids import PaperId, parse

_WITHDRAWN_COMMENT = re.compile(r"\b(?<!not )(?:withdrawn|retracted)\b", re.IGNORECASE)
_WITHDRAWN_TITLE = re.compile(r"\s*[\[(]?(?:withdrawn|retracted|retraction)\b", re.IGNORECASE)
_WITHDRAWN_TEXT = re.compile(
    r"\b(?:paper|article|submission|manuscript|work|preprint|version|note|letter)\b[^.]{0,60}"
    r"\b(?:has|have|is|was|been|being)\b[^.]{0,30}\b(?:withdrawn|retracted)\b"
    r"|\A\s*(?:withdrawn|retracted)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """One fetched version of one paper. All text is other people's: data, never instructions."""

    id: PaperId
    """With the version that was fetched."""
    title: str
    abstract: str
    """As fetched, line breaks included: what quotes are compared with."""
    authors: tuple[str, ...] = ()
    published: str = ""
    """First version, ISO 8601."""
    updated: str = ""
    """This version, ISO 8601."""
    category: str = ""
    comment: str = ""
    journal: str = ""
    doi: str = ""
    withdrawn: bool = False
    pages: tuple[str, ...] = ()
    """Full text by page, where it was fetched; page 1 is `pages[0]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One answered search."""

    query: str
    max_papers: int
    base_url: str
    fetched_at: str
    """UTC, ISO 8601 with `Z`."""
    papers: tuple[Paper, ...]
    notes: tuple[str, ...] = field(default=())
    """What was left out or folded, one line each."""


def looks_withdrawn(*, title: str, abstract: str, comment: str) -> bool:
    """Whether arXiv's own words say the paper was taken back. Doubt counts as yes."""
    return bool(
        _WITHDRAWN_COMMENT.search(comment)
        or _WITHDRAWN_TITLE.match(title)
        or _WITHDRAWN_TEXT.search(abstract)
    )


def newest_once(papers: Iterable[Paper], limit: int) -> tuple[tuple[Paper, ...], tuple[str, ...]]:
    """Each paper once (its highest version), newest first, at most `limit`; and what was folded."""
    kept: dict[str, Paper] = {}
    notes: list[str] = []
    for paper in papers:
        other = kept.get(paper.id.base)
        if other is None:
            kept[paper.id.base] = paper
            continue
        winner, loser = (
            (paper, other) if (paper.id.version or 0) > (other.id.version or 0) else (other, paper)
        )
        kept[paper.id.base] = winner
        notes.append(f"arXiv:{loser.id} came beside arXiv:{winner.id}: kept once, as the latter")
    ordered = sorted(kept.values(), key=lambda paper: (paper.published, paper.id), reverse=True)
    return tuple(ordered[:limit]), tuple(notes)


# --- JSON -----------------------------------------------------------------------------------

_TEXTS = (
    "title", "abstract", "published", "updated", "category", "comment", "journal", "doi",
)  # fmt: skip


def to_json(search: Search) -> dict[str, Json]:
    """Plain JSON types, for the state and for frozen files."""
    return {
        "query": search.query,
        "max_papers": search.max_papers,
        "base_url": search.base_url,
        "fetched_at": search.fetched_at,
        "notes": list(search.notes),
        "papers": [
            {"id": str(paper.id)}
            | {name: getattr(paper, name) for name in _TEXTS}
            | {
                "authors": list(paper.authors),
                "withdrawn": paper.withdrawn,
                "pages": list(paper.pages),
            }
            for paper in search.papers
        ],
    }


def from_json(data: Json) -> Search:
    """The search `to_json` wrote.

    Raises:
        ValueError: it is none; the message names the place.
    """
    top = _mapping(data, "the file")
    papers = top.get("papers")
    if not isinstance(papers, list):
        raise ValueError("'papers' must be a list")  # noqa: TRY004 - one error for all of the form
    return Search(
        query=_text(top, "query", "the file"),
        max_papers=_count(top),
        base_url=_text(top, "base_url", "the file", ""),
        fetched_at=_text(top, "fetched_at", "the file", ""),
        notes=_texts(top, "notes", "the file"),
        papers=tuple(_paper(item, f"papers[{n}]") for n, item in enumerate(papers)),
    )


def _paper(item: Json, where: str) -> Paper:
    entry = _mapping(item, where)
    identity = parse(_text(entry, "id", where))
    if identity is None or identity.version is None:
        raise ValueError(f"{where}.id is no arXiv id with a version, like 2401.01234v2")
    texts = {name: _text(entry, name, where, "") for name in _TEXTS}
    if not texts["title"].strip() or not texts["abstract"].strip():
        raise ValueError(f"{where} ({identity}) needs a title and an abstract")
    return Paper(
        id=identity,
        authors=_texts(entry, "authors", where),
        pages=_texts(entry, "pages", where),
        withdrawn=entry.get("withdrawn") is True
        or looks_withdrawn(
            title=texts["title"], abstract=texts["abstract"], comment=texts["comment"]
        ),
        **texts,
    )


def _mapping(value: Json, where: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a mapping")  # noqa: TRY004
    return value


def _text(entry: Mapping[str, Json], key: str, where: str, default: str | None = None) -> str:
    value = entry.get(key, default)
    if not isinstance(value, str):
        raise ValueError(f"{where}.{key} must be text")  # noqa: TRY004
    return value


def _texts(entry: Mapping[str, Json], key: str, where: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{where}.{key} must be a list of texts")
    return tuple(str(item) for item in value)


def _count(entry: Mapping[str, Json]) -> int:
    value = entry.get("max_papers")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 30:
        raise ValueError("'max_papers' must be a number from 1 to 30")
    return value
