"""The answer as one HTML page: each verified quote highlighted in the abstract it stands in.

Everything that came from a model or from arXiv is escaped text. The page holds no script and
loads nothing; its policy says so too, should an escape ever be missing.
"""

import html
from collections.abc import Iterator, Sequence
from importlib import resources

from agent_loop.checks.citations.blocks import visible
from agent_loop.checks.citations.judgement import Judgement, QuoteFinding
from agent_loop.checks.citations.links import Piece, pieces
from agent_loop.research import Paper, PaperId

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(found: Judgement, *, question: str) -> str:
    """The whole page."""
    style = (resources.files("agent_loop.checks.citations") / "page.css").read_text("utf-8")
    cited = [paper for paper in found.search.papers if paper.id in found.cited]
    verdict = "Passed" if found.passed else "Did not pass"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(question)[:200]}</title><style>{style}</style></head><body>",
        f"<h1>{_text(question)}</h1>",
        f'<p class="{"good" if found.passed else "bad"}">{verdict} the citation check.</p>',
        *_problems(found),
        '<div class="answer">',
        *_answer(found),
        "</div><h2>Papers cited</h2>",
        *(_paper(found, paper) for paper in cited),
        *_uncited(found),
        f"<footer>arXiv, query <code>{_text(found.search.query)}</code>, "
        f"fetched {_text(found.search.fetched_at)}.</footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _problems(found: Judgement) -> Iterator[str]:
    if found.problems:
        yield "<ul>" + "".join(f"<li>{_text(one)}</li>" for one in found.problems) + "</ul>"


def _answer(found: Judgement) -> Iterator[str]:
    numbers = {id(quote): at for at, quote in enumerate(found.quotes, 1)}
    for piece in pieces(found):
        yield _piece(piece, numbers)


def _piece(piece: Piece, numbers: dict[int, int]) -> str:
    if piece.citation is not None:
        one = piece.citation
        if one.status == "fetched" and one.id:
            return f'<a href="#{_anchor(one.id)}">{_text(piece.text)}</a>'
        return f'<span class="bad" title="{_text(one.status)}">{_text(piece.text)}</span>'
    if piece.quote is not None:
        quote = piece.quote
        kind = "good" if quote.status == "verified" else "plain" if _harmless(quote) else "bad"
        said = f'<q class="{kind}" title="{_text(quote.status)}">{_text(piece.text)}</q>'
        if quote.status == "verified":
            return f'<a class="quote" href="#q{numbers[id(quote)]}">{said}</a>'
        return said
    return _text(piece.text)


def _harmless(quote: QuoteFinding) -> bool:
    return quote.status in ("title", "short")


def _paper(found: Judgement, paper: Paper) -> str:
    gone = ' <strong class="bad">withdrawn</strong>' if paper.withdrawn else ""
    url = paper.id.url
    head = (
        f'<article id="{_anchor(paper.id)}"><h3>{_text(paper.title)}{gone}</h3>'
        f"<p>{_text(', '.join(paper.authors))} ({_text(paper.published[:4])}) "
        f'<a rel="noopener noreferrer" href="{_text(url)}">arXiv:{paper.id}</a></p>'
    )
    texts: list[tuple[str, int | None, str]] = [("Abstract", None, paper.abstract)]
    texts += [(f"Page {n}", n, text) for n, text in enumerate(paper.pages, 1)]
    shown = []
    for name, number, text in texts:
        spans = _spans(found, paper.id, number)
        if number is None or spans:
            shown.append(f"<h4>{name}</h4><blockquote>{_highlighted(text, spans)}</blockquote>")
    return head + "".join(shown) + "</article>"


def _spans(found: Judgement, identity: PaperId, number: int | None) -> list[tuple[int, int, int]]:
    """(start, end, number of the quote) in one text of one paper."""
    return sorted(
        (start, end, at)
        for at, quote in enumerate(found.quotes, 1)
        if quote.status == "verified"
        for place in quote.places
        if place.source.paper.id == identity and place.source.page == number
        for start, end in place.spans
    )


def _highlighted(text: str, spans: Sequence[tuple[int, int, int]]) -> str:
    """Overlapping quotes are joined; each keeps its own anchor where it begins."""
    out: list[str] = []
    done = 0
    for start, end, at in spans:
        out.append(_text(text[done:start]) if start > done else "")
        anchor = f'<span id="q{at}"></span>'
        out.append(anchor)
        begin = max(start, done)
        if end > begin:
            out.append(f"<mark>{_text(text[begin:end])}</mark>")
            done = end
    out.append(_text(text[done:]))
    return "".join(out)


def _uncited(found: Judgement) -> Iterator[str]:
    if found.uncited:
        yield "<h2>Sentences without a citation</h2><ul>"
        yield "".join(f"<li>{_text(sentence)}</li>" for sentence in found.uncited)
        yield "</ul>"


def _anchor(identity: PaperId) -> str:
    return "paper-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in str(identity))


def _text(text: str) -> str:
    return html.escape(visible(text), quote=True)
