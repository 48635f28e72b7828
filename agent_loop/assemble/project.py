"""What a project run has beside its models: the copy, its image, the red run, the patch."""

from collections.abc import Callable, Mapping
from pathlib import Path

from agent_loop.assemble.episodes import EpisodeDesk
from agent_loop.assemble.job import prompt_chars
from agent_loop.assemble.toolboxes import Ready, Toolset, open_toolbox
from agent_loop.checks.project import TREE, Place, ProjectCheck, Reproduced
from agent_loop.config import Config
from agent_loop.context import Question, show
from agent_loop.episode.tools import Harvest, Tools
from agent_loop.errors import SandboxUnavailable
from agent_loop.graph.parts import Step, Work, Worked
from agent_loop.paths import atomic_write
from agent_loop.ports import Clock, Json, Limits, Sandbox
from agent_loop.sandbox import PROJECT_PYTHON, ImageBuilder
from agent_loop.tasks import ProjectTask

PATCH = "changes.patch"
MATERIAL_PART = 0.65
"""Of a prompt, for the project's files and its failing tests."""
TOOLS_PART = 0.35
"""The same where a worker with tools looks at files itself and needs room for what it sees."""
_OUTPUT_PART = 0.25
"""Of that, for what the failing tests say."""
_EXAMPLE_PATH = "path/of/file.py"
_SEARCH_REPLACE = """Format of an edit: the file's path, then a block that stands once in the file.

path/of/file.py
<<<<<<< SEARCH
the lines as they are now
=======
the lines as they should be
>>>>>>> REPLACE"""
_FORMATS = {
    "auto": _SEARCH_REPLACE,
    "search_replace": _SEARCH_REPLACE,
    "whole": "Format of an edit: the file's path on a line, then the whole new file in a fenced "
    "block.",
    "diff": "Format of the edits: one unified diff in a fenced block, as `git diff` prints it.",
    "json": 'Format of the edits: one JSON object {"edits": [{"path": "…", "search": "the lines '
    'as they are now", "replace": "the lines as they should be"}]}.',
}


class ProjectDesk:
    """The project of one run."""

    def __init__(
        self,
        task: ProjectTask,
        folder: Path,
        *,
        sandbox: Sandbox,
        builder: Callable[[], ImageBuilder],
        config: Config,
        clock: Clock,
    ) -> None:
        """`folder` is the run's own.

        Raises:
            SandboxUnavailable: the configured sandbox never runs projects.
        """
        settings = config.sandbox_settings
        if settings.kind == "local":
            raise SandboxUnavailable(
                "sandbox: local cannot run project tasks: their tests would run on your files. "
                "Use sandbox: docker"
            )
        self._task = task
        self._folder = folder
        self._sandbox = sandbox
        self._builder = builder
        self._config = config
        self._clock = clock
        self._variants = config.prompt_variants
        tools = config.worker_mode == "tools"
        self._limit_chars = int(prompt_chars(config) * (TOOLS_PART if tools else MATERIAL_PART))
        self._format = "" if tools else _FORMATS[config.edit_format]
        place = Place(
            # Mounted into containers, which take absolute paths only.
            folder=folder.resolve(),
            image=self._image,
            python="python3" if task.dockerfile else PROJECT_PYTHON,
            limits=Limits(memory_mib=settings.memory_mib, cpus=settings.cpus, pids=settings.pids),
        )
        self.check = ProjectCheck(
            task,
            place=place,
            sandbox=sandbox,
            settings=config.check,
            clock=clock,
            edit_format=TREE if tools else config.edit_format,
        )
        self.step = Step(name="reproduce", run=self._reproduce)

    def toolbox(self, toolset: Toolset, over: Harvest | None = None) -> Tools:
        """A working copy of its own with tools over it; the caller closes it.

        `over`: an earlier working copy to go on from.

        Raises:
            UserError: the project cannot be judged as the task has it, or is too large for this.
            SandboxUnavailable: no container could be started.
        """
        ready = Ready(
            image=self._image(),
            protected=self.check.protected,
            sandbox=self._sandbox,
            config=self._config,
            clock=self._clock,
            over=over,
        )
        return open_toolbox(self._task, self.check.files.root, toolset, ready=ready)

    @property
    def episode(self) -> Callable[[Work], Worked] | None:
        """The worker with tools, where the configuration wants one."""
        if self._config.worker_mode != "tools":
            return None
        toolset = self._config.toolset
        return EpisodeDesk(
            lambda: self.toolbox(toolset), lambda: self.check.files, self._config, self._clock
        ).work

    def describe(self) -> Mapping[str, Json]:
        """The sandbox, with the image that the tests run in and what they are."""
        return {**self._sandbox.describe(), **self.check.evidence()}

    def finish(self, record: Mapping[str, Json]) -> None:
        """Write the patch of a run that ended."""
        answer = record.get("answer")
        if isinstance(answer, str) and answer:
            atomic_write(self._folder / PATCH, answer)

    def _image(self) -> str:
        builder = self._builder()
        try:
            if self._task.dockerfile is not None:
                return builder.own_image(self._task.dockerfile)
            return builder.project_image(self._task.requirements)
        finally:
            builder.close()

    def _reproduce(self, _: object) -> Mapping[str, str]:
        red = self.check.reproduce()
        if red.green:
            return {"outcome": "nothing_to_fix", "reason": red.summary}
        return {"material": self._material(red)}

    def _material(self, red: Reproduced) -> str:
        said = red.output[: int(self._limit_chars * _OUTPUT_PART)]
        head = f"{red.summary}. They say (output of a program):\n\n{said}"
        files = self.check.files
        question = Question(task=self._task.task, failing=red.wanted, evidence=red.output)
        how = self._with_real_path(files)
        left = self._limit_chars - len(head) - len(how) - 10
        shown = show(
            files,
            question,
            budget=max(left, 500),
            read_only=[path for path in files if self.check.protected(path)],
        )
        return f"{shown.text}\n\n{head}\n\n{how}".rstrip()

    def _with_real_path(self, files: Mapping[str, bytes]) -> str:
        """The format's example, about a file of this project where the variant asks for that."""
        free = [path for path in files if path.endswith(".py") and not self.check.protected(path)]
        if "real_path_example" not in self._variants or not free:
            return self._format
        return self._format.replace(_EXAMPLE_PATH, min(free, key=lambda path: (len(path), path)))
