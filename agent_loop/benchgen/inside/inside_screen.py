"""Judges many mutants of one library in one container, each in a fork of its own.

Stands alone: handed over as text. Three kinds of process: the server (pytest imported), under it
the loaded one (library and tests imported, items collected), and a fork of one of them per mutant.
A mutant inside function bodies is put into the loaded one's functions; any other is imported anew.
Mutants are our own edits of a library the owner chose: this screens, fresh containers decide.
"""

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from typing import Any

import pytest
from agent_loop_record import Recorder
from agent_loop_start import entry_names, preload
from agent_loop_swap import CannotSwap, Functions, depth_watch

TREE = "/project"
SAID = "/tmp/said.txt"
TEXT_CHARS = 3000
MOST_BYTES = 64 << 20
Job = dict[str, Any]


def exactly(number: int, count: int) -> bytes:
    got = bytearray()
    while len(got) < count:
        piece = os.read(number, min(count - len(got), 1 << 20))
        if not piece:
            raise EOFError
        got += piece
    return bytes(got)


def receive(number: int) -> Job:
    size = int.from_bytes(exactly(number, 8), "big")
    job: Job = json.loads(exactly(number, size))
    return job


def send(number: int, what: object) -> None:
    body = json.dumps(what).encode()
    view = memoryview(len(body).to_bytes(8, "big") + body)
    while view:
        view = view[os.write(number, view) :]


def forked(work: Callable[[], object], job: Job, memory_mib: int) -> Job:
    """Run `work` in a fork with limits; what it gives, or why it gave nothing."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        in_fork(work, writer, job, memory_mib)
    os.close(writer)
    data, timed_out = drained(reader, time.monotonic() + job["wall_s"])
    os.close(reader)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if timed_out or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return {"trouble": "time"}
    try:
        got: Job = json.loads(data)
        return got
    except ValueError:
        return {"trouble": f"its process ended early (status {status})"}


def in_fork(work: Callable[[], object], writer: int, job: Job, memory_mib: int) -> None:
    code = 1
    try:
        os.setsid()
        most = memory_mib << 20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # What an endless loop meets: unlike the wall clock, the same on a busy machine.
        if "cpu_s" in job:
            resource.setrlimit(resource.RLIMIT_CPU, (job["cpu_s"], job["cpu_s"] + 1))
        body = memoryview(json.dumps(work()).encode())
        while body:
            body = body[os.write(writer, body) :]
        code = 0
    finally:
        os._exit(code)


def drained(reader: int, deadline: float) -> tuple[bytes, bool]:
    """Everything up to the end of the pipe; true where the deadline came first."""
    data = bytearray()
    while (left := deadline - time.monotonic()) > 0 and len(data) < MOST_BYTES:
        if select.select([reader], [], [], left)[0]:
            piece = os.read(reader, 1 << 20)
            if not piece:
                return bytes(data), False
            data += piece
    return b"", True


def used() -> float:
    """Processor time of this process and the forks it has seen end."""
    ours, theirs = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return ours.ru_utime + ours.ru_stime + theirs.ru_utime + theirs.ru_stime


@contextlib.contextmanager
def instead(files: dict[str, str]) -> Iterator[None]:
    """Have the import system read other texts, whatever name a file is imported by."""
    texts = {os.path.join(TREE, path): text.encode("latin-1") for path, text in files.items()}
    loader: Any = SourceFileLoader
    plain = loader.get_data

    def get_data(self: SourceFileLoader, path: str) -> bytes:
        known = texts.get(os.path.realpath(path))
        data: bytes = plain(self, path) if known is None else known
        return data

    loader.get_data = get_data
    yield
    loader.get_data = plain


class Serving:
    """In the loaded process: takes the place of pytest's own loop over the items."""

    def __init__(self, number: int, recorder: Recorder, start: Job) -> None:
        self.number, self.recorder, self.start = number, recorder, start

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        functions = Functions(TREE)
        send(self.number, {"ids": list(items), "uncollected": self.recorder.uncollected})
        quiet()
        with contextlib.suppress(EOFError):
            while True:
                job = receive(self.number)
                send(self.number, self.answer(job, session, items, functions))
        os._exit(0)

    def answer(
        self, job: Job, session: pytest.Session, items: dict[str, pytest.Item], functions: Functions
    ) -> Job:
        if job["do"] == "usage":
            return {"cpu_s": used()}

        def work() -> object:
            try:
                codes = functions.swap(job["files"])
            except CannotSwap as why:
                return {"cannot": str(why)}
            depths = depth_watch(codes, self.recorder, TREE) if job.get("explain") else None
            self.run([items[one] for one in job["tests"] if one in items], job)
            return {**self.recorder.result(), "depths": depths or {}}

        return forked(work, job, self.start["memory_mib"])

    def run(self, items: list[pytest.Item], job: Job) -> None:
        for number, item in enumerate(items):
            after = items[number + 1] if number + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if len(self.recorder.failures) > job["most_bad"]:
                return


class Server:
    """The first process: pytest imported, nothing of the library."""

    def __init__(self, start: Job) -> None:
        self.start = start
        self.loaded: socket.socket | None = None
        self.pid = 0

    def answer(self, job: Job) -> Job:
        match job["do"]:
            case "load":
                return self.load()
            case "usage":
                return {"cpu_s": used() + float(self.by_loaded(job).get("cpu_s", 0.0))}
            case "cover":
                return self.alone(self.cover, job)
            case "fresh":
                return self.alone(lambda: self.fresh(job), job)
            case _:
                return self.by_loaded(job)

    def alone(self, work: Callable[[], object], job: Job) -> Job:
        return forked(work, job, self.start["memory_mib"])

    def argv(self, after: list[str]) -> list[str]:
        names = entry_names(self.start["plugins"])
        words = [word for name in names for word in ("-p", name)]
        words += ["--no-cov"] if "pytest_cov" in names else []
        words += ["-n", "0"] if "xdist" in names else []
        return [*self.start["before"], "-s", *words, *after]

    def load(self) -> Job:
        """Start the loaded process and wait until its items are there."""
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            ours.close()
            self.be_loaded(theirs.fileno())
        theirs.close()
        self.loaded = ours
        return self.heard()

    def be_loaded(self, number: int) -> None:
        said = os.open(SAID, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        recorder = Recorder()
        serving = Serving(number, recorder, self.start)
        code = pytest.main(self.argv(self.start["after"]), plugins=[recorder, serving])
        with open(SAID, encoding="utf-8", errors="replace") as file:
            tail = file.read()[-TEXT_CHARS:]
        send(number, {"trouble": f"pytest ended with {int(code)} before any test: {tail}"})
        os._exit(1)

    def heard(self) -> Job:
        assert self.loaded is not None
        try:
            return receive(self.loaded.fileno())
        except (EOFError, OSError):
            self.loaded.close()
            self.loaded = None
            status = os.waitpid(self.pid, 0)[1]
            return {"trouble": f"the process with the tests ended (status {status})"}

    def by_loaded(self, job: Job) -> Job:
        if self.loaded is None and "trouble" in (said := self.load()):
            return said
        assert self.loaded is not None
        send(self.loaded.fileno(), job)
        return self.heard()

    def fresh(self, job: Job) -> object:
        """Import everything anew with the mutant in place."""
        quiet()
        recorder = Recorder()
        with open("/tmp/ids.txt", "w", encoding="utf-8") as file:
            file.write("".join(f"{one}\n" for one in job["tests"]))
        with instead(job["files"]):
            pytest.main(self.argv(["@/tmp/ids.txt"]), plugins=[recorder, Enough(recorder, job)])
        return {**recorder.result(), "depths": {}}

    def cover(self) -> object:
        """Run everything once and note which test runs which line."""
        quiet()
        coverage = importlib.import_module("coverage")
        watch = coverage.Coverage(data_file=None, config_file=False, include=[f"{TREE}/*"])
        watch._warn_no_data = False
        recorder = Recorder()
        watch.start()
        watch.switch_context("import")
        pytest.main(self.argv(self.start["after"]), plugins=[recorder, Contexts(watch)])
        watch.stop()
        return {**recorder.result(), "lines": lines_of(watch.get_data())}


class Enough:
    """Stops a run that fails too many tests to be of use."""

    def __init__(self, recorder: Recorder, job: Job) -> None:
        self.recorder, self.most = recorder, job["most_bad"]

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and len(self.recorder.failures) > self.most:
            pytest.exit("enough", returncode=1)


class Contexts:
    """Tells coverage which test is running."""

    def __init__(self, watch: Any) -> None:
        self.watch = watch

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.watch.switch_context(item.nodeid)
        yield
        self.watch.switch_context("import")


def lines_of(data: Any) -> dict[str, dict[str, list[int]]]:
    """Lines by test by path; a line that ran outside tests is under `import`."""
    found: dict[str, dict[str, list[int]]] = {}
    for file in data.measured_files():
        path = os.path.relpath(file, TREE)
        for line, contexts in data.contexts_by_lineno(file).items():
            for name in contexts:
                found.setdefault(path, {}).setdefault(name, []).append(line)
    return found


def quiet() -> None:
    """Nobody reads what the tests print; a full pipe would stop them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)


def main() -> None:
    """Serve jobs until the host has no more."""
    asked, told = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    start = receive(asked)
    os.environ.clear()
    os.environ.update(start["env"])
    os.chdir(TREE)
    for path, text in start["files"].items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    preload()
    server = Server(start)
    with contextlib.suppress(EOFError):
        while True:
            send(told, server.answer(receive(asked)))
    os._exit(0)
