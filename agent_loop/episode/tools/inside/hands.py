"""Runs commands for the host, one at a time, as process 1 of its container.

Nothing inside can kill or stop process 1, and it makes itself unreadable, so its pipe and its
memory stay its own. When a command has ended, by itself or not, nothing else is left running.
"""

import ctypes
import os
import select
import signal
import stat
import sys
import time
from typing import Any

from agent_loop.episode.tools.inside.frames import give, take

PR_SET_DUMPABLE = 4
CHUNK = 1 << 16
NICE = 5
LIST_MOST = 1000


class Refused(Exception):
    """The request cannot be done; the text says why."""


def main() -> None:
    """Answer until the pipe ends."""
    if os.getpid() != 1:
        # `kill_all` would reach everything that this user has.
        raise SystemExit("only as the first process of a container")
    dumpable(0)
    settings = sys.modules["agent_loop_settings"]
    root = str(settings.ROOT)
    bell = ring_when_a_child_ends()
    work = {"read": read, "write": write, "list": listing}
    while True:
        request, body = take()
        if request["op"] == "run":
            give(*Run(request, bell, root).result())
        elif request["op"] in work:
            try:
                give(*work[request["op"]](root, request, body))
            except Refused as problem:
                give({"problem": str(problem)})
            except OSError as problem:
                give({"problem": problem.strerror or str(problem)})


def dumpable(on: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, on, 0, 0, 0)


def ring_when_a_child_ends() -> int:
    """A file descriptor that can be read after a child has ended."""
    bell, ringing = os.pipe()
    os.set_blocking(bell, False)
    os.set_blocking(ringing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ringing, warn_on_full_buffer=False)
    return bell


# --- commands ---


class Kept:
    """The first and last bytes of a stream."""

    def __init__(self, head: int, tail: int) -> None:
        self.head, self.tail = head, tail
        self.start, self.end = bytearray(), bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = max(0, self.head - len(self.start))
        self.start += data[:room]
        self.end += data[room:]
        if len(self.end) > 2 * self.tail + CHUNK:
            del self.end[: len(self.end) - self.tail]

    def both(self) -> tuple[bytes, bytes]:
        return bytes(self.start), bytes(self.end[-self.tail :]) if self.tail else b""


class Run:
    """One command, from its start until nothing of it is left."""

    def __init__(self, request: dict[str, Any], bell: int, root: str) -> None:
        self.request, self.bell = request, bell
        self.output = Kept(request["head"], request["tail"])
        self.began = time.monotonic()
        self.why = ""
        self.status: int | None = None
        pipe, writing = os.pipe()
        self.pipe = pipe
        os.set_blocking(pipe, False)
        self.pid = os.fork()
        if not self.pid:
            become(request, writing, root)
        os.close(writing)

    def result(self) -> tuple[dict[str, Any], bytes]:
        self.watch()
        self.kill_all()
        while self.pump():
            pass
        os.close(self.pipe)
        start, end = self.output.both()
        status = self.status or 0
        header = {
            "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "why": self.why,
            "seconds": time.monotonic() - self.began,
            "total": self.output.total,
            "start": len(start),
        }
        return header, start + end

    def watch(self) -> None:
        """Until the command has ended, its time is over, it says too much or nobody wants it."""
        until = self.began + self.request["wall_s"]
        sources = [0, self.bell, self.pipe]
        while not self.ended() and not self.why:
            left = until - time.monotonic()
            if left <= 0:
                self.why = "time"
                return
            ready = select.select(sources, [], [], left)[0]
            if self.pipe in ready and not self.pump():
                sources.remove(self.pipe)
            if 0 in ready:
                take()  # only ever a request to stop; the end of the pipe ends us
                self.why = "stopped"
            if self.output.total > self.request["most"]:
                self.why = "output"

    def ended(self) -> bool:
        """Take the end of any child; true when it was ours."""
        try:
            while os.read(self.bell, CHUNK):
                pass
        except BlockingIOError:
            pass
        self.reap()
        return self.status is not None

    def reap(self) -> bool:
        """False: no child is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == self.pid:
                    self.status = status
                if not pid:
                    return True
        except ChildProcessError:
            return False

    def pump(self) -> bool:
        """Take what has come; false at the end, and when nothing is there."""
        try:
            data = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return False
        self.output.add(data)
        return bool(data)

    def kill_all(self) -> None:
        """Everything in this container but us. One call reaches all at once, forks included."""
        while True:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                alone = True
            else:
                alone = False
            if not self.reap() and alone:
                return
            time.sleep(0.001)


def become(request: dict[str, Any], output: int, root: str) -> None:
    """In the child: keep three streams, none of them ours, and become the command."""
    try:
        os.setsid()
        # Its own files in /proc belong to it again: it shall be the first to go for memory.
        dumpable(1)
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
        os.nice(NICE)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, number in ((0, nothing), (1, output), (2, output)):
            os.dup2(number, target)
        os.closerange(3, 1024)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.chdir(root)
        os.execvpe(request["argv"][0], request["argv"], request["env"])
    except OSError as error:
        os.write(1, f"cannot start {request['argv'][0]}: {error}\n".encode())
    os._exit(127)


# --- files; nothing else is alive while one of these is at work ---


def inside(root: str, path: str) -> str:
    """The real place of a path of the workspace."""
    place = os.path.realpath(os.path.join(root, path))
    if place != root and not place.startswith(root + "/"):
        raise Refused("it leads out of the project")
    return place


def read(root: str, request: dict[str, Any], _body: bytes) -> tuple[dict[str, Any], bytes]:
    place = inside(root, request["path"])
    number = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        state = os.fstat(number)
        if not stat.S_ISREG(state.st_mode):
            raise Refused("it is a folder" if stat.S_ISDIR(state.st_mode) else "it is no file")
        if state.st_size > request["most"]:
            raise Refused(f"it has {state.st_size} bytes, more than {request['most']}")
        data = bytearray()
        while len(data) < state.st_size and (piece := os.read(number, CHUNK)):
            data += piece
    finally:
        os.close(number)
    return {}, bytes(data)


def write(root: str, request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """The whole content or none of it."""
    place = inside(root, request["path"])
    mode = 0o644
    if os.path.lexists(place):
        # A file that may not be written says so here, before anything has changed.
        number = os.open(place, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        state = os.fstat(number)
        os.close(number)
        if not stat.S_ISREG(state.st_mode):
            raise Refused("it is no file")
        mode = stat.S_IMODE(state.st_mode) & 0o755
    os.makedirs(os.path.dirname(place), exist_ok=True)
    beside = f"{place}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    try:
        number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(body)
        os.chmod(beside, mode)
        os.replace(beside, place)
    except OSError:
        if os.path.lexists(beside):
            os.unlink(beside)
        raise
    return {}, b""


def listing(root: str, request: dict[str, Any], _body: bytes) -> tuple[dict[str, Any], bytes]:
    """Names below a folder, two levels deep, folders with `/`."""
    place = inside(root, request["path"])
    if not os.path.isdir(place):
        raise Refused("it is no folder")
    names: list[str] = []
    more = False
    for folder in ("", *sorted(one for one in os.listdir(place) if real_dir(place, one))):
        for name in sorted(os.listdir(os.path.join(place, folder))):
            path = f"{folder}/{name}" if folder else name
            more = more or len(names) >= LIST_MOST
            if not more and name not in request["skip"]:
                names.append(path + "/" * real_dir(place, path))
    return {"names": names, "more": more}, b""


def real_dir(place: str, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(os.path.join(place, name)).st_mode)
    except OSError:
        return False
