"""Config + task -> a ready run; the only module that names implementations."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop import models, tasks
from agent_loop.checks.code import CodeCheck, cannot_judge_apart
from agent_loop.config import Config, ModelSettings
from agent_loop.errors import AgentLoopError, TaskFileError, ThreadError, UserError
from agent_loop.graph.drive import resume, standing, start
from agent_loop.graph.parts import Caps, Control, Job, Parts, Result
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
    Verdict,
)
from agent_loop.prompts import Brief
from agent_loop.sandbox import make_sandbox
from agent_loop.store import RunStore
from agent_loop.tasks import CodeTask, Task

STATE_DIR = Path(".scratch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What one run is given beside its task."""

    owner: Owner
    live: Events
    control: Control
    caps: Caps


@dataclass(slots=True, kw_only=True)
class Workshop:
    """Everything the runs of one process share: store, sandbox and models. Made by `opened`."""

    config: Config
    store: RunStore
    notify: Callable[[str], None]
    clock: Clock = field(default_factory=SystemClock)
    _sandbox: Sandbox | None = None
    _probe: "Future[None] | None" = None
    _models: dict[str, Mapping[Role, Model]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # --- new runs -------------------------------------------------------------------------

    def prepare(self) -> None:
        """Before the first call: every configured model can be asked, the probe is on its way.

        Raises:
            ModelUnavailable: a role's model is missing or its server is down; says what to type.
            SandboxUnavailable: no engine.
        """
        self._start_probe()
        self._chosen(self.config)

    def run(self, task: Task, thread: str, ask: Ask) -> Result:
        """Run a task under a new thread id.

        Raises:
            UserError: the task or the thread id cannot be used.
            FaultError: nothing could be started.
        """
        self._start_probe()
        check = self._check(task)
        try:
            parts = self._parts(self._chosen(self.config), check, ask)
            return start(thread, self._job(task, ask.caps), parts, self.store, control=ask.control)
        finally:
            check.close()

    def new_thread(self, name: str) -> str:
        """`<task>-<UTC time>`, numbered where that is taken."""
        stamp = self.clock.now_iso()[:19].replace("-", "").replace(":", "").replace("T", "-")
        base = f"{name[:60]}-{stamp}"
        thread, count = base, 1
        with self._lock:
            while self.store.folder(thread).exists():
                count += 1
                thread = f"{base}-{count}"
            self.store.folder(thread).mkdir(parents=True)
        return thread

    # --- old runs -------------------------------------------------------------------------

    def go_on(self, thread: str, config: Config, ask: Ask, reply: OwnerReply | None) -> Result:
        """Pick up a killed or paused run. `config` is the run's own (see `stored_config`).

        Raises:
            ThreadError: unknown, finished or driven elsewhere.
        """
        at = standing(self.store, thread)
        task = tasks.from_record(self.stored(thread, "task"))
        self._start_probe()
        check = self._check(task)
        chosen = self._choose(config, answered=at.replies)
        try:
            parts = self._parts(chosen, check, ask)
            return resume(thread, parts, self.store, reply=reply, control=ask.control)
        finally:
            check.close()
            _close(chosen)

    def replay(self, thread: str, new: str, config: Config, ask: Ask) -> Result:
        """Run a recorded run again under a new thread id, its replies from the trace, no model.

        Raises:
            ThreadError: the recorded run is unknown.
        """
        task = tasks.from_record(self.stored(thread, "task"))
        names = {role: f"replay:{thread}" for role in config.models}
        replayed = config.model_copy(update={"models": names, "fallback": None})
        self._start_probe()
        check = self._check(task)
        chosen = self._choose(replayed, answered={})
        try:
            job = self._job(task, ask.caps, replayed)
            return start(new, job, self._parts(chosen, check, ask), self.store, control=ask.control)
        finally:
            check.close()
            _close(chosen)

    def verify(self, thread: str) -> Verdict:
        """Judge a stored answer again, with no model.

        Raises:
            ThreadError: unknown, or it has no answer.
            FaultError: could not judge.
        """
        stored = self.store.read_file(thread, "certificate.json")
        task = tasks.from_record(self.stored(thread, "task"))
        answer, digest = _answer(stored or self.store.read_record(thread))
        if not answer:
            raise ThreadError(f"thread '{thread}' holds no answer to judge. See --show {thread}.")
        check = self._check(task)
        try:
            return check.judge(Candidate(answer=answer, digest=digest))
        finally:
            check.close()

    def stored(self, thread: str, key: str) -> Mapping[str, Json]:
        """A map of the job a thread was started with.

        Raises:
            ThreadError: there is no such thread.
        """
        job = self.store.read_file(thread, "job.json")
        found = job.get(key) if job else None
        if not isinstance(found, Mapping):
            raise ThreadError(f"thread '{thread}' is unknown. See which there are with --list.")
        return found

    # --- parts ----------------------------------------------------------------------------

    def sandbox(self) -> Sandbox:
        """The one sandbox of this process.

        Raises:
            SandboxUnavailable: no engine, or no image.
        """
        with self._lock:
            if self._sandbox is None:
                settings = self.config.sandbox_settings
                self._sandbox = make_sandbox(settings, state_dir=STATE_DIR, notify=self.notify)
            return self._sandbox

    def close(self) -> None:
        """Give containers and models back; safe to call twice."""
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
            chosen, self._models = list(self._models.values()), {}
        if sandbox is not None:
            sandbox.close()
        for group in chosen:
            _close(group)

    def __enter__(self) -> "Workshop":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _start_probe(self) -> None:
        """Look at the protections while the first model thinks; a miss is raised at first use."""
        sandbox = self.sandbox()
        with self._lock:
            if self._probe is not None:
                return
            self._probe = Future()
        threading.Thread(target=_probe, args=(sandbox, self._probe), daemon=True).start()

    def _check(self, task: Task) -> Check:
        if isinstance(task, CodeTask):
            refuse_unjudgeable(task)
            return CodeCheck(task, self.sandbox(), self.config.check, self.clock)
        raise UserError(
            f"task {task.name}: tasks of type '{task.kind}' cannot be run yet. Give a code task."
        )

    def _chosen(self, config: Config) -> Mapping[Role, Model]:
        key = config.hash()
        with self._lock:
            if key in self._models:
                return self._models[key]
        chosen = self._choose(config, answered={})
        with self._lock:
            return self._models.setdefault(key, chosen)

    def _choose(self, config: Config, *, answered: Mapping[str, int]) -> Mapping[Role, Model]:
        maker = models.Maker(
            runs=self.store.root,
            clock=self.clock,
            answered={role: n for role, n in answered.items() if role in config.models},  # type: ignore[misc]
        )
        wanted = {role: config.model(role) for role in config.models}
        chosen = models.choose(wanted, maker=maker, fallback=_fallback(config))
        for note in chosen.notes:
            self.notify(note)
        return chosen.models

    def _parts(self, chosen: Mapping[Role, Model], check: Check, ask: Ask) -> Parts:
        return Parts(
            models=chosen,
            check=check,
            owner=ask.owner,
            clock=self.clock,
            live=ask.live,
            sandbox=self.sandbox().describe,
        )

    def _job(self, task: Task, caps: Caps, config: Config | None = None) -> Job:
        config = config or self.config
        shown = task.tests if isinstance(task, CodeTask) else ()
        return Job(
            brief=Brief(kind=task.kind, task=task.task, tests=shown),
            name=task.name,
            task_hash=task.source_hash,
            test_hash=tasks.test_hash(task),
            task=tasks.to_record(task),
            config=config.as_record(),
            config_hash=config.hash(),
            caps=caps,
            prompt_variants=config.prompt_variants,
            prompt_chars=config.max_context_chars,
        )


def refuse_unjudgeable(task: Task) -> None:
    """Look over a code task's asserts before anything runs.

    Raises:
        TaskFileError: an assert cannot be judged apart and the file does not say `isolation`.
    """
    if not isinstance(task, CodeTask) or task.isolation is not None:
        return
    found = cannot_judge_apart(task)
    if found:
        where = str(task.source or task.name)
        lines = "; ".join(f"line {finding.line}: {finding.reason}" for finding in found[:3])
        raise TaskFileError(
            where,
            f"cannot be judged with solution and asserts apart: {lines}",
            "Add 'isolation: shared' (weaker, and the verdict says so), or write the assert "
            "over plain values.",
        )


def _fallback(config: Config) -> Mapping[Role, ModelSettings] | None:
    name = config.fallback
    return {role: config.settings_for(name, role) for role in config.models} if name else None


def _probe(sandbox: Sandbox, done: "Future[None]") -> None:
    try:
        sandbox.probe()
        done.set_result(None)
    except AgentLoopError as error:  # raised again by whoever opens a session first
        done.set_exception(error)


def _answer(fields: Mapping[str, Json]) -> tuple[str, str]:
    return str(fields.get("answer") or ""), str(fields.get("answer_digest") or "")


def _close(chosen: Mapping[Role, Model]) -> None:
    for model in chosen.values():
        model.close()
