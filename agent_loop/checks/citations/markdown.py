"""An answer as a Markdown file with links and references, and its BibTeX.

Whatever came from a model or from arXiv is text here: no markup of it takes effect but headings,
lists, emphasis and quotes.
"""

import re
from collections.abc import Iterator

from agent_loop.checks.citations.blocks import visible
from agent_loop.checks.citations.judgement import Judgement
from agent_loop.checks.citations.links import Piece, pieces
from agent_loop.research import Paper, PaperId
from agent_loop.research.latex import SYMBOLS

_AUTHORS_SHOWN = 6


def markdown(found: Judgement, *, question: str) -> str:
    """The answer, every citation a link, and the papers it cites."""
    body = _body(found).strip()
    cited = [paper for paper in found.search.papers if paper.id in found.cited]
    cited.sort(key=lambda paper: found.cited.index(paper.id))
    parts = [f"# {_escaped(_line(question))}", "" if found.passed else _WARNING, body]
    if cited:
        parts += ["## References", "\n".join(_reference(paper) for paper in cited)]
    search = found.search
    source = f"arXiv, query `{_code(search.query)}`, fetched {_escaped(search.fetched_at)}."
    parts.append(f"*Citations and quotes were checked against: {source}*")
    return "\n\n".join(part for part in parts if part) + "\n"


_WARNING = "**This answer did not pass the citation check: do not trust its quotes.**"


def _body(found: Judgement) -> str:
    """The answer; the brackets around a citation are those of its link."""
    parts = list(pieces(found))
    out: list[str] = []
    for at, piece in enumerate(parts):
        text = piece.text
        if at and _linked(parts[at - 1]) and text.startswith("]"):
            text = text[1:]
        if at + 1 < len(parts) and _linked(parts[at + 1]) and text.endswith("["):
            text = text[:-1]
        identity = _linked(piece)
        out.append(f"[{_escaped(text)}]({identity.url})" if identity else _safe(text))
    return "".join(out)


def _linked(piece: Piece) -> PaperId | None:
    fetched = piece.citation and piece.citation.status == "fetched"
    return piece.citation.id if piece.citation and fetched else None


_ENTITIES = {"&": "&amp;", "<": "&lt;", "[": "&#91;", "]": "&#93;"}


def _safe(text: str) -> str:
    """Text whose headings, lists and emphasis may work, and nothing that loads, links or hides."""
    text = re.sub(r"[&<\[\]]", lambda match: _ENTITIES[match[0]], visible(text))
    return text.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")


def _reference(paper: Paper) -> str:
    gone = " **Withdrawn.**" if paper.withdrawn else ""
    where = f" {_escaped(paper.journal)}." if paper.journal else ""
    return (
        f"- {_escaped(_people(paper))}: *{_escaped(_line(paper.title))}* ({paper.published[:4]})."
        f"{where} [arXiv:{paper.id}]({paper.id.url}).{gone}"
    )


def _people(paper: Paper) -> str:
    names = [_line(name) for name in paper.authors[:_AUTHORS_SHOWN]]
    more = " et al." if len(paper.authors) > _AUTHORS_SHOWN else ""
    return (", ".join(names) + more) or "Unknown authors"


def _escaped(text: str) -> str:
    """Text without any markup."""
    return re.sub(r"([\\`*_{}\[\]()#+!|<>~&$:])", r"\\\1", visible(text))


def _code(text: str) -> str:
    return visible(_line(text)).replace("`", "'").replace("<", "‹")


def _line(text: str) -> str:
    return " ".join(text.split())


# --- BibTeX ---------------------------------------------------------------------------------

_KNOWN_COMMAND = re.compile(r"\\(?:[A-Za-z]+|[^A-Za-z])")
_ACCENTS = frozenset("'`^\"~=.%&#_$ ,-") | frozenset("cvuHkrdb")
_FONTS = frozenset(
    re.findall(
        r"\w+",
        "emph text textit textbf texttt textrm textsf textsc mathrm mathbf mathit mathsf mathcal "
        "mathbb boldsymbol it bf em",
    )
)


def bibtex(found: Judgement) -> str:
    """One entry for each cited paper."""
    return "\n".join(_entries(found))


def _entries(found: Judgement) -> Iterator[str]:
    for paper in found.search.papers:
        if paper.id not in found.cited:
            continue
        fields = {
            "title": f"{{{tex(paper.title)}}}",
            "author": " and ".join(tex(name).replace(" and ", " {and} ") for name in paper.authors),
            "year": re.sub(r"[^0-9]", "", paper.published[:4]),
            "eprint": str(paper.id),
            "archivePrefix": "arXiv",
            "primaryClass": re.sub(r"[^A-Za-z.-]", "", paper.category),
            "url": paper.id.url,
            "note": "Withdrawn" if paper.withdrawn else "",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        yield "\n".join([f"@misc{{{_key(paper.id)},", *lines, "}", ""])


def _key(identity: PaperId) -> str:
    return "arxiv-" + re.sub(r"[^A-Za-z0-9.-]", "-", identity.base)


def tex(text: str) -> str:
    """A text for a BibTeX field: TeX that typesets stays, commands that could do more do not."""
    text = visible(_line(text)).rstrip("\\")
    text = _KNOWN_COMMAND.sub(_harmless, text)
    text = re.sub(r"(?<!\\)([#%&])", r"\\\1", text)
    return text if _balanced(text) else re.sub(r"[{}]", "", text)


def _harmless(match: re.Match[str]) -> str:
    name = match[0][1:]
    known = name in SYMBOLS or name in _ACCENTS or name in _FONTS
    return match[0] if known else name if name.isalpha() else ""


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0 and not text.endswith("\\")
