"""What the runs of one process share, and the runs themselves."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast

from agent_loop import tasks
from agent_loop.assemble.bench import Bench
from agent_loop.assemble.benches import Benches
from agent_loop.assemble.company import Company
from agent_loop.assemble.job import job_of
from agent_loop.assemble.stored import Verified, compared, read_stored, stored_map
from agent_loop.config import Config
from agent_loop.errors import AgentLoopError, StoreFault
from agent_loop.graph.drive import resume, standing, start
from agent_loop.graph.fork import Fork, start_fork
from agent_loop.graph.parts import Control, Limits, Parts, Result
from agent_loop.ports import (
    Candidate,
    Check,
    Clock,
    Events,
    Json,
    Model,
    Owner,
    OwnerReply,
    Role,
    SystemClock,
)
from agent_loop.store import RunStore, Tee
from agent_loop.tasks import ResearchTask, Task
from agent_loop.telemetry import Telemetry


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What one run is given beside its task."""

    owner: Owner
    live: Events
    control: Control
    limits: Limits | None = None
    """`None`: none for a new run, those it has for one that goes on."""


@dataclass(kw_only=True)
class Workshop:
    """Everything the runs of one process share: store, benches and models."""

    config: Config
    store: RunStore
    notify: Callable[[str], None]
    env: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.store.database = self.config.database
        self.benches = Benches(
            config=self.config, notify=self.notify, env=self.env, clock=self.clock
        )
        self._company = Company(self.store.root, self.clock, self.notify)
        self._telemetry = Telemetry(self.config.otel)

    def share_servers(self) -> None:
        """Several runs at once: the calls of a model server are put in order (`models.gate`)."""
        self._company.gated = True

    # --- new runs -------------------------------------------------------------------------

    def prepare(self, given: Sequence[Task], config: Config | None = None) -> None:
        """Before the first call: every configured model can be asked, the probe is on its way.

        Raises:
            ModelUnavailable: a role's model is missing or its server is down; says what to type.
            SandboxUnavailable: no engine.
        """
        if any(not isinstance(task, ResearchTask) for task in given):
            self.benches.probe()
        self.preflight(config=config)

    def preflight(
        self, notify: Callable[[str], None] | None = None, config: Config | None = None
    ) -> Mapping[Role, str]:
        """Find out whether every configured role's model can be asked; gives their names.

        `notify` hears of stand-ins instead of the one all runs use.

        Raises:
            ModelUnavailable: one cannot; says what to type.
        """
        self._company.notify = notify or self.notify
        chosen = self._company.shared(config or self.config)
        return {role: model.name for role, model in chosen.items()}

    def run(self, task: Task, thread: str, ask: Ask, config: Config | None = None) -> Result:
        """Run a task under a new thread id.

        `config` instead of the workshop's own gives the run models of its own (an eval's attempt
        has its own seed, and its script from the first line).

        Raises:
            UserError: the task or the thread id cannot be used.
            FaultError: nothing could be started.
        """
        settings = config or self.config
        bench = self.benches.bench(task, self.store.folder(thread), settings, control=ask.control)
        models = self._company.cast(settings, answered={} if config else None)

        def drive(parts: Parts) -> Result:
            job = job_of(task, settings, ask.limits)
            return start(thread, job, parts, self.store, control=ask.control)

        return self._driven(thread, ask, bench, models, drive)

    def new_thread(self, name: str) -> str:
        """`<task>-<UTC time>`, numbered where that is taken."""
        stamp = self.clock.now_iso()[:19].replace("-", "").replace(":", "").replace("T", "-")
        base = f"{name[:60]}-{stamp}"
        thread, count = base, 1
        try:
            with self._lock:
                while self.store.folder(thread).exists():
                    count += 1
                    thread = f"{base}-{count}"
                self.store.folder(thread).mkdir(parents=True)
        except OSError as error:
            raise StoreFault(f"{self.store.folder(thread)}: cannot be made: {error}.") from error
        return thread

    def give_back(self, thread: str) -> None:
        """Remove the folder of a run that never began."""
        with contextlib.suppress(OSError):  # it is not empty: the run began
            self.store.folder(thread).rmdir()

    # --- old runs -------------------------------------------------------------------------

    def go_on(self, thread: str, config: Config, ask: Ask, reply: OwnerReply | None) -> Result:
        """Pick up a killed or paused run. `config` is the run's own (`config.from_record`).

        Raises:
            ThreadError: unknown, finished or driven elsewhere.
        """
        replies = standing(self.store, thread).replies
        task = tasks.from_record(stored_map(self.store, thread, "task"))
        bench = self.benches.bench(task, self.store.folder(thread), config, control=ask.control)
        models = self._company.cast(config, answered=replies)

        def drive(parts: Parts) -> Result:
            limits, control = ask.limits, ask.control
            return resume(thread, parts, self.store, reply=reply, limits=limits, control=control)

        return self._driven(thread, ask, bench, models, drive)

    def replay(self, thread: str, new: str, config: Config, ask: Ask) -> Result:
        """Run a recorded run again under a new thread id, its replies from the trace, no model.

        Raises:
            ThreadError: the recorded run is unknown.
        """
        task = tasks.from_record(stored_map(self.store, thread, "task"))
        names = {role: f"replay:{thread}" for role in config.models}
        replayed = config.model_copy(update={"models": names, "fallback": None})
        old, folder = self.store.folder(thread), self.store.folder(new)
        bench = self.benches.bench(task, folder, replayed, like=old, control=ask.control)
        models = self._company.cast(replayed, answered={})

        def drive(parts: Parts) -> Result:
            job = job_of(task, replayed, ask.limits)
            return start(new, job, parts, self.store, control=ask.control)

        return self._driven(new, ask, bench, models, drive)

    def fork(self, fork: Fork, new: str, config: Config, ask: Ask) -> Result:
        """Run on from a step of another run under a new thread id.

        A project is copied again as it is now; a research run keeps the papers of the old one.

        Raises:
            ThreadError: see `graph.fork.start_fork`.
        """
        task = tasks.from_record(stored_map(self.store, fork.origin, "task"))
        old, folder = self.store.folder(fork.origin), self.store.folder(new)
        bench = self.benches.bench(task, folder, config, like=old, control=ask.control)
        models = self._company.cast(config, answered=fork.past.replies)

        def drive(parts: Parts) -> Result:
            return start_fork(fork, new, parts, self.store, control=ask.control)

        return self._driven(new, ask, bench, models, drive)

    def verify(self, thread: str) -> Verified:
        """Judge a stored answer again, with no model, from its certificate where it has one.

        Raises:
            ThreadError: unknown, or it has no answer.
            FaultError: could not judge.
        """
        stored = read_stored(self.store, thread)
        bench = self.benches.bench(stored.task, self.store.folder(thread), self.config)
        with contextlib.closing(bench.check) as check:
            verdict = check.judge(Candidate(answer=stored.answer, digest=stored.digest))
            ground = bench.sandbox()
        return compared(stored, verdict, ground)

    @contextlib.contextmanager
    def trial(self, task: Task, folder: Path) -> Iterator[Check]:
        """The check of a task without a run, to judge known answers; `folder` is its own.

        Raises:
            UserError: the task cannot be judged.
            SandboxUnavailable: no sandbox.
        """
        takes_all = self.config.model_copy(update={"edit_format": "auto", "worker_mode": "reply"})
        with contextlib.closing(self.benches.bench(task, folder, takes_all).check) as check:
            yield check

    # --- parts ----------------------------------------------------------------------------

    def fingerprints(self, config: Config | None = None) -> dict[str, Json]:
        """What answers behind each role.

        Raises:
            ModelUnavailable: a model cannot be asked; says what to type.
        """
        chosen = self._company.shared(config or self.config)
        return {role: cast(Json, asdict(model.fingerprint())) for role, model in chosen.items()}

    def close(self) -> None:
        """Give containers and models back; safe to call twice."""
        self.benches.close()
        self._company.close()
        self._telemetry.close()

    def __enter__(self) -> "Workshop":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _driven(
        self,
        thread: str,
        ask: Ask,
        bench: Bench,
        models: contextlib.AbstractContextManager[Mapping[Role, Model]],
        drive: Callable[[Parts], Result],
    ) -> Result:
        """Drive a run and give back what it was given, whatever becomes of it."""
        with contextlib.closing(bench.check), models as chosen:
            spans = self._telemetry.listener(thread)
            parts = Parts(
                models=chosen,
                check=bench.check,
                owner=ask.owner,
                clock=self.clock,
                live=Tee(ask.live, spans) if spans else ask.live,
                sandbox=bench.sandbox,
                first=bench.first,
                before_worker=bench.before_worker,
                episode=bench.episode,
            )
            return self._finished(bench, drive(parts))

    def _finished(self, bench: Bench, result: Result) -> Result:
        """Let the kind of task write its files: a full disk there changes no outcome."""
        try:
            bench.finish(result.record)
        except (AgentLoopError, OSError) as error:
            self.notify(f"{result.thread}: its files could not be written: {error}")
        return result
