"""A project's working copy with tools over it: for the episode worker and for MCP clients."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from agent_loop.checks.project.command import parse_command
from agent_loop.config import Config
from agent_loop.episode.tools import BashTools, Container, Ground, StructuredTools, Suite, Tools
from agent_loop.episode.tools.boxes import ENVIRONMENT, ROOT
from agent_loop.episode.tools.harvest import Harvest
from agent_loop.errors import UserError
from agent_loop.ports import Clock, Limits, Sandbox
from agent_loop.sandbox import PROJECT_PYTHON
from agent_loop.tasks import ProjectTask
from agent_loop.workspace import Tree

Toolset = Literal["bash", "structured"]
LIFE_S = 4 * 3600.0
SMALLEST_MIB, LARGEST_MIB = 64, 1024
SPARE_MIB = 32
FILES_SPARE = 30_000
"""Files and folders that may be made beside twice the project's own."""
SHELL_S = 10.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What a toolbox needs beside its project."""

    image: str
    """Id of the image that the project's tests run in."""
    protected: Callable[[str], bool]
    """May a patch not touch this path?"""
    sandbox: Sandbox
    config: Config
    """For its limits and seconds."""
    clock: Clock
    """What deadlines are on."""
    over: Harvest | None = None
    """An earlier working copy to go on from."""


def open_toolbox(task: ProjectTask, workspace: Path, toolset: Toolset, *, ready: Ready) -> Tools:
    """Start the containers of one episode; the caller closes the toolbox.

    Args:
        task: what the project is and how its tests run.
        workspace: the untouched copy; read, and mounted read-only where it is protected.
        toolset: `bash` (one tool) or `structured`.
        ready: image and path rules, from the task's check, and where it runs.

    Raises:
        UserError: the project is too large to be worked on in memory.
        SandboxUnavailable: no container could be started.
    """
    python = "python3" if task.dockerfile else PROJECT_PYTHON
    workspace = workspace.resolve()
    ground = Ground(
        image=ready.image,
        python=python,
        limits=_limits(ready.config),
        workspace_mib=_size_mib(workspace),
        workspace_files=2 * len(Tree(workspace)) + FILES_SPARE,
        env=_environment(task, workspace, python),
    )
    clock, wall_s = ready.clock, ready.config.check.project_s
    container = Container(
        ready.sandbox,
        clock,
        project=workspace,
        ground=ground,
        protected=ready.protected,
        over=ready.over,
    )
    try:
        shell = _shell(container)
        if toolset == "bash":
            return BashTools(container, clock, shell=shell, command_s=wall_s)
        tests = _tests(task, python, wall_s)
        return StructuredTools(container, clock, tests=tests, python=python, shell=shell)
    except BaseException:
        container.close()
        raise


def _limits(config: Config) -> Limits:
    most = config.sandbox_limits
    return Limits(memory_mib=most.memory_mib, cpus=most.cpus, pids=most.pids, life_s=LIFE_S)


def _size_mib(workspace: Path) -> int:
    """Room for the project twice over: its files stay in memory as long as the episode lasts."""
    files = Tree(workspace)
    size = 2 * sum(files.size(path) for path in files) // MIB + SPARE_MIB
    if size > LARGEST_MIB:
        raise UserError(
            f"{workspace}: {size} MiB are needed to work on this project with tools, more than "
            f"{LARGEST_MIB}. Use worker_mode: reply, or point the task at a smaller folder."
        )
    return max(SMALLEST_MIB, size)


def _environment(task: ProjectTask, workspace: Path, python: str) -> dict[str, str]:
    roots = [f"{ROOT}/{one}".rstrip("/.") for one in task.python_path]
    if not roots:
        roots = [f"{ROOT}/src", ROOT] if (workspace / "src").is_dir() else [ROOT]
    env = {"PYTHONPATH": ":".join(roots)}
    if "/" in python:
        env["PATH"] = f"{PurePosixPath(python).parent}:{ENVIRONMENT['PATH']}"
    if task.pytest_plugins:
        env["PYTEST_PLUGINS"] = ",".join(one.replace("-", "_") for one in task.pytest_plugins)
    return env


def _tests(task: ProjectTask, python: str, wall_s: float) -> Suite:
    call = parse_command(task.test_command)
    if call is None:
        return Suite(command=task.test_command, takes_ids=False, wall_s=wall_s)
    ours = ("-p", "no:cacheprovider", "--color=no", "--tb=short")
    line = shlex.join([python, "-m", "pytest", *ours, *call.options])
    return Suite(command=line, selection=shlex.join(call.selection), wall_s=wall_s)


def _shell(container: Container) -> str:
    """A task's own image need not have bash."""
    found = container.run(["/bin/sh", "-c", "test -x /bin/bash"], wall_s=SHELL_S)
    return "/bin/bash" if found.code == 0 else "/bin/sh"
