"""What each kind of task is judged with; one sandbox and one probe for all runs of a process."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_loop.assemble.bench import Bench
from agent_loop.assemble.job import prompt_chars
from agent_loop.assemble.judging import make_check
from agent_loop.assemble.killable import KillableSandbox
from agent_loop.assemble.probing import Probing
from agent_loop.assemble.project import ProjectDesk
from agent_loop.assemble.research import ResearchDesk, client_for, freeze, shared_dir
from agent_loop.config import Config, state_dir
from agent_loop.errors import UserError
from agent_loop.graph.parts import Control
from agent_loop.ports import Clock, Sandbox, SystemClock
from agent_loop.research.client import ArxivClient
from agent_loop.sandbox import ImageBuilder, make_image_builder, make_sandbox
from agent_loop.tasks import ProjectTask, ResearchTask, Task


@dataclass(kw_only=True)
class Benches:
    """Makes the bench of a task. The caller closes the check of each, and this at the end."""

    config: Config
    notify: Callable[[str], None]
    env: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    _sandbox: Sandbox | None = None
    _probing: Probing = field(default_factory=Probing)
    _lock: threading.Lock = field(default_factory=threading.Lock)

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

    def probe(self) -> None:
        """Let its protections be looked at while something else is done.

        Raises:
            SandboxUnavailable: as `sandbox`.
        """
        self._probing.start(self.sandbox())

    def builder(self) -> ImageBuilder:
        """Makes the images of projects; the caller closes it."""
        return make_image_builder(
            self.config.sandbox_settings, state_dir=state_dir(), notify=self.notify, env=self.env
        )

    def bench(
        self,
        task: Task,
        folder: Path,
        config: Config,
        *,
        like: Path | None = None,
        control: Control | None = None,
    ) -> Bench:
        """The bench of one run, or of one judgement.

        Args:
            task: of any kind.
            folder: the run's own.
            config: of the run.
            like: the folder of a run that found what this one is to find (a replay asks nobody).
            control: its kill closes the containers of this bench, and of no other.

        Raises:
            UserError: the task cannot be judged.
            SandboxUnavailable: no sandbox.
        """
        if config.worker_mode == "tools" and not isinstance(task, ProjectTask):
            self.notify(
                f"{task.name}: worker_mode: tools is for project tasks; a {task.kind} task is "
                "answered with one reply."
            )
        if isinstance(task, ResearchTask):
            return self._research(task, folder, config, like)
        self.probe()
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
            builder=self.builder,
            config=config,
            clock=self.clock,
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

    def close(self) -> None:
        """Give the containers back; safe to call twice."""
        with self._lock:
            sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            self._probing.wait()  # its container is given back by its own thread
            sandbox.close()

    def __enter__(self) -> "Benches":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _research(
        self, task: ResearchTask, folder: Path, config: Config, like: Path | None
    ) -> Bench:
        ignoring = replace(task, numbers="ignore")
        desk = ResearchDesk(
            task if config.numbers == "check" else ignoring,
            folder,
            client=self._arxiv(task),
            clock=self.clock,
            notify=self.notify,
            prompt_chars=prompt_chars(config),
        )
        if like is not None:
            desk.take_from(like)
        return Bench(check=desk.check, before_worker=desk.step, finish=desk.finish)

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

    def _arxiv(self, task: ResearchTask) -> Callable[[], ArxivClient]:
        contact = self.config.arxiv_contact
        shared = shared_dir(self.env, state_dir())
        return lambda: client_for(task, shared, self.clock, contact=contact, notify=self.notify)
