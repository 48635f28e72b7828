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


def spawn(job: dict[str, Any], ends: dict[str, int]) -> int:
    """Fork and execute; the child keeps its three pipes and nothing else."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        os.dup2(ends["input"], 0)
        os.dup2(ends["output"], 1)
        os.dup2(ends["output"], 2)
        os.dup2(ends["records"], 3)
        os.closerange(4, 256)
        os.set_inheritable(3, True)
        os.chdir(job["cwd"])
        argv = [job["argv"][0] or sys.executable, *job["argv"][1:]]
        os.execve(argv[0], argv, job["env"])
    except OSError as error:
        write_all(2, f"cannot start {job['argv'][0]}: {error}\n".encode())
    os._exit(127)


class Watch:
    """Reads the child's streams until it has ended or its time is over."""

    def __init__(self, pid: int, records: int, output: int, job: dict[str, Any]) -> None:
        self.pid, self.job = pid, job
        self.records = Kept(RECORD_BYTES, 0)
        self.output = Kept(HEAD_BYTES, TAIL_BYTES)
        self.streams = selectors.DefaultSelector()
        for number, kept in ((records, self.records), (output, self.output)):
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
            elif ended is not None and now - ended > self.job["grace_s"]:
                self.lingered = True
                self.stop()
            elif now - started > self.job["wall_s"]:
                self.timed_out = True
                self.stop()
        self.kill_group()
        while self.pump(0.0):
            pass

    def stop(self) -> None:
        self.kill_group()
        self.status = os.waitpid(self.pid, 0)[1]

    def kill_group(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return


def main() -> None:
    """Wait for a job, run it, answer once."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    job = json.loads(exactly(int.from_bytes(exactly(8), "big")))
    lay(job["folder"], job["files"])
    started = time.monotonic()
    pipes = {name: os.pipe() for name in ("input", "output", "records")}
    ends = {
        "input": pipes["input"][0],
        "output": pipes["output"][1],
        "records": pipes["records"][1],
    }
    pid = spawn(job, ends)
    for number in ends.values():
        os.close(number)
    try:
        write_all(pipes["input"][1], job["input"].encode())
    except BrokenPipeError:
        sys.stderr.write("the child took no input\n")
    os.close(pipes["input"][1])
    watch = Watch(pid, pipes["records"][0], pipes["output"][0], job)
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
