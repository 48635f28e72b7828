"""Everything that reads one `runs/` folder, joined."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent_loop.ports import Json
from agent_loop.viewer.evals import Evals
from agent_loop.viewer.exports import Block, blocks
from agent_loop.viewer.feeds import RowFeed, RunFeed, Seats, Texts
from agent_loop.viewer.figures import Charts
from agent_loop.viewer.jsontext import Preview, loads, pointed
from agent_loop.viewer.patches import MAX_BYTES, Ran, taken_apart
from agent_loop.viewer.places import Places
from agent_loop.viewer.replies import Replies
from agent_loop.viewer.rows import Rows
from agent_loop.viewer.standing import Standings
from agent_loop.viewer.traces import Traces
from agent_loop.webguard import WebError

MAX_RECORD_BYTES = 64 << 20
RECORD_CHARS = 20_000
_JOB_BYTES = 8 << 20
PATCH = "changes.patch"


class Desk:
    """What the addresses of a web door are answered from. Any thread may ask."""

    def __init__(
        self, root: Path, *, texts: Texts | None = None, monotonic: Callable[[], float]
    ) -> None:
        self.places = Places(root)
        self.traces = Traces(self.places)
        self.standings = Standings(self.places, self.traces)
        self.evals = Evals(self.places)
        self.rows = Rows(self.places, self.traces, self.standings, self.evals.threads)
        self.charts = Charts(self.traces)
        self.replies = Replies(self.places, self.rows, self.standings, monotonic=monotonic)
        self.seats = Seats()
        self.row_feed = RowFeed(self.rows)
        self.run_feed = RunFeed(self.rows, self.traces, self.standings, texts)

    def thread(self, name: str) -> str:
        """The name of a run that is there.

        Raises:
            WebError: no name (400), or no run (404).
        """
        thread = self.places.thread(name)
        if not self.places.there(thread) and self.places.record(thread, 1) is None:
            raise WebError(404, "run", "There is no such run.")
        return thread

    def record(self, thread: str) -> tuple[dict[str, Any] | None, str | None]:
        """The record, or why there is none to show."""
        raw = self.places.record(thread, MAX_RECORD_BYTES + 1)
        if raw is None:
            return None, None
        if len(raw) > MAX_RECORD_BYTES:
            return None, f"The record is larger than {MAX_RECORD_BYTES >> 20} MiB."
        try:
            fields = loads(raw)
        except ValueError as error:
            return None, f"The record is not JSON: {error!s:.200}"
        if not isinstance(fields, dict):
            return None, "The record is no JSON object."
        return fields, None

    def run(self, thread: str) -> dict[str, Json]:
        """One run, long texts cut."""
        record, problem = self.record(thread)
        preview = Preview(chars=RECORD_CHARS, items=5_000, nodes=60_000)
        cut = preview.cut
        small = preview.of(record) if record is not None else None
        files = [asdict(held) for held in self.places.held(thread)]
        told = {"record": small, "record_problem": problem, "cut": cut, "files": files}
        return {**self.run_feed.state(thread), **told, "task": self._task(thread)}

    def text(self, thread: str, pointer: str) -> Json:
        """A value of the record, whole.

        Raises:
            WebError: it holds none (404).
        """
        record, problem = self.record(thread)
        return _found(record, pointer, problem)

    def event_text(self, thread: str, seq: int, pointer: str) -> Json:
        """A value of an event, whole; without a pointer the line itself.

        Raises:
            WebError: there is none (404).
        """
        line = self.traces.one(thread, seq)
        if line is None:
            raise WebError(404, "event", "There is no such event.")
        if not pointer:
            return line.raw.decode("utf-8", "replace")
        try:
            fields = loads(line.raw)
        except ValueError as error:
            raise WebError(404, "event", "This line is no event.") from error
        return _found(fields, pointer, None)

    def patch(self, thread: str) -> dict[str, Json]:
        """The run's patch, taken apart.

        Raises:
            WebError: it has none (404).
        """
        record, _ = self.record(thread)
        raw = self.places.read(thread, PATCH, MAX_BYTES + 1)
        source = PATCH
        if raw is None and record is not None and record.get("kind") == "project":
            raw, source = str(record.get("answer") or "").encode("utf-8", "replace"), "answer"
        if not raw:
            raise WebError(404, "no_patch", "This run has no patch.")
        ran = _ran_of(record)
        note = (
            "Marked: changed lines that the wanted tests executed."
            if ran is not None
            else "Which of these lines the tests executed was not written down for this run."
        )
        known = "unknown" if ran is None else "recorded"
        return {"source": source, "lines_ran": known, "ran_note": note, **taken_apart(raw, ran)}

    def blocks(self, thread: str, *, short: bool) -> Iterator[Block]:
        """The run as an export says it, piece by piece."""
        record, _ = self.record(thread)
        patch = self.places.read(thread, PATCH, MAX_BYTES) or b""
        shown = patch.decode("utf-8", "replace")
        return blocks(thread, record, shown, self.traces, short=short)

    def _task(self, thread: str) -> Json:
        raw = self.places.read(thread, "job.json", _JOB_BYTES)
        try:
            job = loads(raw) if raw else None
        except ValueError:
            return None
        task = job.get("task") if isinstance(job, dict) else None
        return Preview(chars=RECORD_CHARS).of(task) if isinstance(task, dict) else None


def _found(value: Json, pointer: str, problem: str | None) -> Json:
    if value is None:
        raise WebError(404, "record", problem or "This run has no record yet.")
    try:
        return pointed(value, pointer)
    except (LookupError, ValueError) as error:
        raise WebError(404, "text", "There is no such text.") from error


def _ran_of(record: dict[str, Any] | None) -> Ran | None:
    """Which changed lines ran, as the verdict says it; `None` where it was not traced."""
    verdict = record.get("verdict") if record else None
    lines = verdict.get("lines") if isinstance(verdict, dict) else None
    return {
        str(one.get("path")): frozenset(n for n in one["ran"] if type(n) is int)
        for one in (lines if isinstance(lines, list) else [])
        if isinstance(one, dict) and isinstance(one.get("ran"), list)
    } or None
