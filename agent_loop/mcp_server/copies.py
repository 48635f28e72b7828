"""The working copies of all clients: opened under the owner's rules, put to rest when idle."""

import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from agent_loop.assemble import Benches
from agent_loop.checks.project import Reproduced
from agent_loop.errors import AgentLoopError, UserError
from agent_loop.mcp_server.copy import Copy
from agent_loop.mcp_server.leash import Leash
from agent_loop.mcp_server.options import Options
from agent_loop.ports import Cancel
from agent_loop.sandbox.owner import started
from agent_loop.tasks import ProjectTask

LOOK_S = 1.0
FOLDER = "agent-loop-mcp-"
"""Of a copy, in the folder for temporary files; then the server's process number."""
GONE_AFTER = 12
"""A copy that nobody asks for is closed after this many idle times, its changes with it."""


def sweep_folders(place: Path) -> None:
    """Take away what servers left that were killed."""
    for folder in place.glob(f"{FOLDER}*-*"):
        number = folder.name.removeprefix(FOLDER).partition("-")[0]
        if number.isdecimal() and not folder.is_symlink() and started(int(number)) is None:
            shutil.rmtree(folder, ignore_errors=True)


class Copies:
    """Every copy has a handle that cannot be guessed; a client reaches only those it opened."""

    def __init__(self, benches: Benches, options: Options, notify: Callable[[str], None]) -> None:
        self._benches, self._options, self._notify = benches, options, notify
        tools = {"worker_mode": "tools", "toolset": "structured"}
        self._config = benches.config.model_copy(update=tools)
        self._open: dict[str, Copy] = {}
        self._opening = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        sweep_folders(Path(tempfile.gettempdir()))
        self._sweeper = threading.Thread(target=self._sweep, name="idle", daemon=True)
        self._sweeper.start()

    def open(self, path: str, owner: str, cancel: Cancel) -> tuple[Copy, Reproduced]:
        """A copy of its own of a project or task that the owner allows.

        Raises:
            UserError: it is not allowed, cannot be copied or judged, or too many are open.
            FaultError: the sandbox failed.
        """
        task = self._task(path)
        with self._lock:
            if self._over.is_set() or len(self._open) + self._opening >= self._options.copies:
                raise UserError(
                    f"{self._options.copies} copies are open already. Close one (close_project)."
                )
            self._opening += 1
        try:
            return self._made(task, owner, cancel)
        finally:
            with self._lock:
                self._opening -= 1

    def find(self, handle: str, owner: str) -> Copy:
        """The copy of that handle; without one, the only one of this connection.

        Raises:
            UserError: there is none, or there are several.
        """
        with self._lock:
            if handle:
                found = [self._open[handle]] if handle in self._open else []
            else:
                found = [one for one in self._open.values() if owner and one.owner == owner]
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(
                "Several copies are open: name one with 'copy', as open_project gave it."
            )
        raise UserError(
            "There is no such copy. Call open_project first and use the 'copy' it gives."
        )

    def shut(self, copy: Copy) -> None:
        """Close one."""
        with self._lock:
            self._open.pop(copy.handle, None)
        copy.close()

    def leave(self, owner: str) -> None:
        """A client has gone: close what it opened."""
        with self._lock:
            mine = [one for one in self._open.values() if one.owner == owner]
        for copy in mine:
            self.shut(copy)

    def close(self) -> None:
        """Close all; nothing can be opened afterwards."""
        self._over.set()
        with self._lock:
            open_now = list(self._open.values())
        for copy in open_now:
            self.shut(copy)
        self._sweeper.join()

    # --- inner ---

    def _made(self, task: ProjectTask, owner: str, cancel: Cancel) -> tuple[Copy, Reproduced]:
        leash = Leash(self._benches.sandbox())
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        copy = Copy(
            secrets.token_urlsafe(18),
            owner,
            desk=self._benches.desk(task, folder, self._config, leash),
            leash=leash,
            folder=folder,
            clock=self._benches.clock,
        )
        with self._lock:
            self._open[copy.handle] = copy
        try:
            red = copy.reproduce(cancel)
        except BaseException:
            self.shut(copy)
            raise
        if self._over.is_set():
            self.shut(copy)
        return copy, red

    def _task(self, path: str) -> ProjectTask:
        for task in self._options.tasks:
            if path == task.name:
                return task
        project = self._allowed(path)
        return ProjectTask(
            name=project.name,
            task="",
            project=project,
            test_command=self._options.test_command,
            allow_green_start=True,
        )

    def _allowed(self, path: str) -> Path:
        """A folder in one of the roots, links followed."""
        for root in self._options.roots:
            try:
                project = (root / path).resolve()
                if project.is_relative_to(root) and project.is_dir():
                    return project
            except (OSError, ValueError, RuntimeError):
                continue
        names = ", ".join(task.name for task in self._options.tasks)
        offered = f" The tasks are: {names}." if names else ""
        raise UserError(
            f"{path[:200]!r} is no folder that this server may open.{offered} Folders are named as "
            "the server's --root has them, or relative to it."
        )

    def _sweep(self) -> None:
        """Containers of idle copies go; their changes stay a while longer."""
        idle_s = self._options.idle_s
        while not self._over.wait(min(LOOK_S, idle_s / 4)):
            with self._lock:
                open_now = list(self._open.values())
            for copy in open_now:
                try:
                    if copy.tidy(idle_s, idle_s * GONE_AFTER):
                        self.shut(copy)
                except AgentLoopError as problem:
                    self._notify(f"an idle copy could not be put to rest: {problem}")
