"""Orders become runs: joins the workshop, the queue, and what pages hear."""

import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from agent_loop import config as configs
from agent_loop.assemble import Ask, Workshop, refuse_ended, refuse_taken, stored_map
from agent_loop.errors import AgentLoopError, ThreadError
from agent_loop.graph.parts import Limits, Result
from agent_loop.paths import thread_name
from agent_loop.server.hearing import Hearing
from agent_loop.server.jobs import Job, Jobs, Order
from agent_loop.store import MailboxOwner
from agent_loop.tasks import Task
from agent_loop.viewer.standing import Standings
from agent_loop.webguard import WebError

LOOK_S = 0.5
"""How often mailboxes of paused jobs are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What everybody who starts a job may say."""

    thread: str | None = None
    limits: Limits
    cancel_on_disconnect: bool = False


class Shop:
    """Takes orders. Any thread may ask."""

    def __init__(
        self,
        workshop: Workshop,
        jobs: Jobs,
        hearing: Hearing,
        standings: Standings,
        env: Mapping[str, str],
    ) -> None:
        self._workshop = workshop
        self._jobs = jobs
        self._hearing = hearing
        self._standings = standings
        self._env = env
        self._stop = threading.Event()
        self._looker = threading.Thread(target=self._look, name="mailboxes", daemon=True)
        self._looker.start()

    def start(self, task: Task, wish: Wish) -> Job:
        """A new run.

        Raises:
            WebError: no room, or the thread id cannot be used.
        """
        self._jobs.check_room()
        thread = self._thread(task, wish.thread)
        order = Order(
            task=task.name,
            kind=task.kind,
            thread=thread,
            run=lambda job: self._run(task, job),
            limits=wish.limits,
            cancel_on_disconnect=wish.cancel_on_disconnect,
        )
        return self._added(order, fresh=True)

    def resume(self, thread: str, wish: Wish) -> Job:
        """Go on with a run that was cut off, paused or stopped by its budget.

        Raises:
            WebError: unknown (404), ended, or driven elsewhere (409).
        """
        self._jobs.check_room()
        store = self._workshop.store
        try:
            task = stored_map(store, thread_name(thread), "task")
        except ThreadError as error:
            raise WebError(404, "run", str(error)) from error
        try:
            refuse_ended(store, thread)
        except AgentLoopError as error:
            raise WebError(409, "run", str(error)) from error
        order = Order(
            task=str(task.get("name") or thread)[:200],
            kind=str(task.get("kind") or "")[:20],
            thread=thread,
            run=self._go_on,
            limits=wish.limits,
            cancel_on_disconnect=wish.cancel_on_disconnect,
        )
        return self._added(order, fresh=False)

    def close(self) -> None:
        """Stop everything that runs; safe to call twice."""
        self._stop.set()
        self._looker.join(5.0)
        self._jobs.close()
        self._workshop.close()

    # --- inner

    def _added(self, order: Order, *, fresh: bool) -> Job:
        try:
            return self._jobs.add(order)
        except WebError:
            if fresh:
                self._workshop.give_back(order.thread)
            raise

    def _thread(self, task: Task, wanted: str | None) -> str:
        if wanted is None:
            return self._workshop.new_thread(task.name)
        store = self._workshop.store
        try:
            thread_name(wanted)
            refuse_taken(store, wanted)
            store.folder(wanted).mkdir(parents=True)
        except ThreadError as error:
            raise WebError(422, "thread", str(error)) from error
        except FileExistsError as error:
            raise WebError(409, "thread", f"There is a run '{wanted}' already.") from error
        return wanted

    def _run(self, task: Task, job: Job) -> Result:
        """The first round runs the task, later ones go on with it."""
        if job.rounds > 1:
            return self._go_on(job)
        settings = self._workshop.config
        # Scripts are read from their first line for every run; other models are shared.
        scripted = any(name.startswith("scripted:") for name in settings.models.values())
        try:
            return self._workshop.run(
                task, job.order.thread, self._ask(job), settings if scripted else None
            )
        finally:
            self._clear(job.order.thread)

    def _clear(self, thread: str) -> None:
        """A run that never began (cancelled in its red run, say) leaves nothing."""
        store = self._workshop.store
        if not (store.folder(thread) / "job.json").exists():
            shutil.rmtree(store.folder(thread), ignore_errors=True)

    def _go_on(self, job: Job) -> Result:
        thread = job.order.thread
        stored = stored_map(self._workshop.store, thread, "config")
        settings = configs.from_record(stored, self._env, self._workshop.config)
        return self._workshop.go_on(thread, settings, self._ask(job, again=True), None)

    def _ask(self, job: Job, *, again: bool = False) -> Ask:
        order, workshop = job.order, self._workshop
        mailbox = workshop.store.mailbox(order.thread)
        limits = None if again and order.limits == Limits() else order.limits
        return Ask(
            # Nobody waits in a slot: the run pauses, and goes on when an answer lies there.
            owner=MailboxOwner(mailbox, workshop.clock, wait_s=0),
            live=self._hearing.listener(order.thread),
            control=job.control,
            limits=limits,
        )

    def _look(self) -> None:
        while not self._stop.wait(LOOK_S):
            for job in self._jobs.paused():
                pause = self._standings.pause(job.order.thread, None)
                if pause is not None and pause.reply_waiting:
                    self._jobs.again(job)
