"""Reads an arXiv feed (Atom) as it comes in, from a server that is not trusted.

The parser is the standard library's expat with one rule added: a document type is refused, so
there are no entities to blow up and nothing outside to fetch. (defusedxml does the same, but has
had no release since 2021.)
"""

from dataclasses import dataclass, field
from xml.parsers import expat

from agent_loop.research.ids import parse
from agent_loop.research.papers import Paper, looks_withdrawn

MAX_DEPTH = 16
MAX_ENTRIES = 200
_ATOM = "http://www.w3.org/2005/Atom"
_ARXIV = "http://arxiv.org/schemas/atom"
_TOTAL = "http://a9.com/-/spec/opensearch/1.1/ totalResults"
_FIELDS = {
    f"{_ATOM} id": "id",
    f"{_ATOM} title": "title",
    f"{_ATOM} summary": "summary",
    f"{_ATOM} published": "published",
    f"{_ATOM} updated": "updated",
    f"{_ARXIV} comment": "comment",
    f"{_ARXIV} journal_ref": "journal",
    f"{_ARXIV} doi": "doi",
}


class FeedProblem(ValueError):
    """The bytes are no feed of arXiv; the message says what they are."""


@dataclass(slots=True)
class _Entry:
    fields: dict[str, str] = field(default_factory=dict)
    authors: list[str] = field(default_factory=list)
    category: str = ""


class FeedReader:
    """Takes the bytes of one feed piece by piece; holds only the fields that are wanted."""

    def __init__(self) -> None:
        self.total = 0
        """How many papers the server says it has for the query."""
        self._entries: list[_Entry] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = _refuse_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append

    def feed(self, chunk: bytes) -> None:
        """The next bytes.

        Raises:
            FeedProblem: they cannot be part of a feed.
        """
        self._parse(chunk, last=False)

    def finish(self) -> tuple[tuple[Paper, ...], tuple[str, ...]]:
        """The papers, and one note for each entry that is none.

        Raises:
            FeedProblem: the feed is cut off, or arXiv reports an error in it.
        """
        self._parse(b"", last=True)
        papers: list[Paper] = []
        notes: list[str] = []
        for entry in self._entries:
            _refuse_error(entry)
            paper = _paper(entry)
            if paper is None:
                shown = entry.fields.get("id", "without an id")[:80]
                notes.append(f"an entry ({shown}) has no arXiv id, title or abstract: left out")
            else:
                papers.append(paper)
        return tuple(papers), tuple(notes)

    def _parse(self, chunk: bytes, *, last: bool) -> None:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            line = f"line {error.lineno}: {expat.ErrorString(error.code)}"
            raise FeedProblem(f"the XML is broken at {line}") from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._path and name != f"{_ATOM} feed":
            raise FeedProblem(f"it is no Atom feed but <{name.split(' ')[-1][:40]}>")
        self._path.append(name)
        if len(self._path) > MAX_DEPTH:
            raise FeedProblem(f"its elements are nested deeper than {MAX_DEPTH}")
        self._text.clear()
        if len(self._path) == 2 and name == f"{_ATOM} entry":
            self._entries.append(_Entry())
            if len(self._entries) > MAX_ENTRIES:
                raise FeedProblem(f"it has more than {MAX_ENTRIES} entries")
        elif name == f"{_ARXIV} primary_category" and self._entries:
            self._entries[-1].category = attributes.get("term", "")

    def _end(self, name: str) -> None:
        text = "".join(self._text)
        self._text.clear()
        inside_entry = len(self._path) > 2 and self._path[1] == f"{_ATOM} entry"
        if inside_entry and len(self._path) == 3 and name in _FIELDS:
            self._entries[-1].fields.setdefault(_FIELDS[name], text)
        elif inside_entry and self._path[2:] == [f"{_ATOM} author", f"{_ATOM} name"]:
            self._entries[-1].authors.append(_line(text))
        elif name == _TOTAL and text.strip().isascii() and text.strip().isdigit():
            self.total = int(text.strip()[:9])
        self._path.pop()


def read_feed(data: bytes) -> tuple[tuple[Paper, ...], tuple[str, ...]]:
    """A whole feed at once; see `FeedReader.finish`.

    Raises:
        FeedProblem: as `FeedReader`.
    """
    reader = FeedReader()
    reader.feed(data)
    return reader.finish()


def _refuse_doctype(name: str, *_: object) -> None:
    raise FeedProblem(f"it declares a document type ({name[:40]}), which arXiv never does")


def _refuse_error(entry: _Entry) -> None:
    where = entry.fields.get("id", "")
    if "/api/errors" in where or (
        parse(where) is None and entry.fields.get("title", "").strip() == "Error"
    ):
        said = _line(entry.fields.get("summary", "")) or "no reason given"
        raise FeedProblem(f"arXiv reports an error: {said[:300]}")


def _paper(entry: _Entry) -> Paper | None:
    texts = entry.fields
    identity = parse(texts.get("id", ""))
    title, abstract = _line(texts.get("title", "")), texts.get("summary", "").strip()
    if identity is None or identity.version is None or not title or not abstract:
        return None
    comment = _line(texts.get("comment", ""))
    return Paper(
        id=identity,
        title=title,
        abstract=abstract,
        authors=tuple(name for name in entry.authors if name),
        published=texts.get("published", "").strip(),
        updated=texts.get("updated", "").strip(),
        category=entry.category,
        comment=comment,
        journal=_line(texts.get("journal", "")),
        doi=_line(texts.get("doi", "")),
        withdrawn=looks_withdrawn(title=title, abstract=abstract, comment=comment),
    )


def _line(text: str) -> str:
    return " ".join(text.split())
