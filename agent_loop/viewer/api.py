"""The addresses that both web doors answer."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from agent_loop.ports import Json
from agent_loop.viewer import asked
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.events import DEFAULT_CHARS, MAX_CHARS, shown
from agent_loop.viewer.exports import Block
from agent_loop.viewer.jsontext import Preview, answer, dumps
from agent_loop.viewer.pages import page
from agent_loop.viewer.patches import taken_apart
from agent_loop.viewer.rows import chosen, counts
from agent_loop.viewer.sse import HEARTBEAT_S, stream
from agent_loop.viewer.writing import markdown
from agent_loop.viewer.writing import page as html_page
from agent_loop.webguard import CALLER, Launch, WebError

PIECE_BYTES = 1 << 17
Thread = Annotated[str, Path(max_length=200, description="Id of a run.")]
Seq = Annotated[int, Path(ge=1, le=asked.MAX_SEQ)]
LastId = Annotated[str, Header(alias="Last-Event-ID", max_length=100)]
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"description": "A name or query that cannot be used."},
    401: {"description": "Not logged in."},
    403: {"description": "Another Host, Origin, or no CSRF token."},
    404: {"description": "Not there."},
    429: {"description": "Too often; see Retry-After."},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a page learns when it opens."""

    kind: str
    version: str
    launch: Launch

    def told(self, root: str) -> dict[str, Json]:
        return {
            "kind": self.kind,
            "version": self.version,
            "csrf": self.launch.csrf,
            "runs_dir": root,
            "can_reply": True,
            "can_start": self.kind == "server",
            "heartbeat_s": HEARTBEAT_S,
            "reply": {"max_chars": 2_000},
            "preview": {"default_chars": DEFAULT_CHARS, "max_chars": MAX_CHARS},
        }


class Api:
    """Answers from one desk."""

    def __init__(self, desk: Desk, about: About) -> None:
        self._desk = desk
        self._about = about

    def router(self) -> APIRouter:
        """All addresses under `/api`."""
        made = APIRouter(prefix="/api", responses=REFUSALS)
        runs, evals = "/runs/{thread}", "/evals"
        gets: dict[str, Callable[..., Any]] = {
            "/session": self.session,
            "/runs": self.runs,
            "/runs/stream": self.runs_stream,
            runs: self.run,
            f"{runs}/text": self.run_text,
            f"{runs}/events": self.events,
            f"{runs}/events/{{seq}}": self.event,
            f"{runs}/events/{{seq}}/text": self.event_text,
            f"{runs}/stream": self.run_stream,
            f"{runs}/figures": self.figures,
            f"{runs}/patch": self.patch,
            f"{runs}/files/{{name}}": self.file,
            f"{runs}/export.md": self.export_markdown,
            f"{runs}/export.html": self.export_html,
            evals: self.evals,
            f"{evals}/compare": self.compare,
            f"{evals}/{{name}}": self.report,
            f"{evals}/{{name}}/patch": self.report_patch,
        }
        for path, handler in gets.items():
            made.add_api_route(path, handler, methods=["GET"], response_class=Response)
        posts: dict[str, Callable[..., Any]] = {
            "/login-link": self.login_link,
            f"{runs}/reply": self.reply,
        }
        for path, writer in posts.items():
            made.add_api_route(path, writer, methods=["POST"], response_class=Response)
        return made

    # --- the list

    def session(self) -> Response:
        """Who this is, and the token that every POST must carry."""
        return answer(self._about.told(str(self._desk.places.root)))

    def login_link(self, request: Request) -> Response:
        """A new address that logs in once, for another browser."""
        _person(request)
        return answer({"url": self._about.launch.link()})

    def runs(self, query: Annotated[asked.RunsAsked, Query()], request: Request) -> Response:
        """Runs, filtered and sorted."""
        everything = self._desk.rows.all()
        cursor = self._desk.row_feed.note(everything)
        base = [row for row in everything if query.evals or not row["eval"]]
        fitting = chosen(base, query.filter())
        told = {
            "total": len(base),
            "matched": len(fitting),
            "offset": query.offset,
            "limit": query.limit,
            "counts": counts(base, "status"),
            "kinds": counts(base, "kind"),
            "runs": fitting[query.offset : query.offset + query.limit],
        }
        raw = dumps(told)
        tag = f'"{hashlib.sha256(raw).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        whole = raw[:-1] + b',"cursor":' + dumps(cursor) + b"}"
        return Response(whole, headers=headers, media_type="application/json")

    async def runs_stream(
        self, query: Annotated[asked.RowsStreamAsked, Query()], last_event_id: LastId = ""
    ) -> Response:
        """Changed rows as they change (SSE)."""
        self._desk.seats.check()
        feed = self._desk.row_feed.stream(last_event_id or query.after, self._desk.seats)
        return stream(feed)

    # --- one run

    def run(self, thread: Thread) -> Response:
        """One run: where it stands, and its record with long texts cut."""
        return answer(self._desk.run(self._desk.thread(thread)))

    def run_text(self, thread: Thread, query: Annotated[asked.TextAsked, Query()]) -> Response:
        """A piece of a long text of the record."""
        return _piece(self._desk.text(self._desk.thread(thread), query.pointer), query)

    def events(self, thread: Thread, query: Annotated[asked.EventsAsked, Query()]) -> Response:
        """A page of the trace, filtered and searched."""
        return answer(page(self._desk.traces, self._desk.thread(thread), query.wanted()))

    def event(
        self, thread: Thread, seq: Seq, query: Annotated[asked.OneAsked, Query()]
    ) -> Response:
        """One event."""
        line = self._desk.traces.one(self._desk.thread(thread), seq)
        if line is None:
            raise WebError(404, "event", "There is no such event.")
        return answer(shown(line, query.chars))

    def event_text(
        self, thread: Thread, seq: Seq, query: Annotated[asked.TextAsked, Query()]
    ) -> Response:
        """A piece of a long text of an event."""
        text = self._desk.event_text(self._desk.thread(thread), seq, query.pointer)
        return _piece(text, query)

    async def run_stream(
        self,
        thread: Thread,
        query: Annotated[asked.StreamAsked, Query()],
        last_event_id: LastId = "",
    ) -> Response:
        """Events of a run as they are written (SSE)."""
        name = self._desk.thread(thread)
        self._desk.seats.check()
        feed = self._desk.run_feed.stream(
            name, last_event_id, query.after, query.chars, self._desk.seats
        )
        return stream(feed)

    def figures(self, thread: Thread) -> Response:
        """What the charts draw."""
        return answer(self._desk.charts.of(self._desk.thread(thread)))

    def patch(self, thread: Thread) -> Response:
        """The patch by file, hunk and line."""
        return answer(self._desk.patch(self._desk.thread(thread)))

    def file(self, thread: Thread, name: Annotated[str, Path(max_length=100)]) -> Response:
        """One of the run's files, as text to keep."""
        places, run = self._desk.places, self._desk.thread(thread)
        if not places.held(run, (name,)):
            raise WebError(404, "file", "The run has no such file.")
        return _download(_read(self._desk, run, name), f"{run}-{name}", "text/plain")

    def export_markdown(
        self, thread: Thread, query: Annotated[asked.ExportAsked, Query()]
    ) -> Response:
        """The run as Markdown."""
        run, parts = self._exported(thread, query)
        return _download(markdown(parts), f"{run}.md", "text/markdown")

    def export_html(self, thread: Thread, query: Annotated[asked.ExportAsked, Query()]) -> Response:
        """The run as one HTML file that loads nothing and runs nothing."""
        run, parts = self._exported(thread, query)
        return _download(html_page(parts, f"Run {run}"), f"{run}.html", "text/html")

    def reply(self, thread: Thread, body: asked.ReplyAsked, request: Request) -> Response:
        """Answer a run that is paused right now."""
        _person(request)
        run = self._desk.places.thread(thread)
        return answer(self._desk.replies.leave(run, body.nonce, body.kind, body.text), 202)

    # --- evals

    def evals(self) -> Response:
        """Every report of evals."""
        return _bounded({"reports": list(self._desk.evals.listed())})

    def report(self, name: Annotated[str, Path(max_length=200)]) -> Response:
        """One report in figures."""
        return _bounded(self._desk.evals.one(name))

    def report_patch(
        self,
        name: Annotated[str, Path(max_length=200)],
        query: Annotated[asked.PatchAsked, Query()],
    ) -> Response:
        """The patch of one attempt."""
        return answer(taken_apart(self._desk.evals.patch(name, query.task, query.n), None))

    def compare(self, query: Annotated[asked.CompareAsked, Query()]) -> Response:
        """Reports side by side."""
        names = [name.strip() for name in query.reports.split(",") if name.strip()]
        return _bounded(self._desk.evals.compare(names))

    def _exported(self, thread: str, query: asked.ExportAsked) -> tuple[str, Iterator[Block]]:
        run = self._desk.thread(thread)
        parts: Iterator[Block] = self._desk.blocks(run, short=query.texts == "short")
        return run, parts


def _person(request: Request) -> None:
    if request.scope.get(CALLER) != "person":
        raise WebError(403, "person", "Only somebody who is logged in on the page may do this.")


def _bounded(value: Json) -> Response:
    return answer(Preview(chars=20_000, items=20_000, nodes=400_000).of(value))


def _piece(value: Json, query: asked.TextAsked) -> Response:
    whole = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
    piece = whole[query.offset : query.offset + query.limit]
    after = query.offset + len(piece)
    headers = {
        "X-Text-Chars": str(len(whole)),
        "X-Text-Next": str(after) if after < len(whole) else "",
    }
    raw = piece.encode("utf-8", "replace")
    return Response(raw, headers=headers, media_type="text/plain; charset=utf-8")


def _read(desk: Desk, thread: str, name: str) -> Iterator[bytes]:
    with desk.places.opened(thread, name) as file:
        while file is not None and (piece := file.read(1 << 18)):
            yield piece


def _download(pieces: Iterator[bytes], name: str, kind: str) -> Response:
    # Names of runs are letters, digits, '.', '_' and '-': nothing in them ends the quotes.
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_large(pieces), headers=headers, media_type=f"{kind}; charset=utf-8")


def _large(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same in fewer pieces: each costs a change of threads."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= PIECE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
