"""What the runs of one process share, and the runs themselves."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import cast

from agent_loop import tasks
from agent_loop.assemble.bench import Bench
from agent_loop.assemble.company import Company, dismiss
from agent_loop.assemble.job import job_of, prompt_chars
from agent_loop.assemble.judging import make_check
from agent_loop.assemble.killable import KillableSandbox
from agent_loop.assemble.probing import Probing
from agent_loop.assemble.project import ProjectDesk
from agent_loop.assemble.research import ResearchDesk, client_for, freeze, shared_dir
from agent_loop.assemble.stored import Verified, compared, read_stored, stored_map
from agent_loop.config import Config, state_dir
from agent_loop.errors import AgentLoopError, StoreFault, UserError
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
    Sandbox,
    SystemClock,
)
from agent_loop.research.client import ArxivClient
from agent_loop.sandbox import ImageBuilder, make_image_builder, make_sandbox
from agent_loop.store import RunStore, Tee
from agent_loop.tasks import ProjectTask, ResearchTask, Task
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
    """Everything the runs of one process share: store, sandbox and models. Made by `opened`."""

    config: Config
    store: RunStore
    notify: Callable[[str], None]
    env: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    _sandbox: Sandbox | None = None
    _probing: Probing = field(default_factory=Probing)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.store.database = self.config.database
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
            self._probing.start(self.sandbox())
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
        bench = self._bench(task, thread, settings, control=ask.control)
        own: Mapping[Role, Model] = {}
        try:
            own = self._company.own(settings, answered={}) if config else {}
            parts = self._parts(thread, own or self._company.shared(settings), bench, ask)
            job = job_of(task, settings, ask.limits)
            return self._finished(bench, start(thread, job, parts, self.store, control=ask.control))
        finally:
            bench.check.close()
            dismiss(own)

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
        """Pick up a killed or paused run. `config` is the run's own (see `stored_config`).

        Raises:
            ThreadError: unknown, finished or driven elsewhere.
        """
        at = standing(self.store, thread)
        task = tasks.from_record(stored_map(self.store, thread, "task"))
        bench = self._bench(task, thread, config, control=ask.control)
        chosen = self._company.own(config, answered=at.replies)
        try:
            parts = self._parts(thread, chosen, bench, ask)
            result = resume(
                thread, parts, self.store, reply=reply, limits=ask.limits, control=ask.control
            )
            return self._finished(bench, result)
        finally:
            bench.check.close()
            dismiss(chosen)

    def replay(self, thread: str, new: str, config: Config, ask: Ask) -> Result:
        """Run a recorded run again under a new thread id, its replies from the trace, no model.

        Raises:
            ThreadError: the recorded run is unknown.
        """
        task = tasks.from_record(stored_map(self.store, thread, "task"))
        names = {role: f"replay:{thread}" for role in config.models}
        replayed = config.model_copy(update={"models": names, "fallback": None})
        bench = self._bench(task, new, replayed, like=thread, control=ask.control)
        chosen = self._company.own(replayed, answered={})
        try:
            job = job_of(task, replayed, ask.limits)
            parts = self._parts(new, chosen, bench, ask)
            return self._finished(bench, start(new, job, parts, self.store, control=ask.control))
        finally:
            bench.check.close()
            dismiss(chosen)

    def fork(self, fork: Fork, new: str, config: Config, ask: Ask) -> Result:
        """Run on from a step of another run under a new thread id.

        A project is copied again as it is now; a research run keeps the papers of the old one.

        Raises:
            ThreadError: see `graph.fork.start_fork`.
        """
        task = tasks.from_record(stored_map(self.store, fork.origin, "task"))
        bench = self._bench(task, new, config, like=fork.origin, control=ask.control)
        chosen = self._company.own(config, answered=fork.past.replies)
        try:
            parts = self._parts(new, chosen, bench, ask)
            control = ask.control
            return self._finished(bench, start_fork(fork, new, parts, self.store, control=control))
        finally:
            bench.check.close()
            dismiss(chosen)

    def verify(self, thread: str) -> Verified:
        """Judge a stored answer again, with no model, from its certificate where it has one.

        Raises:
            ThreadError: unknown, or it has no answer.
            FaultError: could not judge.
        """
        stored = read_stored(self.store, thread)
        check = self._bench(stored.task, thread, self.config).check
        try:
            verdict = check.judge(Candidate(answer=stored.answer, digest=stored.digest))
        finally:
            check.close()
        return compared(stored, verdict)

    @contextlib.contextmanager
    def trial(self, task: Task, folder: Path) -> Iterator[Check]:
        """The check of a task without a run, to judge known answers; `folder` is its own.

        Raises:
            UserError: the task cannot be judged.
            SandboxUnavailable: no sandbox.
        """
        takes_all = self.config.model_copy(update={"edit_format": "auto", "worker_mode": "reply"})
        check = self._bench(task, "", takes_all, folder=folder).check
        try:
            yield check
        finally:
            check.close()

    # --- parts ----------------------------------------------------------------------------

    def fingerprints(self, config: Config | None = None) -> dict[str, Json]:
        """What answers behind each role.

        Raises:
            ModelUnavailable: a model cannot be asked; says what to type.
        """
        chosen = self._company.shared(config or self.config)
        return {role: cast(Json, asdict(model.fingerprint())) for role, model in chosen.items()}

    def sandbox(self) -> Sandbox:
        """The one sandbox of this process.

        Raises:
            SandboxUnavailable: no engine, or no image.
        """
        with self._lock:
            if self._sandbox is None:
                settings = self.config.sandbox_settings
                self._sandbox = make_sandbox(
                    settings, state_dir=state_dir(), notify=self.notify, env=self.env
                )
            return self._sandbox

    def close(self) -> None:
        """Give containers and models back; safe to call twice."""
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            self._probing.wait()  # its container is given back by its own thread
            sandbox.close()
        self._company.close()
        self._telemetry.close()

    def __enter__(self) -> "Workshop":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _bench(
        self,
        task: Task,
        thread: str,
        config: Config,
        *,
        like: str = "",
        folder: Path | None = None,
        control: Control | None = None,
    ) -> Bench:
        """`like`: a thread that found what this one is to find (a replay asks nobody).

        A kill of `control` closes the containers of this bench, and of no other.
        """
        folder = folder or self.store.folder(thread)
        if config.worker_mode == "tools" and not isinstance(task, ProjectTask):
            self.notify(
                f"{task.name}: worker_mode: tools is for project tasks; a {task.kind} task is "
                "answered with one reply."
            )
        if isinstance(task, ResearchTask):
            ignoring = replace(task, numbers="ignore")
            desk = ResearchDesk(
                task if config.numbers == "check" else ignoring,
                folder,
                client=self._arxiv(task),
                clock=self.clock,
                notify=self.notify,
                prompt_chars=prompt_chars(config),
            )
            if like:
                desk.take_from(self.store.folder(like))
            return Bench(check=desk.check, before_worker=desk.step, finish=desk.finish)
        self._probing.start(self.sandbox())
        sandbox = KillableSandbox(self.sandbox(), control) if control else self.sandbox()
        if isinstance(task, ProjectTask):
            return self._project(task, folder, config, sandbox)
        check = make_check(task, sandbox, self.config, self.clock)
        return Bench(check=check, sandbox=sandbox.describe)

    def desk(
        self, task: ProjectTask, folder: Path, config: Config, sandbox: Sandbox | None = None
    ) -> ProjectDesk:
        """A project with its check and its tools, outside of any run; the caller closes both.

        `folder` takes copies and the red run; `sandbox` may be one that stands before ours.
        """
        return ProjectDesk(
            task,
            folder,
            sandbox=sandbox or self.sandbox(),
            builder=self._builder,
            config=config,
            clock=self.clock,
        )

    def _project(self, task: ProjectTask, folder: Path, config: Config, sandbox: Sandbox) -> Bench:
        """With its red run done: a project that cannot be judged is refused before the run."""
        desk = self.desk(task, folder, config, sandbox)
        try:
            desk.check.reproduce()
        except BaseException:
            desk.check.close()
            raise
        return Bench(
            check=desk.check,
            first=desk.step,
            episode=desk.episode,
            finish=desk.finish,
            sandbox=desk.describe,
        )

    def _builder(self) -> ImageBuilder:
        return make_image_builder(
            self.config.sandbox_settings, state_dir=state_dir(), notify=self.notify, env=self.env
        )

    def freeze(self, task: Task, path: Path) -> str:
        """Search for a research task and keep what is found in a file; gives its digest.

        Raises:
            UserError: the task is of another kind, or the file cannot be written.
            SearchUnavailable: arXiv gave nothing.
        """
        if not isinstance(task, ResearchTask):
            raise UserError(f"--freeze is for research tasks; {task.name} is a {task.kind} task.")
        return freeze(task, path, self._arxiv(task)())

    def _arxiv(self, task: ResearchTask) -> Callable[[], ArxivClient]:
        contact = self.config.arxiv_contact
        shared = shared_dir(self.env, state_dir())
        return lambda: client_for(task, shared, self.clock, contact=contact, notify=self.notify)

    def _finished(self, bench: Bench, result: Result) -> Result:
        """Let the kind of task write its files: a full disk there changes no outcome."""
        try:
            bench.finish(result.record)
        except (AgentLoopError, OSError) as error:
            self.notify(f"{result.thread}: its files could not be written: {error}")
        return result

    def _parts(self, thread: str, chosen: Mapping[Role, Model], bench: Bench, ask: Ask) -> Parts:
        spans = self._telemetry.listener(thread)
        return Parts(
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
