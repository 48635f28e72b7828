"""Project checks outside a run: for tools that judge many projects and ask no model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop.checks.project import Place, ProjectCheck
from agent_loop.config import Config, state_dir
from agent_loop.errors import SandboxUnavailable
from agent_loop.models import Maker
from agent_loop.ports import Clock, Limits, Model, Sandbox, SystemClock
from agent_loop.sandbox import PROJECT_PYTHON, make_image_builder, make_sandbox
from agent_loop.tasks import ProjectTask


@dataclass(kw_only=True)
class Yard:
    """One sandbox and the images of many projects."""

    config: Config
    notify: Callable[[str], None]
    env: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    python: str = PROJECT_PYTHON
    _sandbox: Sandbox | None = None

    @property
    def sandbox(self) -> Sandbox:
        """Raises SandboxUnavailable: no engine, or a sandbox that never runs projects."""
        if self._sandbox is None:
            settings = self.config.sandbox_settings
            if settings.kind == "local":
                raise SandboxUnavailable("sandbox: local cannot run projects. Use sandbox: docker")
            self._sandbox = make_sandbox(
                settings, state_dir=state_dir(), notify=self.notify, env=self.env
            )
        return self._sandbox

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
        builder = make_image_builder(
            self.config.sandbox_settings, state_dir=state_dir(), notify=self.notify, env=self.env
        )
        try:
            return builder.project_image(requirements)
        finally:
            builder.close()

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
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()
