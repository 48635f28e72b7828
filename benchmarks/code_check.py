"""A code check in waiting containers against `docker run --rm` with the same flags."""

import os
import queue
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from agent_loop.checks.code import CodeCheck, JudgeRoom
from agent_loop.checks.code.programs import solution_box
from agent_loop.config import CheckSettings, SandboxSettings
from agent_loop.errors import SandboxUnavailable
from agent_loop.ports import Candidate, Limits
from agent_loop.ports.run import SystemClock
from agent_loop.sandbox import DockerSandbox, make_sandbox
from agent_loop.tasks import CodeTask
from benchmarks.row import Row, halves
from tests.data import public_sets

ROUNDS = 30
AT_ONCE = 2
CLOCK = SystemClock()
# A longer total would ask for a longer life than `Limits()` has: another kind of container.
SETTINGS = CheckSettings(call_s=60, total_s=90)
BOX = solution_box(Limits())
ROOT = Path(__file__).resolve().parents[1]
FLAGS = (  # as agent_loop.sandbox.flags sets them
    "docker run --rm -i --network none --ipc none --read-only --tmpfs "
    "/tmp:rw,noexec,nosuid,nodev,size=16m --cap-drop ALL --security-opt no-new-privileges "
    "--pids-limit 128 --memory 256m --memory-swap 256m --cpus 1 --ulimit nofile=256:256 "
    "--user 65534:65534"
).split()
CLOSE = """
def has_close_elements(numbers, threshold):
    for i, a in enumerate(numbers):
        for b in numbers[i + 1:]:
            if abs(a - b) < threshold:
                return True
    return False
"""
TESTS = tuple(
    f"assert has_close_elements({numbers}, {threshold}) == {want}"
    for numbers, threshold, want in (
        ([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.3, True),
        ([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.05, False),
        ([1.0, 2.0, 5.9, 4.0, 5.0], 0.95, True),
        ([1.0, 2.0, 5.9, 4.0, 5.0], 0.8, False),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 2.0], 0.1, True),
        ([1.1, 2.2, 3.1, 4.1, 5.1], 1.0, True),
        ([1.1, 2.2, 3.1, 4.1, 5.1], 0.5, False),
    )
)


class Place:
    """A sandbox, the image it uses, and judges that several checks share."""

    def __init__(self, pool: int) -> None:
        settings = SandboxSettings(pool=pool)
        made = make_sandbox(settings, state_dir=ROOT / ".scratch", env=os.environ)
        if not isinstance(made, DockerSandbox):
            raise SandboxUnavailable("these rows need containers: set sandbox: docker")
        self.sandbox = made
        self.image = str(self.sandbox.describe()["image"])
        self.rooms = [JudgeRoom(self.sandbox, Limits(), CLOCK) for _ in range(AT_ONCE)]
        self._free: queue.Queue[JudgeRoom] = queue.Queue()
        self.sandbox.warm(BOX, pool)
        for room in self.rooms:
            room.start()
            self._free.put(room)

    def check(self, task: CodeTask, code: str) -> None:
        room = self._free.get()
        try:
            check = CodeCheck(task, self.sandbox, SETTINGS, CLOCK, room=room)
            verdict = check.judge(Candidate(answer=code, digest=""))
        finally:
            self._free.put(room)
        if not verdict.passed:
            raise RuntimeError(f"{task.name}: {verdict.feedback}")

    def wait_for_a_container(self) -> None:
        """Until one waits again: a busy machine needs longer than any fixed pause."""
        while self.sandbox.waiting(BOX) == 0:
            time.sleep(0.02)
        time.sleep(0.3)  # until it has read its program

    def docker_run(self, text: str) -> None:
        argv = [*FLAGS, self.image, "python3", "-I", "-"]
        subprocess.run(argv, input=text.encode(), check=True, capture_output=True)

    def close(self) -> None:
        for room in self.rooms:
            room.close()
        self.sandbox.close()


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def one_check_row() -> Row:
    """Medians of thirty, in turns; the pool refills between two checks."""
    what, against = "one code check, container waiting", "docker run --rm, same flags"
    row = {"what": what, "against": against, "goal": 0.1}
    try:
        place = Place(pool=2)
    except SandboxUnavailable as problem:
        return Row(**row, missing=str(problem))
    task = CodeTask(name="close", task="", tests=TESTS)
    whole = "\n".join((CLOSE, *TESTS))
    ours: list[float] = []
    theirs: list[float] = []
    try:
        place.check(task, CLOSE)
        for _ in range(ROUNDS):
            theirs.append(_timed(lambda: place.docker_run(whole)))
            place.wait_for_a_container()
            ours.append(_timed(lambda: place.check(task, CLOSE)))
    finally:
        place.close()
    least = {"least": round(min(ours) * 1e3, 1), "least of docker run": round(min(theirs) * 1e3, 1)}
    ours_ms, theirs_ms = round(median(ours) * 1e3, 1), round(median(theirs) * 1e3, 1)
    spread = halves(ours, theirs, 1e3)
    return Row(**row, ours=ours_ms, theirs=theirs_ms, spread=spread, more=least)


def humaneval_row() -> Row:
    """All 164 reference solutions, two at a time, a fresh container for each."""
    what = "164 HumanEval reference solutions judged, 2 at a time"
    row = {"what": what, "against": "docker run --rm each, 2 at a time", "goal": 0.8, "unit": "s"}
    try:
        known = _humaneval()
        place = Place(pool=4)
    except (SandboxUnavailable, FileNotFoundError) as problem:
        return Row(**row, missing=str(problem))
    texts = [f"{one.reference}\n{one.task.tests[0]}" for one in known]
    try:
        ours = _timed(lambda: _both(lambda n: place.check(known[n].task, known[n].reference)))
        theirs = _timed(lambda: _both(lambda n: place.docker_run(texts[n])))
        plain = _timed(lambda: _both(lambda n: _plain(texts[n])))
    finally:
        place.close()
    more = {"plain subprocess, s": round(plain, 1), "checks per second": round(164 / ours, 1)}
    return Row(**row, ours=round(ours, 1), theirs=round(theirs, 1), more=more)


def _humaneval() -> list:
    if not (public_sets.data_root() / "humaneval").is_dir():
        raise FileNotFoundError("the HumanEval data is not beside the checkout")
    return public_sets.humaneval()


def _both(work: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(work, range(164)))


def _plain(text: str) -> None:
    argv = [sys.executable, "-I", "-"]
    subprocess.run(argv, input=text.encode(), check=True, capture_output=True)
