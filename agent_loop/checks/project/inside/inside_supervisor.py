"""Runs one command for the host inside a container and says how it ended.

Stands alone: it is handed over as text. It is the only process here that knows the secret of
its job, and it makes itself unreadable for the judged code, which has the same user id.
"""

import ctypes
import json
import os
import selectors
import signal
import sys
import time
from typing import Any

HEAD_BYTES = 20_000
TAIL_BYTES = 200_000
RECORD_BYTES = 24 << 20
POLL_S = 0.05
PR_SET_DUMPABLE = 4
CWD = "/project"


class Kept:
    """The first and last bytes of a stream."""

    def __init__(self, head: int, tail: int) -> None:
        self.head, self.tail = head, tail
        self.start = bytearray()
        self.end = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self.head - len(self.start)
        self.start += data[:room] if room > 0 else b""
        self.end += data[room:] if room > 0 else data
        if len(self.end) > 2 * self.tail:
            del self.end[: len(self.end) - self.tail]

    def text(self) -> str:
        cut = self.total - len(self.start) - self.tail
        middle = f"\n[... {cut} bytes left out ...]\n".encode() if cut > 0 else b""
        return (bytes(self.start) + middle + bytes(self.end[-self.tail :])).decode(
            "utf-8", "replace"
        )


def exactly(count: int) -> bytes:
    """That many bytes of the job; ends quietly when nobody wants one any more."""
    got = bytearray()
    while len(got) < count:
        piece = os.read(0, min(count - len(got), 1 << 20))
        if not piece:
            os._exit(0)
        got += piece
    return bytes(got)


def write_all(number: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]


def lay(folder: str, files: dict[str, str]) -> None:
    """Write the files of the job."""
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)


class Child:
    """One command with three pipes: its input, its output, its records."""

    def __init__(self, argv: list[str], env: dict[str, str]) -> None:
        pipes = {name: os.pipe() for name in ("input", "output", "records")}
        self.input = pipes["input"][1]
        self.output, self.records = pipes["output"][0], pipes["records"][0]
        ends = [pipes["input"][0], pipes["output"][1], pipes["records"][1]]
        self.pid = os.fork()
        if not self.pid:
            execute([argv[0] or sys.executable, *argv[1:]], env, ends)
        for number in ends:
            os.close(number)

    def tell(self, text: str) -> None:
        try:
            write_all(self.input, text.encode())
        except BrokenPipeError:
            sys.stderr.write("the child took no input\n")
        os.close(self.input)

    def drop(self) -> None:
        """It is not wanted after all."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        for number in (self.input, self.output, self.records):
            os.close(number)


def execute(argv: list[str], env: dict[str, str], ends: list[int]) -> None:
    """In the child: keep the three pipes and nothing else, and become the command."""
    try:
        os.setsid()
        # Out of the way first: one of them may have the number another one is to get.
        ends = [os.dup(os.dup(os.dup(number))) for number in ends]
        for target, number in ((0, ends[0]), (1, ends[1]), (2, ends[1]), (3, ends[2])):
            os.dup2(number, target)
        os.closerange(4, 256)
        os.set_inheritable(3, True)
        os.chdir(CWD)
        os.execve(argv[0], argv, env)
    except OSError as error:
        write_all(2, f"cannot start {argv[0]}: {error}\n".encode())
    os._exit(127)


class Watch:
    """Reads the child's streams until it has ended or its time is over."""

    def __init__(self, child: Child, job: dict[str, Any]) -> None:
        self.pid, self.job = child.pid, job
        self.records = Kept(RECORD_BYTES, 0)
        self.output = Kept(HEAD_BYTES, TAIL_BYTES)
        self.streams = selectors.DefaultSelector()
        for number, kept in ((child.records, self.records), (child.output, self.output)):
            os.set_blocking(number, False)
            self.streams.register(number, selectors.EVENT_READ, kept)
        self.status: int | None = None
        self.timed_out = False
        self.lingered = False

    def pump(self, timeout: float) -> bool:
        """Take what has come; true if there was something."""
        found = False
        for key, _ in self.streams.select(timeout) if self.streams.get_map() else ():
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            found = True
            if data:
                key.data.add(data)
            else:
                self.streams.unregister(key.fd)
        if not self.streams.get_map():
            time.sleep(min(timeout, POLL_S))
        return found

    def run(self) -> None:
        started = time.monotonic()
        ended: float | None = None
        while self.status is None:
            self.pump(POLL_S)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            now = time.monotonic()
            if done:
                self.status = status
            elif ended is None and b'"t": "end"' in self.records.start[-400:]:
                ended = now
            elif ended is not None and now > self.latest_end(started, ended):
                self.lingered = True
                self.stop()
            elif now - started > self.job["wall_s"]:
                self.timed_out = True
                self.stop()
        self.kill_group()
        while self.pump(0.0):
            pass

    def latest_end(self, started: float, ended: float) -> float:
        """When a child whose end line was written must be gone.

        On a machine so busy that the tests took long, the way out takes long too.
        """
        grace, wall = float(self.job["grace_s"]), float(self.job["wall_s"])
        return min(ended + max(grace, ended - started), started + wall + grace)

    def stop(self) -> None:
        self.kill_group()
        self.status = os.waitpid(self.pid, 0)[1]

    def kill_group(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return


def start_of(job: dict[str, Any], ready: Child) -> Child:
    """The child that waits with pytest imported, or a new one for any other command."""
    if job["argv"] is None:
        return ready
    ready.drop()
    return Child(job["argv"], job["env"])


def main() -> None:
    """Get ready, wait for a job, run it, answer once."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    texts = sys.modules["agent_loop_texts"]
    lay(texts.FOLDER, texts.FILES)
    ready = Child(["", "-I", "-B", os.path.join(texts.FOLDER, "start.py")], texts.ENVIRONMENT)
    job = json.loads(exactly(int.from_bytes(exactly(8), "big")))
    lay(texts.FOLDER, job["files"])
    started = time.monotonic()
    child = start_of(job, ready)
    child.tell(job["input"])
    watch = Watch(child, job)
    watch.run()
    status = watch.status or 0
    answer = {
        "secret": job["secret"],
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        "timed_out": watch.timed_out,
        "lingered": watch.lingered,
        "records": watch.records.text(),
        "overflow": watch.records.total > RECORD_BYTES,
        "output": watch.output.text(),
        "seconds": time.monotonic() - started,
        "marks": [name for name in job["marks"] if os.path.exists(name)],
    }
    body = json.dumps(answer).encode()
    write_all(1, len(body).to_bytes(8, "big") + body)
