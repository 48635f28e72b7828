"""The gate for code tasks in real containers: limits, a judge under attack, both runtimes."""

import time

import pytest

from agent_loop.checks.code import CodeCheck
from agent_loop.config import CheckSettings
from agent_loop.errors import SandboxUnavailable
from agent_loop.ports import Candidate, Limits, Verdict
from agent_loop.ports.run import SystemClock
from agent_loop.tasks import CodeTask
from tests.conftest import lacking, open_docker_sandbox

pytestmark = pytest.mark.docker
CLOCK = SystemClock()


class Bench:
    def __init__(self, sandbox, **settings) -> None:
        self._sandbox = sandbox
        self._settings = CheckSettings(**settings)
        self._open: list[CodeCheck] = []

    def judge(self, tests, code, **more) -> Verdict:
        task = CodeTask(name="t", task="", tests=tuple(tests), **more)
        limits = Limits(memory_mib=96)
        check = CodeCheck(task, self._sandbox, self._settings, CLOCK, limits=limits)
        self._open.append(check)
        return check.judge(Candidate(answer=code, digest=""))

    def close(self) -> None:
        for check in self._open:
            check.close()


@pytest.fixture
def bench(docker_sandbox):
    made = Bench(docker_sandbox, call_s=20, total_s=40)
    yield made
    made.close()


@pytest.fixture
def hasty(docker_sandbox):
    """For what goes on until it is stopped."""
    made = Bench(docker_sandbox, call_s=3, total_s=30)
    yield made
    made.close()


def test_running_out_of_memory_is_named(bench) -> None:
    code = "def f(x):\n  l = []\n  while True: l.append(bytearray(8 << 20))"
    verdict = bench.judge(["assert f(1) == 1"], code)
    assert not verdict.passed
    assert "memory" in verdict.feedback.lower()


def test_a_hang_is_named_and_ends_in_time(hasty) -> None:
    verdict = hasty.judge(["assert f(1) == 1"], "def f(x):\n  while True: pass")
    assert "did not return within 3 s" in verdict.feedback


def test_a_flood_of_output_is_stopped(bench) -> None:
    code = "import os\ndef f(x):\n  while True: os.write(3, b'x' * 65536)\n"
    verdict = bench.judge(["assert f(1) == 1"], code)
    assert not verdict.passed


COLLIDING = """
import os, sys
link = sys.modules['agent_loop.checks.code.inside.link'].Link
def serve(self, request):
    keys = b','.join(b'["i","%x"],0' % (n * (2**61 - 1)) for n in range(1, 120000))
    body = b'{"n":"%s","v":["d",%s]}' % (request['n'].encode(), keys)
    self.pipe.send(len(body).to_bytes(4, 'big') + body, fresh=False)
link.serve = serve
def f(x): return x
"""


def test_colliding_keys_keep_nobody_busy_past_the_deadline(bench, docker_sandbox) -> None:
    short = Bench(docker_sandbox, call_s=4, total_s=6)
    began = time.monotonic()
    verdict = short.judge(["assert f(1) == 1"], COLLIDING)
    assert not verdict.passed
    assert time.monotonic() - began < 6 + 2 + 20
    short.close()
    assert bench.judge(["assert f(1) == 1"], "def f(x): return x").passed


def test_a_value_that_eats_the_judges_memory_fails_the_check(bench) -> None:
    verdict = bench.judge(["assert len(f(400 << 20)) == 1"], "f = bytearray")
    assert not verdict.passed
    assert bench.judge(["assert f(1) == 1"], "def f(x): return x").passed


def test_the_solution_finds_no_judge_no_network_and_no_way_to_write(bench) -> None:
    code = """
import os, socket
def f():
    found = []
    for pid in os.listdir('/proc'):
        if pid.isdigit():
            try: found.append(open(f'/proc/{pid}/cmdline').read())
            except OSError: pass
    judge = any('inside.judge' in text for text in found)
    try: socket.create_connection(('1.1.1.1', 53), 1); net = True
    except OSError: net = False
    try: open('/x', 'w'); wrote = True
    except OSError: wrote = False
    return [judge, net, wrote, os.getuid() == 0]
"""
    assert bench.judge(["assert f() == [False, False, False, False]"], code).passed


def test_shared_runs_use_a_fresh_container_for_each_twin(bench) -> None:
    code = "class Base:\n  def go(self): return 1"
    tests = [
        "class Sub(Base):\n    pass",
        "assert Sub().go() == 1",
        "assert isinstance(Sub(), Base)",
    ]
    verdict = bench.judge(tests, code, isolation="shared")
    assert verdict.passed, verdict.feedback
    assert verdict.isolation == "shared"


def test_nothing_stays_behind(docker_sandbox, engine) -> None:
    from tests.docker.test_docker_sandbox import ours

    # A sandbox of another module of tests may still be open in this process.
    others = set(ours(engine))
    bench = Bench(docker_sandbox, call_s=20, total_s=40)
    assert bench.judge(["assert f(1) == 1"], "def f(x): return x").passed
    assert set(ours(engine)) - others
    bench.close()
    docker_sandbox.close()
    until = time.monotonic() + 60
    while set(ours(engine)) - others and time.monotonic() < until:
        time.sleep(0.2)
    assert set(ours(engine)) - others == set()


def test_the_same_under_gvisor(engine, base_image) -> None:
    if "runsc" not in engine.info.get("Runtimes", {}):
        lacking("RUNSC", SandboxUnavailable("the engine has no runtime runsc"))
    sandbox = open_docker_sandbox(base_image, runtime="runsc")
    bench = Bench(sandbox, call_s=60, total_s=120)
    try:
        tests = ["s = Stack()", "s.push(1)", "assert s.pop() == 1"]
        code = "class Stack(list):\n  push = list.append"
        assert bench.judge(tests, code).passed
        assert not bench.judge(tests, "class Stack(list):\n  def push(s, x): pass").passed
        assert not bench.judge(["assert f(1) == 1"], "import os\ndef f(x): os._exit(0)").passed
    finally:
        bench.close()
        sandbox.close()
