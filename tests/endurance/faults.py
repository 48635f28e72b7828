"""Each kind of fault: made to happen, many times; what survived it and what was lost."""

import contextlib
import gc
import os
import random
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from agent_loop.errors import AgentLoopError, SandboxUnavailable, ThreadError
from agent_loop.graph import drive
from agent_loop.store import RunStore, read_trace
from tests.endurance import victims
from tests.fakes.check import ScriptedCheck
from tests.fakes.killable import drive_on, struck_child
from tests.fakes.kills import asked_again, bare, context, kill_until
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong


@dataclass
class Figures:
    """What one kind of fault did."""

    what: str
    tried: int = 0
    survived: int = 0
    """The run went on to the same record, or stopped with a clear message and could go on."""
    lost: int = 0
    """Finished work that was gone: a record that differs, an answered call asked again."""
    notes: list[str] = field(default_factory=list)
    skipped: str = ""
    seconds: float = 0.0

    def take(self, good: bool, lost: bool, note: str = "") -> None:
        self.tried += 1
        self.survived += good
        self.lost += lost
        if note and (not good or lost):
            self.notes.append(note)


class Bench:
    """A folder with the undisturbed run that all others are compared with."""

    def __init__(self, root: Path) -> None:
        self.root, self.store, self.make = root, RunStore(root), context()
        if drive_on(str(root), "whole", 0.0) != "passed":
            raise RuntimeError("the undisturbed run does not pass")
        self.whole = bare(self.store.read_record("whole"))
        self.events = sum(1 for _ in read_trace(self.store.trace_path("whole")))

    def kill(self, target, *args) -> bool:
        """Run the target until it kills itself; whether it did."""
        process = self.make.Process(target=target, args=(str(self.root), *args))
        process.start()
        process.join(60)
        if process.is_alive():
            process.kill()
            process.join()
        code = process.exitcode
        process.close()
        return code == -9

    def goes_on(self, thread: str, figures: Figures) -> None:
        """The next process takes the thread up: the undisturbed record, nothing asked twice."""
        try:
            said = drive_on(str(self.root), thread, 0.0)
        except ThreadError as error:  # the kill came after the last write of all
            said = "passed" if "has ended (passed)" in str(error) else str(error)
        same = said == "passed" and bare(self.store.read_record(thread)) == self.whole
        twice = asked_again(self.store.trace_path(thread))
        figures.take(said == "passed", not same or twice, f"{thread}: {said}")


@contextlib.contextmanager
def bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory() as name:
        yield Bench(Path(name).resolve())


# --- kills


def kill_at_every_event(quick: bool) -> Figures:
    found = Figures("killed right after each event of a run")
    with bench() as at:
        for n in range(1, at.events + 1, 5 if quick else 1):
            thread = f"e{n}"
            if at.kill(struck_child, thread, n):
                at.goes_on(thread, found)
    return found


def kill_at_file_writes(quick: bool) -> Figures:
    found = Figures("killed before or after each file operation (open, write, fsync)")
    with bench() as at:
        for name, most in (("fsync", 12), ("open", 60), ("write", 60)):
            for n in range(1, most, 7 if quick else 2):
                for after in (False, True):
                    thread = f"{name}{n}{'a' if after else 'b'}"
                    if at.kill(victims.at_system_call, thread, name, n, after):
                        at.goes_on(thread, found)
    return found


def kill_in_commits(quick: bool) -> Figures:
    found, rng = Figures("killed while a checkpoint is being committed"), random.Random(7)
    with bench() as at:
        for n in range(1, 26, 6 if quick else 1):
            for _ in range(1 if quick else 2):
                thread = f"c{n}-{found.tried}"
                if at.kill(victims.at_commit, thread, n, rng.uniform(0, 0.002)):
                    at.goes_on(thread, found)
        with closing(sqlite3.connect(at.store.checkpoints)) as conn:
            if conn.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                found.take(False, True, "integrity_check")
    return found


def kill_at_random(quick: bool) -> Figures:
    """In the middle of model calls and checks, which take 20 ms each here."""
    with tempfile.TemporaryDirectory() as name:
        done = kill_until(Path(name).resolve(), 6 if quick else 60, seed=11)
    lost = len(done.different) + len(done.asked_again)
    notes = [*done.different, *done.asked_again]
    good = done.hits - len(done.different)
    what = "killed at a random moment (model call, check, between)"
    return Figures(what, done.hits, good, lost, notes)


def kill_with_containers(quick: bool) -> Figures:
    """The real gate: kills hit container starts, calls over pipes and the judge."""
    from agent_loop.sandbox.engine import find_engine
    from agent_loop.sandbox.image import set_up_image
    from tests.fakes.kills import orphans

    what = "killed at a random moment, real containers (starts, pipes, judging)"
    try:
        engine = find_engine(os.environ, Path.home())
        image = set_up_image(engine, "", Path(__file__).resolve().parents[2] / ".scratch", print)
        engine.close()
    except SandboxUnavailable as error:
        return Figures(what, skipped=str(error))
    with tempfile.TemporaryDirectory() as name:
        done = kill_until(Path(name).resolve(), 3 if quick else 20, seed=5, image=image)
    left = orphans(image, done.pids)
    notes = [*done.different, *done.asked_again, *map(str, left)]
    lost = len(done.different) + len(done.asked_again) + len(left)
    return Figures(what, done.hits, done.hits - len(done.different), lost, notes)


# --- disk and clock


@contextlib.contextmanager
def small_disk(kib: int) -> Iterator[Path]:
    """A file system of that size. Raises OSError where none can be mounted."""
    with tempfile.TemporaryDirectory() as name:
        argv = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", name]
        if os.name == "nt" or os.geteuid() != 0 or subprocess.run(argv, check=False).returncode:
            raise OSError("needs the right to mount")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def long_wrong(n: int) -> str:
    rng = random.Random(n)
    body = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(12_000))
    return f"```python\nx = '{body}'\n```"


def disk_full(quick: bool) -> Figures:
    found = Figures("disk full in the middle, then room again")
    for kib in range(200, 900, 300 if quick else 70):
        with small_disk(kib) as folder:
            store = RunStore(folder / "runs")
            replies = [*(long_wrong(n) for n in range(9)), RIGHT]
            first = parts(replies, "REJECTED", owner=ScriptedOwner())
            try:
                outcome = drive.start("d", job(rejection_cap=12), first, store).outcome
            except AgentLoopError as error:
                outcome = "error" if "space" in str(error) or "full" in str(error) else str(error)
            remount(folder, "size=64m")
            said, kept = _after_disk(store, replies)
            good = outcome in ("error", "passed", "paused") and said in ("passed", "paused")
            found.take(good, not kept, f"{kib} KiB: {outcome}, then {said}")
    return found


def _after_disk(store: RunStore, replies: list[str]) -> tuple[str, bool]:
    """How it ends once there is room; whether no finished lap was asked again."""
    try:
        standing = drive.standing(store, "d")
    except ThreadError:  # nothing had begun: the same command again
        made = parts(replies)
        return drive.start("d", job(rejection_cap=12), made, store).outcome, True
    done = standing.replies.get("worker", 0)
    made = parts(replies[done:])
    try:
        outcome = drive.resume("d", made, store).outcome
    except ThreadError as error:
        return ("passed" if "has ended" in str(error) else str(error)), True
    laps = store.read_record("d")["laps"]
    return outcome, len(laps) == done + len(made.models["worker"].asked)


def read_only_disk(quick: bool) -> Figures:
    found = Figures("runs/ is read-only when a killed run is taken up, then writable")
    with small_disk(65_536) as folder:
        root, store, make = str(folder / "runs"), RunStore(folder / "runs"), context()
        for n in range(4, 60, 30 if quick else 8):
            thread = f"r{n}"
            victim = make.Process(target=struck_child, args=(root, thread, n))
            victim.start()
            victim.join()
            victim.close()
            remount(folder, "ro")
            try:
                outcome = drive_on(root, thread, 0.0)
            except AgentLoopError as error:
                outcome = "refused" if "writable" in str(error) else str(error)
            remount(folder, "rw")
            said = drive_on(root, thread, 0.0)
            good = outcome in ("refused", "error") and said == "passed"
            twice = asked_again(store.trace_path(thread))
            found.take(good, twice, f"{thread}: {outcome}, then {said}")
    return found


def clock_back(quick: bool) -> Figures:
    found = Figures("clock set back by a day between two processes, killed again and again")
    with bench() as at:
        for n in range(3, at.events, 20 if quick else 4):
            thread = f"b{n}"
            if not at.kill(struck_child, thread, n):
                continue
            before = drive.standing(at.store, thread)
            at.kill(victims.a_day_ago, thread, 6)
            after = drive.standing(at.store, thread)
            went_back = (after.laps, sum(after.replies.values())) < (
                before.laps, sum(before.replies.values()))  # fmt: skip
            at.goes_on(thread, found)
            if went_back:
                found.lost += 1
                found.notes.append(f"{thread}: steps after the clock went back were not found")
    return found


# --- the database, files, servers


def locked_database(quick: bool) -> Figures:
    found = Figures("database held by another process for 3 to 8 s")
    with tempfile.TemporaryDirectory() as name:
        store = RunStore(Path(name))
        drive.start("p", job(), parts([wrong(n) for n in range(3)], "REJECTED"), store)
        for seconds in (3,) if quick else (3, 8):
            holding, n = threading.Event(), found.tried

            def hold(seconds=seconds, holding=holding) -> None:
                with closing(sqlite3.connect(store.checkpoints, timeout=30)) as conn:
                    conn.execute("BEGIN IMMEDIATE")
                    holding.set()
                    time.sleep(seconds)
                    conn.rollback()

            holder = threading.Thread(target=hold)
            holder.start()
            holding.wait(10)
            outcome = drive.start(f"l{n}", job(), parts([RIGHT]), store).outcome
            holder.join()
            found.take(outcome == "passed", False, f"{seconds} s: {outcome}")
    return found


def corrupted(quick: bool) -> Figures:
    found = Figures("bytes of trace, record, job or checkpoint changed, cut or emptied")
    rng = random.Random(3)
    for name in ("trace", "record", "job", "database"):
        for damage in (_flip, _cut, _empty):
            for _ in range(1 if quick else 4):
                with tempfile.TemporaryDirectory() as folder:
                    store = RunStore(Path(folder))
                    drive.start(
                        "p", job(), parts([long_wrong(n) for n in range(3)], "REJECTED"), store
                    )
                    drive.start("q", job(), parts([RIGHT]), store)
                    path = {
                        "trace": store.trace_path("p"), "record": store.record_path("p"),
                        "job": store.folder("p") / "job.json", "database": store.checkpoints,
                    }[name]  # fmt: skip
                    path.write_bytes(damage(path.read_bytes(), rng))
                    found.take(*_used(store, f"{name} {damage.__name__}"))
    return found


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(8):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(1, len(data))]


def _empty(data: bytes, rng: random.Random) -> bytes:
    return b""


def _used(store: RunStore, what: str) -> tuple[bool, bool, str]:
    """Whatever reads the files works or says what is wrong; the other run is whole."""
    made = parts([RIGHT], owner=ScriptedOwner(["go on"]))
    try:
        store.list()
        list(read_trace(store.trace_path("p")))
        for act in (
            lambda: store.read_record("p"), lambda: drive.standing(store, "p"),
            lambda: drive.resume("p", made, store),
        ):  # fmt: skip
            with contextlib.suppress(AgentLoopError):
                act()
        whole = store.read_record("q")["outcome"] == "passed"
    except Exception as error:  # what must not happen
        return False, False, f"{what}: {type(error).__name__}: {error}"
    return True, not whole, what


def model_server_restarts(quick: bool) -> Figures:
    """A fake Ollama that goes away in the middle of a run and is back, on the same port, later."""
    from agent_loop.config import ModelOptions, ModelSettings
    from agent_loop.models import make_model
    from tests.fakes.ollama_server import OllamaServer, Turn

    found = Figures("model server stopped in the middle and started again")
    turns = ["1. plan", *(wrong(n) for n in range(2)), RIGHT]
    for gone_at in (1,) if quick else (1, 2, 3):
        with tempfile.TemporaryDirectory() as folder:
            store = RunStore(Path(folder))
            server = OllamaServer(*(Turn(text=text) for text in turns))
            port, url = server.server_port, server.url
            server.__enter__()
            settings = ModelSettings(
                provider="ollama", model="tiny:1b", base_url=url, retries=1,
                options=ModelOptions(num_ctx=4096), connect_s=1.0, read_s=5.0,
            )  # fmt: skip
            worker = make_model(settings)
            made = parts(["x"], check=ScriptedCheck())
            made.models["worker"] = made.models["lead"] = worker
            stop = _StopAt(server, gone_at)
            made = _listening(made, stop)
            outcome = drive.start("m", job(), made, store).outcome
            if not stop.stopped:
                server.__exit__()
            again = _again(server, port)
            with again:
                said = outcome if outcome == "passed" else drive.resume("m", made, store).outcome
            worker.close()
            asked = stop.asked_before + len(again.chats())
            found.take(said == "passed", False, f"after call {gone_at}: {outcome}, then {said}")
            found.notes += [] if asked <= len(turns) + 3 else [f"{asked} calls for {len(turns)}"]
    return found


class _StopAt:
    """Stops the server when the run has had its nth reply."""

    def __init__(self, server, n: int) -> None:
        self.server, self.left, self.stopped, self.asked_before = server, n, False, 0

    def emit(self, kind, fields) -> None:
        if kind == "model_replied" and fields["role"] != "reviewer":
            self.left -= 1
            if self.left == 0:
                self.asked_before = len(self.server.chats())
                self.server.__exit__()
                self.stopped = True


def _listening(made, live):
    from dataclasses import replace

    return replace(made, live=live)


def _again(server, port):
    """A new server on the old port that goes on with the turns that are left."""
    from tests.fakes.loopback import Answer, ThreadingHTTPServer
    from tests.fakes.ollama_server import OllamaServer

    again = OllamaServer(*server.turns)
    again.server_close()
    ThreadingHTTPServer.__init__(again, ("127.0.0.1", port), Answer)
    return again


def image_lock(quick: bool) -> Figures:
    from agent_loop.sandbox.image import LOCK, read_lock

    found = Figures("image lock damaged")
    rng = random.Random(1)
    good = b'{"version": 1, "image": "sha256:' + b"a" * 64 + b'"}'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / LOCK
        for damage in (_flip, _cut, _empty):
            for _ in range(3 if quick else 20):
                path.write_bytes(damage(good, rng))
                try:
                    image = read_lock(path)
                    fine = image is None or image.startswith("sha256:")
                except SandboxUnavailable as error:
                    fine = "Fix:" in str(error)
                except Exception as error:  # what must not happen
                    fine = False
                    found.notes.append(repr(error))
                found.take(fine, False)
    return found


# --- long and many


def thousand_runs(quick: bool) -> Figures:
    total = 150 if quick else 1_000
    found = Figures(f"{total:,} runs in one process: memory, threads, handles")
    me = psutil.Process()
    marks: dict[int, tuple[float, int, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder))
        for n in range(1, total + 1):
            outcome = drive.start(f"n{n}", job(), parts([wrong(1), RIGHT]), store).outcome
            found.take(outcome == "passed", False, f"run {n}: {outcome}")
            if n in (total // 5, total):
                gc.collect()
                marks[n] = (me.memory_info().rss / 2**20, me.num_threads(), me.num_fds())
    (early, threads, handles), (late, threads2, handles2) = marks.values()
    grown = late - early
    found.notes.append(
        f"RSS {early:.0f} MiB after {total // 5} runs, {late:.0f} after {total}; "
        f"threads {threads}, {threads2}; handles {handles}, {handles2}"
    )
    if grown > 20 or threads2 > threads or handles2 > handles:
        found.survived -= 1
    return found


def parallel_runs(quick: bool) -> Figures:
    found = Figures("24 runs at a time on one database: 4 processes of 6 threads")
    with tempfile.TemporaryDirectory() as folder:
        make, each = context(), 6 if quick else 30
        processes = [
            make.Process(target=victims.many_runs, args=(folder, n * each, each, 6))
            for n in range(4)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        store = RunStore(Path(folder))
        for summary in store.list():
            found.take(summary.outcome == "passed", False, summary.thread)
        found.tried = max(found.tried, 4 * each)
        with closing(sqlite3.connect(store.checkpoints)) as conn:
            if conn.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                found.lost += 1
    return found


def docker_restarts(quick: bool) -> Figures:
    """Stops and starts dockerd: only when asked for by name, because the engine is shared."""
    from tests.endurance.engine import restart_in_the_middle

    return restart_in_the_middle(Figures("Docker daemon stopped in a run, started again"))


FAULTS: dict[str, Callable[[bool], Figures]] = {
    "kill-events": kill_at_every_event,
    "kill-files": kill_at_file_writes,
    "kill-commits": kill_in_commits,
    "kill-random": kill_at_random,
    "kill-containers": kill_with_containers,
    "disk-full": disk_full,
    "read-only": read_only_disk,
    "clock-back": clock_back,
    "locked": locked_database,
    "corrupted": corrupted,
    "image-lock": image_lock,
    "model-server": model_server_restarts,
    "thousand": thousand_runs,
    "parallel": parallel_runs,
}
BY_NAME_ONLY = {"docker-daemon": docker_restarts}
__all__ = ["BY_NAME_ONLY", "FAULTS", "Figures"]
