"""Where an answer names papers: `[arXiv:ID]`, `arXiv: ID`, a link to arXiv, a bare id."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from agent_loop.research import PaperId, parse
from agent_loop.research.ids import ID, NEW, OLD

_NO_ID = "is no arXiv id: write it like [arXiv:2401.01234] or [arXiv:hep-th/9901001]"
_EDGE = r"(?<![0-9A-Za-z_./-])"
_URL = re.compile(
    r"(?:https?://|www\.|(?<![\w./-])(?:export\.)?arxiv\.org/)[^\s<>\"'“”‘’)\]}|]+", re.I
)
_ARXIV_URL = re.compile(
    rf"(?:https?://)?(?:(?:www|export)\.)?arxiv\.org/(?:abs|pdf|html|format)/({ID})(?:\.pdf)?/?(?:[?#][A-Za-z?=&._]{{0,24}})?[/.,;:!]*",
    re.IGNORECASE,
)
_DOI_URL = re.compile(
    rf"(?:https?://(?:dx\.)?doi\.org/)10\.48550/arxiv\.({ID})[/.,;:!]*", re.IGNORECASE
)
_NAMED = re.compile(rf"(?<![A-Za-z0-9])arxiv(?:\s*[:.]\s*|\s+)({ID})", re.IGNORECASE)
_BARE = re.compile(rf"{_EDGE}({ID})")
_SURE = re.compile(rf"(?:{OLD}|{NEW}[vV][1-9])")
# Written like a citation, and yet none.
_BROKEN = re.compile(r"(?<![A-Za-z0-9])arxiv\s*:\s*([^\s\[\](){}<>,;\"“”]{0,40})", re.IGNORECASE)
_BRACKETED = re.compile(r"\[[^\[\]]{0,80}\]")
_LIKE_ID = re.compile(r"\d{4}\W{0,2}\.\W{0,2}\d{4,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One place that names a paper, offsets in the paragraph's text."""

    start: int
    end: int
    raw: str
    id: PaperId | None
    """`None`: written like a citation, but not one; `problem` says why."""
    problem: str = ""


def mentions(text: str, fetched: Collection[str]) -> tuple[Mention, ...]:
    """Every mention in order.

    A bare `2401.01234` may be a number: it counts as an id in brackets, with a version, or where
    a paper of that id (`fetched` holds the ids without versions) was found.
    """
    found: list[Mention] = []
    rest = text
    for match in _URL.finditer(text):
        link = _ARXIV_URL.fullmatch(match[0]) or _DOI_URL.fullmatch(match[0])
        found.append(_of_link(match, link[1] if link else ""))
        rest = _blank(rest, match.start(), match.end())
    for match in _NAMED.finditer(rest):
        found.append(_plain(match))
        rest = _blank(rest, match.start(), match.end())
    for match in _BARE.finditer(rest):
        identity = parse(match[1])
        bracketed = _listed(rest, match)
        if identity and (bracketed or _SURE.match(match[1]) or identity.base in fetched):
            found.append(_plain(match))
            rest = _blank(rest, match.start(), match.end())
    found += _broken(rest)
    return tuple(sorted((one for one in found if one.id or one.problem), key=lambda one: one.start))


def _of_link(match: re.Match[str], identity: str) -> Mention:
    raw = match[0].rstrip(".,;:!")
    end = match.start() + len(raw)
    if identity:
        return Mention(start=match.start(), end=end, raw=raw, id=parse(identity))
    problem = ""
    if re.search(rf"(?:{NEW}|{OLD})", raw) or re.search(r"arxiv", raw, re.IGNORECASE):
        problem = "an id inside some other link is no citation: write [arXiv:ID]"
    return Mention(start=match.start(), end=end, raw=raw, id=None, problem=problem)


def _plain(match: re.Match[str]) -> Mention:
    identity = parse(match[1])
    problem = "" if identity else _NO_ID
    return Mention(start=match.start(), end=match.end(), raw=match[0], id=identity, problem=problem)


def _listed(text: str, match: re.Match[str]) -> bool:
    """Whether only ids, commas and blanks stand between this id and an opening bracket."""
    before = text[: match.start()].rstrip(" ,;")
    return before.endswith(("[", "("))


def _broken(rest: str) -> list[Mention]:
    found = [
        Mention(
            start=match.start(),
            end=match.end(),
            raw=match[0],
            id=None,
            problem=_NO_ID,
        )
        for match in _BROKEN.finditer(rest)
    ]
    for match in _BRACKETED.finditer(rest):
        if _LIKE_ID.search(match[0]) and not any(
            one.start < match.end() and match.start() < one.end for one in found
        ):
            problem = "looks like a citation and is none: write [arXiv:ID] in plain letters"
            found.append(
                Mention(
                    start=match.start(), end=match.end(), raw=match[0], id=None, problem=problem
                )
            )
    return found


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
