"""The arXiv client: a query, word for word, to papers, newest first."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from agent_loop import __version__
from agent_loop.errors import SearchUnavailable
from agent_loop.ports import Clock
from agent_loop.research.atom import FeedProblem, FeedReader, read_feed
from agent_loop.research.cache import Cache, Stored
from agent_loop.research.fetch import Bounds, NotFetched, Request, get
from agent_loop.research.hosts import DEFAULT_BASE_URL, server
from agent_loop.research.ids import PaperId
from agent_loop.research.pace import Pace, Turn
from agent_loop.research.papers import Search, newest_once
from agent_loop.research.pdf import UnreadablePdf, installed, pages_of

MAX_PAPERS = 30
MAX_QUERY_CHARS = 4000
TRIES = 3
MAX_WAIT_S = 60.0
"""Longest Retry-After that is waited for; a longer one ends the run, resumable."""
_TYPES = frozenset({"application/atom+xml", "application/xml", "text/xml"})
_PDF_TYPES = frozenset({"application/pdf"})
_PDF_BOUNDS = Bounds(total_s=300.0, max_bytes=40 << 20)
_PAUSE_S = (3.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """How arXiv is asked."""

    state_dir: Path
    """Holds the lock and the stored answers; one for all processes of a user."""
    base_url: str = DEFAULT_BASE_URL
    contact: str = ""
    """A mail address or page that arXiv may turn to; goes into the User-Agent."""
    bounds: Bounds = field(default_factory=Bounds)


class ArxivClient:
    """Asks arXiv, politely: see `Pace` and `Cache`."""

    def __init__(
        self,
        settings: ClientSettings,
        clock: Clock,
        *,
        pace: Pace | None = None,
        cache: Cache | None = None,
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`notify` hears one line per wait and retry.

        Raises:
            ValueError: `base_url` or `contact` cannot be used.
        """
        self._root = server(settings.base_url).root
        self._settings = settings
        self._clock = clock
        self._pace = pace or Pace(settings.state_dir, clock)
        self._cache = cache or Cache(settings.state_dir / "answers")
        self._notify = notify
        self.agent = user_agent(settings.contact)

    def search(self, query: str, max_papers: int) -> Search:
        """The newest papers that the query finds.

        Raises:
            SearchUnavailable: arXiv could not be asked, answered with an error, or found nothing.
            ValueError: the query is empty or `max_papers` is out of bounds.
        """
        url = self._root + "/api/query?" + urlencode(_parameters(query, max_papers))
        stored = self._cache.get(url)
        if stored is None:
            with self._pace.turn() as turn:
                # Another process may have asked the same while this one waited for its turn.
                stored = self._cache.get(url) or self._fetch(url, turn)
        papers, notes = read_feed(stored.body) if stored.body else ((), ())
        kept, folded = newest_once(papers, max_papers)
        if not kept:
            raise SearchUnavailable(
                f"arXiv found no paper for the query {query!r}. Loosen it (its operators are AND, "
                "OR, ANDNOT in capitals), try it in a browser, or freeze a search to work from."
            )
        return Search(
            query=query,
            max_papers=max_papers,
            base_url=self._root,
            fetched_at=stored.fetched_at,
            papers=kept,
            notes=(*notes, *folded),
        )

    def pages(self, paper: PaperId) -> tuple[str, ...]:
        """The full text of one paper by page, asked for once and kept.

        Raises:
            SearchUnavailable: arXiv could not be asked, or pypdf is not there.
            UnreadablePdf: there is no text to be had; the abstract is all there is.
        """
        if not installed():
            raise SearchUnavailable(
                "full_text: true needs pypdf. Install it with: pip install 'agent-loop[fulltext]'"
            )
        url = f"{self._root}/pdf/{paper}"
        stored = self._cache.get(url)
        if stored is None:
            with self._pace.turn() as turn:
                stored = self._cache.get(url) or self._fetch_pages(url, turn)
        pages = tuple(str(page) for page in json.loads(stored.body))
        if not pages:
            raise UnreadablePdf("it was no readable PDF when it was fetched")
        return pages

    def _fetch_pages(self, url: str, turn: Turn) -> Stored:
        """A file that cannot be read is kept as no pages: asking again would not mend it."""
        pieces: list[bytes] = []

        def ask() -> bytes:
            pieces.clear()
            get(url, self._request(turn, _PDF_TYPES, _PDF_BOUNDS), pieces.append)
            return b"".join(pieces)

        try:
            pages = pages_of(self._tried(ask))
        except UnreadablePdf as problem:
            self._notify(f"{url}: {problem}; its abstract is used alone")
            pages = ()
        return self._keep(url, json.dumps(pages).encode())

    def _fetch(self, url: str, turn: Turn) -> Stored:
        """Ask until there is an answer that can be read; keep it, unless it names no paper."""
        return self._keep(url, self._tried(lambda: self._ask(url, turn)))

    def _tried(self, ask: Callable[[], bytes]) -> bytes:
        """What `ask` gives, asked again as often as `_next_try` allows."""
        for number in range(1, TRIES + 1):
            try:
                return ask()
            except NotFetched as failed:
                wait_s = self._next_try(failed, number)
                self._notify(f"arXiv: {failed}; trying again in {wait_s:g} s")
                self._clock.sleep(wait_s)
        raise AssertionError("the last try either answers or raises")

    def _request(self, turn: Turn, types: frozenset[str], bounds: Bounds) -> Request:
        return Request(
            types=types, agent=self.agent, before=turn.wait, after=turn.note, bounds=bounds
        )

    def _ask(self, url: str, turn: Turn) -> bytes:
        reader = FeedReader()
        pieces: list[bytes] = []

        def take(piece: bytes) -> None:
            reader.feed(piece)
            pieces.append(piece)

        try:
            get(url, self._request(turn, _TYPES, self._settings.bounds), take)
            papers, _ = reader.finish()
        except FeedProblem as problem:
            raise NotFetched(str(problem)) from None
        if not papers and reader.total:
            raise NotFetched(
                f"its list is empty, though it counts {reader.total} papers", again=True
            )
        return b"".join(pieces) if papers else b""

    def _next_try(self, failed: NotFetched, number: int) -> float:
        """Seconds until the next try.

        Raises:
            SearchUnavailable: there is none.
        """
        wait_s = _PAUSE_S[min(number, len(_PAUSE_S)) - 1]
        wait_s = max(wait_s, failed.after_s) if failed.after_s is not None else wait_s
        if failed.again and number < TRIES and wait_s <= MAX_WAIT_S:
            return wait_s
        tried = f" after {number} tries" if number > 1 else ""
        raise SearchUnavailable(
            f"{self._root} gave no papers{tried}: {failed}. No answer of a model was judged; "
            "go on with --continue when it works again, or give the task a frozen search (papers:)."
        )

    def _keep(self, url: str, body: bytes) -> Stored:
        now = self._clock.now_iso()
        try:
            if body:
                self._cache.put(url, body, now)
        except OSError as error:
            raise SearchUnavailable(
                f"{self._settings.state_dir}: the answer of arXiv cannot be written ({error})."
            ) from None
        return Stored(body=body, fetched_at=now)


def user_agent(contact: str = "") -> str:
    """`agent-loop/<version>`, and who to turn to.

    Raises:
        ValueError: the contact does not fit in a header.
    """
    if not contact:
        return f"agent-loop/{__version__}"
    if not contact.isascii() or not contact.isprintable() or set(contact) & set("()\\"):
        raise ValueError(f"contact {contact!r}: use a mail address or a page, in plain characters")
    return f"agent-loop/{__version__} ({contact})"


def _parameters(query: str, max_papers: int) -> dict[str, str | int]:
    if not query.strip() or len(query) > MAX_QUERY_CHARS:
        raise ValueError(f"a query has 1 to {MAX_QUERY_CHARS} characters, not {len(query)}")
    if not 1 <= max_papers <= MAX_PAPERS:
        raise ValueError(f"max_papers is a number from 1 to {MAX_PAPERS}, not {max_papers}")
    return {
        "search_query": query,
        "start": 0,
        "max_results": max_papers,
        "sortBy": "submittedDate",
        "sortOrder": "descending",
    }
