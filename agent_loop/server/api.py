"""The addresses that only the job server answers."""

from collections.abc import AsyncIterator
from typing import Annotated

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from agent_loop.server.asked import JobAsked
from agent_loop.server.jobs import OVER, Job, Jobs
from agent_loop.server.roots import Roots
from agent_loop.server.shop import Shop
from agent_loop.viewer.api import REFUSALS, LastId
from agent_loop.viewer.asked import RowsStreamAsked, StreamAsked
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.feeds import EVERY_S, placed
from agent_loop.viewer.jsontext import answer
from agent_loop.viewer.sse import OPENING, event, stream

JobId = Annotated[str, Path(max_length=40)]


class JobsApi:
    """Start, look, listen, cancel."""

    def __init__(self, desk: Desk, jobs: Jobs, shop: Shop, roots: Roots) -> None:
        self._desk = desk
        self._jobs = jobs
        self._shop = shop
        self._roots = roots

    def router(self) -> APIRouter:
        made = APIRouter(prefix="/api/jobs", responses=REFUSALS)
        add = made.add_api_route
        add("/options", self.options, methods=["GET"], response_class=Response)
        add("", self.all, methods=["GET"], response_class=Response)
        add("", self.start, methods=["POST"], response_class=Response, status_code=202)
        add("/stream", self.all_stream, methods=["GET"], response_class=Response)
        add("/{job_id}", self.one, methods=["GET"], response_class=Response)
        add("/{job_id}/stream", self.one_stream, methods=["GET"], response_class=Response)
        cancel = "/{job_id}/cancel"
        add(cancel, self.cancel, methods=["POST"], response_class=Response, status_code=202)
        return made

    def options(self) -> Response:
        """What can be started here."""
        return answer({**self._roots.told(), "queue": self._jobs.queue()})

    def all(self) -> Response:
        """Every job that is remembered, newest first."""
        jobs = [job.told() for job in self._jobs.all()]
        return answer({"jobs": jobs, "queue": self._jobs.queue()})

    def start(self, body: JobAsked) -> Response:
        """Put a run into the queue."""
        wish = body.wish()
        if body.resume is not None:
            job = self._shop.resume(body.resume, wish)
        elif body.task is not None:
            job = self._shop.start(self._roots.task(body.root or "", body.task), wish)
        else:
            task = self._roots.project(
                body.root or "", body.project or "", body.instruction, body.test_command
            )
            job = self._shop.start(task, wish)
        return answer(job.told(), 202, {"Location": f"/api/jobs/{job.id}"})

    def one(self, job_id: JobId) -> Response:
        """One job."""
        return answer(self._jobs.one(job_id).told())

    def cancel(self, job_id: JobId) -> Response:
        """Stop it now; its run can be gone on with."""
        job = self._jobs.one(job_id)
        self._jobs.cancel(job)
        return answer(job.told(), 202)

    async def all_stream(
        self, query: Annotated[RowsStreamAsked, Query()], last_event_id: LastId = ""
    ) -> Response:
        """Changed jobs as they change (SSE)."""
        self._desk.seats.check()
        return stream(self._all(last_event_id or query.after))

    async def one_stream(
        self,
        job_id: JobId,
        query: Annotated[StreamAsked, Query()],
        last_event_id: LastId = "",
    ) -> Response:
        """One job and the events of its run (SSE); ends with the job."""
        job = self._jobs.one(job_id)
        self._desk.seats.check()
        return stream(self._one(job, last_event_id, query))

    async def _all(self, last_id: str) -> AsyncIterator[bytes]:
        launch, _, number = last_id.partition(".")
        known = launch == self._jobs.launch and number.isascii() and number.isdigit()
        seen = int(number[:12]) if known else 0
        with self._desk.seats.taken():
            yield OPENING
            while True:
                for job in self._jobs.since(seen):
                    seen = job.number
                    yield event("job", job.told(), id_=f"{self._jobs.launch}.{seen}")
                await anyio.sleep(EVERY_S)

    async def _one(self, job: Job, last_id: str, query: StreamAsked) -> AsyncIterator[bytes]:
        self._jobs.watch(job)
        try:
            with self._desk.seats.taken():
                yield OPENING
                async for raw in self._heard(job, last_id, query):
                    yield raw
        finally:
            # Kills containers where the job is to go with its client: not in the event loop.
            with anyio.CancelScope(shield=True):
                await run_sync(self._jobs.unwatch, job)

    async def _heard(self, job: Job, last_id: str, query: StreamAsked) -> AsyncIterator[bytes]:
        place, seen, feed = placed(last_id, query.after), -1, self._desk.run_feed
        while True:
            over = job.status in OVER  # before the events: what it did last is among them
            if job.number != seen:
                seen = job.number
                yield event("job", job.told())
            more = await run_sync(feed.more, job.order.thread, place, query.chars)
            if more:
                yield b"".join(more)
            if over and not more:
                yield event("end", job.told())
                return
            if not more:
                await anyio.sleep(EVERY_S)
