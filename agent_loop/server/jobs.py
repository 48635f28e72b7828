"""Jobs: runs that were asked for, waiting in a bounded queue for one of a few slots."""

import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from agent_loop.errors import AgentLoopError, Cancelled
from agent_loop.graph.parts import Control, Limits, Result
from agent_loop.ports import Clock, Json
from agent_loop.webguard import WebError

KEPT = 500
"""Ended jobs that are remembered; their runs stay on the disk."""
STOP_S = 10.0
JobStatus = Literal["waiting", "running", "paused", "ended", "cancelled", "failed"]
OVER = frozenset({"ended", "cancelled", "failed"})
RETRY_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be run. `run` drives it to its end; called again, it goes on with it."""

    task: str
    kind: str
    thread: str
    run: Callable[["Job"], Result]
    limits: Limits
    cancel_on_disconnect: bool = False


@dataclass(slots=True, kw_only=True)
class Job:
    """One job as it stands; changed under the lock of `Jobs` only."""

    id: str
    order: Order
    created: str
    status: JobStatus = "waiting"
    outcome: str | None = None
    reason: str = ""
    started: str | None = None
    ended: str | None = None
    cancelling: bool = False
    number: int = 0
    """Grows with every change of any job."""
    rounds: int = 0
    """How often it was driven; more than once where the owner was asked."""
    watchers: int = 0
    control: Control = field(default_factory=Control)

    def told(self) -> dict[str, Json]:
        # The number is read first: what was read after it is at least as new as it says, so that a
        # listener who drops lower numbers never keeps an older state for a newer one.
        return {
            "number": self.number,
            "id": self.id,
            "thread": self.order.thread,
            "task": self.order.task,
            "kind": self.order.kind,
            "status": self.status,
            "outcome": self.outcome,
            "reason": self.reason[:2_000],
            "created": self.created,
            "started": self.started,
            "ended": self.ended,
            "cancel_on_disconnect": self.order.cancel_on_disconnect,
            "cancelling": self.cancelling,
        }


class Jobs:
    """The queue and its threads. Any thread may ask."""

    def __init__(self, *, slots: int, room: int, clock: Clock) -> None:
        """`slots` run at a time, at most `room` wait."""
        self.slots = slots
        self.room = room
        self.launch = secrets.token_hex(4)
        self._clock = clock
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._number = 0
        self._closing = False
        self._threads = [
            threading.Thread(target=self._work, name=f"job-{n}", daemon=True) for n in range(slots)
        ]
        for thread in self._threads:
            thread.start()

    def add(self, order: Order) -> Job:
        """Put a job into the queue.

        Raises:
            WebError: closing (503), the queue is full (429), or its run has a job already (409).
        """
        with self._changed:
            self._refuse(order.thread)
            job = Job(id=secrets.token_hex(8), order=order, created=self._clock.now_iso())
            self._jobs[job.id] = job
            self._waiting.append(job)
            self._note(job)
            self._forget()
            self._changed.notify_all()
            return job

    def check_room(self) -> None:
        """Before anything is made for a job: there is room for one.

        Raises:
            WebError: closing (503), or the queue is full (429).
        """
        with self._changed:
            self._refuse("")

    def one(self, id_: str) -> Job:
        """Raises WebError for an unknown id."""
        with self._changed:
            job = self._jobs.get(id_)
        if job is None:
            raise WebError(404, "job", "There is no such job.")
        return job

    def all(self) -> list[Job]:
        """Newest first."""
        with self._changed:
            return list(reversed(self._jobs.values()))

    def since(self, number: int) -> list[Job]:
        """Jobs that changed after this, in that order."""
        with self._changed:
            changed = [job for job in self._jobs.values() if job.number > number]
        return sorted(changed, key=lambda job: job.number)

    def queue(self) -> dict[str, Json]:
        """How full it is."""
        with self._changed:
            running = sum(job.status == "running" for job in self._jobs.values())
            waiting = len(self._waiting)
        return {"running": running, "waiting": waiting, "slots": self.slots, "room": self.room}

    def cancel(self, job: Job) -> None:
        """Stop it now: the model's answer is dropped, its containers die, its run can go on."""
        with self._changed:
            if job.status in OVER or job.cancelling:
                return
            job.cancelling = True
            if job.status in ("waiting", "paused"):
                if job in self._waiting:
                    self._waiting.remove(job)
                self._over(job, "cancelled", "cancelled before it ran on")
            self._note(job)
        job.control.kill()  # closes containers: not under the lock

    def again(self, job: Job) -> bool:
        """Drive a paused job on, now that its owner has answered."""
        with self._changed:
            if job.status != "paused" or job.cancelling or self._closing:
                return False
            job.status, job.control = "waiting", Control()
            self._waiting.append(job)
            self._note(job)
            self._changed.notify_all()
            return True

    def paused(self) -> list[Job]:
        """Jobs whose owner is asked."""
        with self._changed:
            return [job for job in self._jobs.values() if job.status == "paused"]

    def watch(self, job: Job) -> None:
        """Somebody listens to it."""
        with self._changed:
            job.watchers += 1

    def unwatch(self, job: Job) -> None:
        """One who listened has gone; the last one may take the job along."""
        with self._changed:
            job.watchers -= 1
            alone = job.watchers <= 0 and job.order.cancel_on_disconnect
        if alone:
            self.cancel(job)

    def close(self) -> None:
        """Kill every run and wait for the threads. Safe to call twice."""
        with self._changed:
            self._closing = True
            jobs = list(self._jobs.values())
            self._changed.notify_all()
        for job in jobs:
            self.cancel(job)
        for thread in self._threads:
            thread.join(STOP_S)

    @property
    def closing(self) -> bool:
        return self._closing

    # --- inner

    def _refuse(self, thread: str) -> None:
        if self._closing:
            raise WebError(503, "closing", "The server is stopping.", retry_after_s=RETRY_S)
        if len(self._waiting) >= self.room:
            raise WebError(
                429, "full", f"{self.room} jobs are waiting already.", retry_after_s=RETRY_S
            )
        live = (job for job in self._jobs.values() if job.status not in OVER)
        if thread and any(job.order.thread == thread for job in live):
            raise WebError(409, "running", "This run has a job already.")

    def _forget(self) -> None:
        over = [id_ for id_, job in self._jobs.items() if job.status in OVER and not job.watchers]
        for id_ in over[: max(0, len(self._jobs) - KEPT)]:
            del self._jobs[id_]

    def _note(self, job: Job) -> None:
        self._number += 1
        job.number = self._number

    def _over(self, job: Job, status: JobStatus, reason: str) -> None:
        job.status, job.reason, job.ended = status, reason, self._clock.now_iso()

    # --- in a thread

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closing:
                    self._changed.wait()
                if self._closing:
                    return
                job = self._waiting.popleft()
                job.status, job.started = "running", job.started or self._clock.now_iso()
                job.rounds += 1
                self._note(job)
            self._drive(job)

    def _drive(self, job: Job) -> None:
        try:
            result = job.order.run(job)
        except Cancelled as stop:
            self._settle(job, "cancelled", None, str(stop))
        except AgentLoopError as error:
            self._settle(job, "failed", "error", str(error))
        except Exception as error:  # the edge of a job: the server goes on
            self._settle(job, "failed", "error", f"unexpected {type(error).__name__}: {error}")
        else:
            status: JobStatus = "ended"
            if result.outcome == "paused" and not job.cancelling:
                status = "paused"
            elif result.outcome == "cancelled":
                status = "cancelled"
            self._settle(job, status, result.outcome, result.reason)

    def _settle(self, job: Job, status: JobStatus, outcome: str | None, reason: str) -> None:
        with self._changed:
            job.outcome = outcome
            if status == "paused":
                job.status, job.reason = status, reason
            else:
                self._over(job, status, reason)
            self._note(job)
