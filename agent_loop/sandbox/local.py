"""No sandbox at all: model-written code as a process of this machine. Behind two locks."""

import os
import selectors
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agent_loop import procs
from agent_loop.errors import SandboxUnavailable
from agent_loop.ports import Box, Json, ProbeLine
from agent_loop.sandbox.bundle import bundle, command
from agent_loop.sandbox.lives import Lives
from agent_loop.sandbox.session import ERR, OUT, PipeSession

WARNING = "sandbox: local: model-written code runs on this machine, nothing holds it"
PIECE_BYTES = 1 << 16


class LocalSandbox:
    """`ports.Sandbox` without isolation, for machines that have no engine.

    Raises:
        SandboxUnavailable: `allowed` is false: the owner has not opened the second lock.
    """

    def __init__(self, *, allowed: bool, notify: Callable[[str], None]) -> None:
        if not allowed:
            raise SandboxUnavailable(
                "sandbox: local runs model-written code on this machine without any isolation. "
                "Use sandbox: docker, or set AGENT_LOOP_ALLOW_LOCAL=1 if you accept that"
            )
        self._notify = notify
        self._open: set[PipeSession] = set()
        self._lives = Lives()

    def probe(self) -> Sequence[ProbeLine]:
        self._notify(WARNING)
        return [ProbeLine(protection="isolation", held=False, detail=WARNING)]

    def open(self, box: Box) -> PipeSession:
        if box.mounts or box.workspace or box.image is not None:
            raise SandboxUnavailable(
                "sandbox: local cannot run project tasks: their tests would run on your files. "
                "Use sandbox: docker"
            )
        self._notify(WARNING)
        session = _start(box)
        self._open.add(session)
        session.on_close = self._over
        self._lives.watch(session, box.limits.life_s)
        return session

    def warm(self, box: Box, count: int) -> None:
        """Nothing is started ahead: a process of this machine starts in no time."""

    def describe(self) -> Mapping[str, Json]:
        return {"kind": "local", "isolation": "none", "python": sys.version.split()[0]}

    def close(self) -> None:
        for session in list(self._open):
            session.close()
        self._lives.close()

    def _over(self, session: PipeSession) -> None:
        self._open.discard(session)
        self._lives.forget(session)


class LocalBody:
    """A process group and its scratch folder."""

    name = ""

    def __init__(self, child: procs.Child, folder: "tempfile.TemporaryDirectory[str]") -> None:
        self._child = child
        self._folder = folder

    def kill(self) -> None:
        self._child.kill()

    def confirm_end(self) -> None:
        """There is no engine that could have failed."""

    def wait(self, timeout_s: float) -> tuple[int, bool] | None:
        code = self._child.wait(timeout_s)
        return None if code is None else (code, False)

    def destroy(self) -> None:
        self._child.close()
        with suppress(OSError):
            self._folder.cleanup()


class PipeChannel:
    """The pipes of a child process."""

    def __init__(self, child: procs.Child, errors: int) -> None:
        self._child = child
        self._sources = {child.stdout: OUT, errors: ERR}
        self._errors = errors
        self._input_open = True
        self.ended = False
        for number in (child.stdin, child.stdout, errors):
            os.set_blocking(number, False)

    def wait(self, *, write: bool, timeout_s: float) -> None:
        # Another thread may close the numbers meanwhile; the caller looks again.
        with selectors.DefaultSelector() as selector, suppress(OSError, ValueError):
            for number in list(self._sources):
                selector.register(number, selectors.EVENT_READ)
            if write and self._input_open:
                selector.register(self._child.stdin, selectors.EVENT_WRITE)
            if selector.get_map():
                selector.select(timeout_s)
            else:
                time.sleep(timeout_s)

    def read(self) -> list[tuple[int, bytes]]:
        found = []
        for number, stream in list(self._sources.items()):
            try:
                data = os.read(number, PIECE_BYTES)
            except BlockingIOError:
                continue
            if data:
                found.append((stream, data))
            else:
                del self._sources[number]
        self.ended = not self._sources
        return found

    def write(self, data: memoryview) -> int:
        if not self._input_open:
            raise BrokenPipeError("the input is closed")
        try:
            return os.write(self._child.stdin, data[:PIECE_BYTES])
        except BlockingIOError:
            return 0

    def close_input(self) -> None:
        self._input_open = False
        self._child.close_input()

    def close(self) -> None:
        self.ended = True
        self._sources.clear()
        os.close(self._errors)


def _start(box: Box) -> PipeSession:
    # Our own folder is the scratch space: nothing the program leaves behind stays.
    folder = tempfile.TemporaryDirectory(prefix="agent-loop-local-", ignore_cleanup_errors=True)
    read_end, write_end = os.pipe()
    env = {"PATH": os.defpath, "HOME": folder.name, "TMPDIR": folder.name, "LANG": "C.UTF-8"}
    argv = command([sys.executable, *box.python[1:]])
    try:
        child = procs.start(argv, cwd=Path(folder.name), env=env, stderr=write_end)
    except OSError as error:
        os.close(read_end)
        raise SandboxUnavailable(f"{sys.executable} could not be started: {error}") from error
    finally:
        os.close(write_end)
    session = PipeSession(PipeChannel(child, read_end), LocalBody(child, folder), box.limits)
    with suppress(BrokenPipeError):
        session.send(bundle(box.program), deadline=time.monotonic() + 10)
    return session
