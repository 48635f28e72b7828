"""One working copy of a project, with its tools and its gate. Any thread; one thing at a time."""

import contextlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from agent_loop.assemble.episodes import patch_of
from agent_loop.assemble.project import ProjectDesk
from agent_loop.checks.project import Reproduced
from agent_loop.episode.tools import Harvest, Tools
from agent_loop.errors import Cancelled, FaultError, ReplyError
from agent_loop.mcp_server.leash import Leash
from agent_loop.ports import Cancel, Clock, Json, Observation, Reply, ToolCall, Usage, Verdict

LOOK_S = 0.1
CALL_S = 600.0
"""Longest time of one call; the tools' own limits are shorter."""


class Copy:
    """Made by `Copies.open`."""

    def __init__(
        self,
        handle: str,
        owner: str,
        *,
        desk: ProjectDesk,
        leash: Leash,
        folder: Path,
        clock: Clock,
    ) -> None:
        """`owner` is the connection that opened it; `folder` is removed at the end."""
        self.handle = handle
        self.owner = owner
        self.used = clock.monotonic()
        self._desk, self._leash, self._folder, self._clock = desk, leash, folder, clock
        self._box: Tools | None = None
        self._kept: Harvest | None = None
        self._one = threading.Lock()
        self._closed = False

    def reproduce(self, cancel: Cancel) -> Reproduced:
        """Copy the project and run its tests once.

        Raises:
            UserError: it cannot be copied or judged.
            FaultError: the sandbox failed.
            Cancelled: `cancel` was set.
        """
        with self._working(cancel), self._leashed(cancel):
            return self._desk.check.reproduce()

    def call(self, name: str, given: dict[str, Json], cancel: Cancel) -> Observation:
        """One of the structured tools; raises as `Toolbox.call` does."""
        with self._working(cancel):
            call = ToolCall(id="mcp", name=name, arguments=given)
            deadline = self._clock.monotonic() + CALL_S
            try:
                return self._tools().call(call, deadline=deadline, cancel=cancel)
            except FaultError:
                # The next call starts a fresh one over what is kept.
                self._drop()
                raise

    def patch(self, cancel: Cancel) -> tuple[str, list[str]]:
        """What changed, and what could not be taken."""
        with self._working(cancel):
            return self._patch()

    def check(self, cancel: Cancel) -> Verdict:
        """Judge what changed in fresh containers.

        Raises:
            ReplyError: nothing changed, or it cannot be judged.
            FaultError: could not judge.
        """
        with self._working(cancel):
            text, notes = self._patch()
            if not text:
                raise ReplyError(
                    "Nothing has changed, so there is nothing to judge. " + " ".join(notes)
                )
            candidate = self._desk.check.parse(Reply(text=text, usage=Usage(), answered="mcp"))
            with self._leashed(cancel):
                return self._desk.check.judge(candidate)

    def tidy(self, idle_s: float, gone_s: float) -> bool:
        """Give the containers of an idle copy back and keep its changes; true: nobody wants it.

        A copy with a call under way is not idle, however long that takes.
        """
        if not self._one.acquire(blocking=False):
            return False
        try:
            since_s = self._clock.monotonic() - self.used
            if since_s > gone_s:
                self._closed = True
            elif since_s > idle_s and self._box is not None:
                with contextlib.suppress(FaultError):
                    self._kept = self._box.harvest()
                self._drop()
            return self._closed
        finally:
            self._one.release()

    def close(self) -> None:
        """End everything, also what is under way; safe to call twice."""
        self._closed = True
        self._leash.cut()
        with self._one:
            self._drop()
            self._desk.check.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    # --- inner ---

    @contextlib.contextmanager
    def _working(self, cancel: Cancel) -> Iterator[None]:
        """One call at a time."""
        while not self._one.acquire(timeout=LOOK_S):
            if cancel.is_set():
                raise Cancelled("the call was cancelled")
        try:
            if self._closed:
                raise Cancelled("this copy is closed")
            yield
        finally:
            self.used = self._clock.monotonic()
            self._one.release()

    @contextlib.contextmanager
    def _leashed(self, cancel: Cancel) -> Iterator[None]:
        """A check asks nobody whether it is still wanted, so its containers are taken from it."""
        over = threading.Event()
        mark = self._leash.mark()
        watcher = threading.Thread(target=self._watch, args=(cancel, over, mark), daemon=True)
        watcher.start()
        try:
            yield
        except Exception as problem:
            if cancel.is_set() and not isinstance(problem, Cancelled):
                raise Cancelled("the call was cancelled") from problem
            raise
        finally:
            over.set()
            watcher.join()
            if not self._closed:
                self._leash.mend(mark)
        if cancel.is_set():
            raise Cancelled("the call was cancelled")

    def _watch(self, cancel: Cancel, over: threading.Event, mark: int) -> None:
        while not over.wait(LOOK_S):
            if cancel.is_set():
                self._leash.cut(mark)
                return

    def _tools(self) -> Tools:
        if self._box is None:
            self._box = self._desk.toolbox("structured", self._kept)
        return self._box

    def _patch(self) -> tuple[str, list[str]]:
        found = self._kept if self._box is None else self._box.harvest()
        return ("", []) if found is None else patch_of(self._desk.check.files, found)

    def _drop(self) -> None:
        box, self._box = self._box, None
        if box is not None:
            box.close()
