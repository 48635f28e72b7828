"""What a research run has beside its models: papers, the search before the worker, the answer."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from agent_loop.checks.citations import CitationCheck, judge
from agent_loop.checks.citations.markdown import bibtex, markdown
from agent_loop.checks.citations.page import page
from agent_loop.errors import SearchUnavailable, TaskFileError, UserError
from agent_loop.graph.parts import Step
from agent_loop.paths import atomic_write
from agent_loop.ports import Clock, Json
from agent_loop.research import Search, frozen
from agent_loop.research.client import ArxivClient, ClientSettings
from agent_loop.research.hosts import DEFAULT_BASE_URL
from agent_loop.research.pdf import UnreadablePdf
from agent_loop.research.sentences import material, numbered
from agent_loop.tasks import ResearchTask

PAPERS = "papers.json"
"""In the run's folder: what the search found, as a frozen search; the check judges by it."""
MATERIAL_CHARS = 100_000
"""Most that the abstracts may take, well below what the state keeps whole."""
MATERIAL_PART = 0.65
"""... and how much of a prompt it may take."""


class ResearchDesk:
    """The papers of one run. Made before anything is asked, so that a bad task is refused then."""

    def __init__(
        self,
        task: ResearchTask,
        folder: Path,
        *,
        client: Callable[[], ArxivClient],
        clock: Clock,
        notify: Callable[[str], None] = lambda _: None,
        prompt_chars: int = 24_000,
    ) -> None:
        """`folder` is the run's own.

        Raises:
            TaskFileError: the frozen search or the server of the task cannot be used.
        """
        self._task = task
        self._folder = folder
        self._notify = notify
        self._frozen = frozen.load(task.papers, query=task.query) if task.papers else None
        self._client = client if self._frozen else _checked(client)
        self._limit_chars = min(MATERIAL_CHARS, int(prompt_chars * MATERIAL_PART))
        self.check = CitationCheck(
            self.papers, question=task.task, numbers=task.numbers, clock=clock
        )
        self.step = Step(name="search", run=self._search)

    def papers(self) -> Search:
        """What this run's search found; searched for where it has not been.

        Raises:
            SearchUnavailable: arXiv gave nothing, or the run's file is damaged.
        """
        path = self._folder / PAPERS
        if path.exists():
            return self._kept(path)
        found = self._found()
        self._keep(found)
        return found

    def _kept(self, path: Path) -> Search:
        try:
            return frozen.load(path, query=self._task.query)
        except TaskFileError as error:
            raise SearchUnavailable(f"{error} Remove the file to search again.") from None

    def _keep(self, found: Search) -> None:
        path = self._folder / PAPERS
        try:
            frozen.save(path, found)
        except OSError as error:
            raise SearchUnavailable(f"{path}: cannot be written ({error.strerror}).") from None

    def take_from(self, folder: Path) -> None:
        """Work from what another run found, where it found something.

        Raises:
            SearchUnavailable: its file is damaged.
        """
        if (folder / PAPERS).exists():
            self._keep(self._kept(folder / PAPERS))

    def finish(self, record: Mapping[str, Json]) -> None:
        """Write the answer of a run that ended as Markdown, BibTeX and a page."""
        answer = record.get("answer")
        if not isinstance(answer, str) or not answer or not (self._folder / PAPERS).exists():
            return
        found = judge(answer, self.papers(), check_numbers=self._task.numbers)
        files = {
            "answer.md": markdown(found, question=self._task.task),
            "answer.bib": bibtex(found),
            "answer.html": page(found, question=self._task.task),
        }
        for name, text in files.items():
            atomic_write(self._folder / name, text)

    def _search(self, _: object) -> Mapping[str, str]:
        found = self.papers()
        return {
            "material": material(
                found, numbered(found, self._task.task), limit_chars=self._limit_chars
            )
        }

    def _found(self) -> Search:
        if self._frozen is not None:
            return cut(self._frozen, self._task.max_papers)
        return searched(self._task, self._client())


def searched(task: ResearchTask, client: ArxivClient) -> Search:
    """What arXiv has for a task, full texts too where it wants them.

    Raises:
        SearchUnavailable: it gave nothing.
    """
    found = client.search(task.query, task.max_papers)
    if not task.full_text:
        return found
    papers, notes = [], list(found.notes)
    for paper in found.papers:
        try:
            papers.append(replace(paper, pages=client.pages(paper.id)))
        except UnreadablePdf as problem:
            papers.append(paper)
            notes.append(f"arXiv:{paper.id}: no full text: {problem}")
    return replace(found, papers=tuple(papers), notes=tuple(notes))


def _checked(client: Callable[[], ArxivClient]) -> Callable[[], ArxivClient]:
    made = client()
    return lambda: made


def cut(search: Search, max_papers: int) -> Search:
    """The newest `max_papers` of a frozen search."""
    return replace(search, papers=search.papers[:max_papers])


def shared_dir(env: Mapping[str, str], otherwise: Path) -> Path:
    """The folder that all searches of one user share: they must take turns."""
    for name, below in (("XDG_CACHE_HOME", ""), ("LOCALAPPDATA", ""), ("HOME", ".cache")):
        folder = env.get(name, "")
        if folder and Path(folder).is_absolute():
            return Path(folder, below, "agent-loop", "arxiv")
    return otherwise / "arxiv"


def client_for(
    task: ResearchTask,
    state_dir: Path,
    clock: Clock,
    *,
    contact: str,
    notify: Callable[[str], None],
) -> ArxivClient:
    """The client for the task's server.

    Raises:
        TaskFileError: its `base_url` leads elsewhere, or the contact fits in no header.
    """
    base_url = task.base_url or DEFAULT_BASE_URL
    settings = ClientSettings(state_dir=state_dir, base_url=base_url, contact=contact)
    try:
        return ArxivClient(settings, clock, notify=notify)
    except ValueError as error:
        raise TaskFileError(str(task.source or task.name), f"base_url: {error}") from None


def freeze(task: ResearchTask, path: Path, client: ArxivClient) -> str:
    """Keep what arXiv has for a task in a file; gives its digest.

    Raises:
        SearchUnavailable: arXiv gave nothing.
        UserError: the file cannot be written.
    """
    found = searched(task, client)
    try:
        return frozen.save(path, found)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}).") from None
