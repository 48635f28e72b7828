"""Project checks outside a run: for tools that judge many projects and ask no model."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop.assemble.benches import Benches
from agent_loop.checks.project import Place, ProjectCheck
from agent_loop.config import Config
from agent_loop.errors import SandboxUnavailable
from agent_loop.models import Maker
from agent_loop.ports import Clock, Limits, Model, Sandbox, SystemClock
from agent_loop.sandbox import PROJECT_PYTHON
from agent_loop.tasks import ProjectTask


@dataclass(kw_only=True)
class Yard:
    """One sandbox and the images of many projects."""

    config: Config
    notify: Callable[[str], None]
    env: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    python: str = PROJECT_PYTHON

    def __post_init__(self) -> None:
        self._benches = Benches(
            config=self.config, notify=self.notify, env=self.env, clock=self.clock
        )

    @property
    def sandbox(self) -> Sandbox:
        """Raises SandboxUnavailable: no engine, or a sandbox that never runs projects."""
        if self.config.sandbox_settings.kind == "local":
            raise SandboxUnavailable("sandbox: local cannot run projects. Use sandbox: docker")
        return self._benches.sandbox()

    @property
    def limits(self) -> Limits:
        """Of one container of a project check."""
        most = self.config.sandbox_settings
        return Limits(memory_mib=most.memory_mib, cpus=most.cpus, pids=most.pids)

    def image(self, requirements: Sequence[str]) -> str:
        """Id of the image with pytest and these packages, built where it is missing.

        Raises:
            UserError: a package cannot be had; the message has pip's words.
        """
        with closing(self._benches.builder()) as builder:
            return builder.project_image(requirements)

    def check(self, task: ProjectTask, folder: Path) -> ProjectCheck:
        """The gate of one task, as a run has it. `folder` is its own and absolute."""
        place = Place(
            folder=folder,
            image=lambda: self.image(task.requirements),
            python="python3" if task.dockerfile else self.python,
            limits=self.limits,
        )
        return ProjectCheck(
            task, place=place, sandbox=self.sandbox, settings=self.config.check, clock=self.clock
        )

    def model(self, name: str) -> Model:
        """A model to ask, found to answer; its options are the worker's.

        Raises:
            ConfigError: no such provider, or a script that cannot be used.
            ModelUnavailable: it cannot be asked; says what to type.
        """
        maker = Maker(runs=Path(self.config.runs_dir), clock=self.clock)
        model = maker.make(self.config.settings_for(name, "worker"), "worker")
        model.preflight()
        return model

    def close(self) -> None:
        """Give the containers back; safe to call twice."""
        self._benches.close()
