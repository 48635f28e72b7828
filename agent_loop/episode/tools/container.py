"""The working copy of an episode and the place where its commands run.

Everything that comes back is hostile. What the commands did to the files is read by the keeper,
in a container in which none of them ever ran.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_loop.episode.tools.boxes import (
    ENVIRONMENT,
    Ground,
    hands_box,
    keeper_box,
    read_only,
)
from agent_loop.episode.tools.harvest import SKIPPED, Harvest, harvest
from agent_loop.episode.tools.talk import Ended, Talk
from agent_loop.errors import Cancelled, DeadlinePassed, SandboxUnavailable
from agent_loop.ports import Cancel, Clock, Sandbox
from agent_loop.workspace import Tree

START_S = 60.0
GRACE_S = 10.0
"""For the answer's way back, when what ran has been killed."""
TREE_S = 120.0
PUT_BYTES = 16 << 20
HEAD_BYTES, TAIL_BYTES = 24_000, 24_000
MOST_OUTPUT_BYTES = 32 << 20
"""A command that says more is stopped."""
FILE_BYTES = 2 << 20
"""Largest file that a tool shows or writes."""


class Restarted(Exception):
    """The container ended under a command and a fresh one took its place; the files are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended."""

    code: int | None
    signal: int | None
    why: str
    """Why we ended it: `time`, `output`; empty: it ended by itself."""
    start: bytes
    end: bytes
    total: int
    """Bytes of output in all."""
    seconds: float


def ran(said: Mapping[str, Any], body: bytes) -> Ran:
    """An answer as what it should be; under gVisor a command can write answers of its own.

    Raises:
        KeyError, TypeError, ValueError, OverflowError: it is none of ours.
    """
    start = int(said["start"])
    code, signal = said["code"], said["signal"]
    return Ran(
        code=None if code is None else int(code),
        signal=None if signal is None else int(signal),
        why=str(said["why"]),
        start=body[:start],
        end=body[start:],
        total=int(said["total"]),
        seconds=float(said["seconds"]),
    )


class Container:
    """One episode's. Not for two calls at a time; `close` may come from any thread."""

    def __init__(
        self,
        sandbox: Sandbox,
        clock: Clock,
        *,
        project: Path,
        ground: Ground,
        protected: Callable[[str], bool],
        over: Harvest | None = None,
    ) -> None:
        """`project` is the untouched copy; its protected files are mounted from there.

        `over` is an earlier working copy that this one goes on from.

        Raises:
            SandboxUnavailable: no container could be started, or a protection is missing.
        """
        self._sandbox, self._clock = sandbox, clock
        self._ground = ground
        self._files = Tree(project)
        self._protected = protected
        self._contents: Mapping[str, bytes] = over.files if over else self._files
        self._executable = self._files.executable if over is None else over.executable.__contains__
        self._mounts, self.read_only = read_only(project, self._files, protected)
        self._closed = threading.Event()
        self._hands: Talk | None = None
        self._keeper = Talk(sandbox.open(keeper_box(ground)), clock)
        try:
            links = self._files.symlinks - set(self._contents)
            self._lay(list(self._contents), {path: self._files.link(path) for path in links})
            self._start_hands()
        except BaseException:
            self.close()
            raise

    # --- what tools do ---

    def run(self, argv: list[str], *, wall_s: float, cancel: Cancel | None = None) -> Ran:
        """One command in the project's folder; when this returns, nothing of it is left.

        Raises:
            Restarted: it brought the container down.
            Cancelled: `cancel` was set.
            SandboxUnavailable: the engine failed.
        """
        request = {
            "op": "run",
            "argv": argv,
            "env": ENVIRONMENT | self._ground.env,
            "wall_s": max(0.0, wall_s),
            "head": HEAD_BYTES,
            "tail": TAIL_BYTES,
            "most": MOST_OUTPUT_BYTES,
        }
        said, body = self._ask(request, b"", wall_s=wall_s, cancel=cancel)
        try:
            return ran(said, body)
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise self._restart("it answered with something else") from problem

    def read(self, path: str) -> tuple[bytes, str]:
        """Content, and why not."""
        said, body = self._ask({"op": "read", "path": path, "most": FILE_BYTES})
        return body, str(said.get("problem", ""))

    def write(self, path: str, data: bytes) -> str:
        """Why not; empty when it is done."""
        said, _ = self._ask({"op": "write", "path": path}, data)
        return str(said.get("problem", ""))

    def names(self, path: str) -> tuple[list[str], bool, str]:
        """Names below a folder, whether there are more, and why not."""
        said, _ = self._ask({"op": "list", "path": path, "skip": list(SKIPPED)})
        names = said.get("names")
        shown = [str(one) for one in names] if isinstance(names, list) else []
        return shown, bool(said.get("more")), str(said.get("problem", ""))

    def protected(self, path: str) -> bool:
        return self._protected(path)

    # --- what the host does ---

    def tree(self) -> Harvest:
        """The working copy as the keeper sees it.

        Raises:
            SandboxUnavailable: it cannot be read.
        """
        deadline = self._clock.monotonic() + TREE_S
        try:
            return harvest(self._keeper, self._files, self._protected, deadline=deadline)
        except (Ended, DeadlinePassed) as problem:
            raise self._keeper_gone(problem) from problem

    def close(self) -> None:
        """Give both containers back; safe to call twice and from another thread."""
        self._closed.set()
        if self._hands is not None:
            self._hands.session.close()
        self._keeper.session.close()

    # --- inner ---

    def _lay(self, paths: list[str], links: Mapping[str, str]) -> None:
        """Have the keeper write project files, in pieces of bounded size."""
        files: list[tuple[str, int, bool]] = []
        body = bytearray()
        for path in paths:
            data = self._contents[path]
            files.append((path, len(data), self._executable(path)))
            body += data
            if len(body) > PUT_BYTES:
                self._put(files, {}, bytes(body))
                files, body = [], bytearray()
        self._put(files, links, bytes(body))

    def _put(
        self, files: list[tuple[str, int, bool]], links: Mapping[str, str], body: bytes
    ) -> None:
        header = {"op": "put", "files": files, "links": list(links.items())}
        deadline = self._clock.monotonic() + START_S
        try:
            said, _ = self._keeper.ask(header, body, deadline=deadline)
        except (Ended, DeadlinePassed) as problem:
            raise self._keeper_gone(problem) from problem
        if why := said.get("problem"):
            raise SandboxUnavailable(f"the project does not fit into its workspace: {why}")

    def _keeper_gone(self, problem: Exception) -> SandboxUnavailable:
        return SandboxUnavailable(f"the files of the episode cannot be reached: {problem}")

    def _start_hands(self) -> None:
        box = hands_box(self._ground, self._keeper.session.name, self._mounts)
        self._hands = Talk(self._sandbox.open(box), self._clock)
        if self._closed.is_set():
            self._hands.session.close()

    def _ask(
        self,
        request: Mapping[str, Any],
        body: bytes = b"",
        *,
        wall_s: float = GRACE_S,
        cancel: Cancel | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        if self._closed.is_set() or self._hands is None:
            raise SandboxUnavailable("the container of this episode is closed")
        deadline = self._clock.monotonic() + max(0.0, wall_s) + GRACE_S
        try:
            return self._hands.ask(request, body, deadline=deadline, cancel=cancel)
        except (Ended, DeadlinePassed) as problem:
            restarted = self._restart(str(problem))
            if cancel is not None and cancel.is_set():
                raise Cancelled("the tool call was cancelled") from problem
            raise restarted from problem

    def _restart(self, problem: str) -> Restarted:
        """A fresh container over the same files. The old one is gone before it is started.

        Raises:
            SandboxUnavailable: there is none to be had, or this episode is over.
        """
        old, self._hands = self._hands, None
        if self._closed.is_set() or old is None:
            raise SandboxUnavailable("the container of this episode is closed")
        end = old.session.end(deadline=self._clock.monotonic())
        old.session.close()
        # Its mounts need real folders and files again, whatever stands there now.
        self._lay([path for path in self._files if self._protected(path)], {})
        self._start_hands()
        why = "it ran out of memory" if end.oom_killed else end.why or problem
        return Restarted(why)
