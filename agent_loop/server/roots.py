"""What may be started: task files of allowed folders, and projects under allowed folders."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_loop import tasks
from agent_loop.assemble import refuse_unjudgeable
from agent_loop.errors import AgentLoopError, TaskFileError, UserError
from agent_loop.paths import OutsidePath, inside
from agent_loop.ports import Json
from agent_loop.tasks import ProjectTask, Task
from agent_loop.webguard import WebError

MAX_FILES = 1_000
_SUFFIXES = (".yaml", ".yml")
_MAX_TASK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """One allowed folder."""

    id: str
    kind: Literal["tasks", "projects"]
    folder: Path


class Roots:
    """The allowed folders of one server. Links that lead out of them lead nowhere."""

    def __init__(self, task_folders: Sequence[Path], project_folders: Sequence[Path]) -> None:
        """Raises UserError for one that is no folder."""
        pairs = [("tasks", folder) for folder in task_folders]
        pairs += [("projects", folder) for folder in project_folders]
        self._roots: dict[str, Root] = {}
        for kind, folder in pairs:
            if not folder.is_dir():
                raise UserError(f"{folder}: not a folder. Name a folder to allow.")
            count = sum(root.kind == kind for root in self._roots.values())
            name = f"{kind}-{count + 1}"
            whole = folder.resolve()
            root = Root(id=name, kind="tasks" if kind == "tasks" else "projects", folder=whole)
            self._roots[name] = root

    def told(self) -> dict[str, Json]:
        """Every root with what can be started in it."""
        roots = list(self._roots.values())
        return {
            "roots": [{"id": r.id, "kind": r.kind, "label": r.folder.name} for r in roots],
            "tasks": [one for root in roots if root.kind == "tasks" for one in _tasks(root)],
            "projects": [one for r in roots if r.kind == "projects" for one in _projects(r)],
        }

    def task(self, root: str, path: str) -> Task:
        """The task in a file of an allowed folder.

        Raises:
            WebError: no such root or file (404), or the file is no task (422).
        """
        found = self._inside(root, "tasks", path)
        if found.suffix not in _SUFFIXES or not found.is_file():
            raise WebError(404, "task", "The folder has no such task file.")
        if found.stat().st_size > _MAX_TASK_BYTES:
            raise WebError(422, "task", "The task file is too large.")
        try:
            task = tasks.load(found)
            refuse_unjudgeable(task)
        except TaskFileError as error:
            raise WebError(422, "task", str(error)) from error
        except AgentLoopError as error:
            raise WebError(422, "task", f"The task cannot be used: {error}") from error
        return task

    def project(self, root: str, path: str, instruction: str, command: str) -> Task:
        """A task over a project in an allowed folder.

        Raises:
            WebError: no such root or folder (404), or nothing is asked for (422).
        """
        folder = self._inside(root, "projects", path)
        if not folder.is_dir():
            raise WebError(404, "project", "There is no such project.")
        if not instruction.strip():
            raise WebError(422, "instruction", "Say in words what is wanted.")
        fields = json.dumps([str(folder), instruction, command])
        digest = hashlib.sha256(fields.encode("utf-8", "replace")).hexdigest()
        return ProjectTask(
            name=re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name).strip(".-")[:60] or "project",
            task=instruction.strip(),
            project=folder,
            test_command=command,
            source_hash=digest,
        )

    def _inside(self, root: str, kind: str, path: str) -> Path:
        allowed = self._roots.get(root)
        if allowed is None or allowed.kind != kind:
            raise WebError(404, "root", "No such folder is allowed here.")
        if kind == "projects" and path == ".":
            return allowed.folder
        try:
            return inside(allowed.folder, path)
        except OutsidePath as error:
            raise WebError(404, "path", f"Not in the allowed folder: {error}.") from error


def _tasks(root: Root) -> list[Json]:
    found: list[Json] = []
    for path in sorted(root.folder.iterdir())[:MAX_FILES]:
        if path.suffix not in _SUFFIXES or not path.is_file():
            continue
        row: dict[str, Json] = {"root": root.id, "path": path.name, "problem": None}
        try:
            inside(root.folder, path.name)
            task = tasks.load(path)
            row |= {"name": task.name, "kind": task.kind, "task": task.task[:300]}
        except (AgentLoopError, OutsidePath) as error:
            row |= {"name": path.stem[:100], "kind": "", "problem": str(error)[:500]}
        found.append(row)
    return found


def _projects(root: Root) -> list[Json]:
    found: list[Json] = [{"root": root.id, "path": "."}]
    for path in sorted(root.folder.iterdir())[:MAX_FILES]:
        if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
            found.append({"root": root.id, "path": path.name})
    return found
