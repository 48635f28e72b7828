"""What every sandbox promises, run over each of them."""

import threading
import time

import pytest

from agent_loop.errors import DeadlinePassed, SandboxUnavailable
from agent_loop.ports import Box, Limits, Mount, Program
from agent_loop.sandbox import LocalSandbox
from tests.conftest import open_docker_sandbox

ECHO = """
import os
def main():
    while data := os.read(0, 65536):
        view = memoryview(data)
        while view:
            view = view[os.write(1, view):]
"""


def box(text: str, **limits) -> Box:
    program = Program(name="test", modules=(("m", text),), entry="m:main")
    return Box(program=program, limits=Limits(**limits))


def soon(seconds: float = 60.0) -> float:
    return time.monotonic() + seconds


def read_all(session, count: int) -> bytes:
    got = bytearray()
    while len(got) < count and (piece := session.receive(deadline=soon())):
        got += piece
    return bytes(got)


@pytest.fixture(scope="module", params=["local", pytest.param("docker", marks=pytest.mark.docker)])
def sandbox(request):
    if request.param == "local":
        made = LocalSandbox(allowed=True, notify=lambda line: None)
    else:
        made = open_docker_sandbox(request.getfixturevalue("base_image"))
    yield made
    made.close()


def test_a_program_answers_over_its_pipe(sandbox):
    with sandbox.open(box(ECHO)) as session:
        session.send(b"hello", deadline=soon())
        assert session.receive(deadline=soon()) == b"hello"
        session.close_input()
        assert session.receive(deadline=soon()) == b""
        end = session.end(deadline=soon())
    assert (end.code, end.oom_killed, end.stderr, end.why) == (0, False, "", "")


def test_modules_see_each_other_and_packages_are_packages(sandbox):
    modules = (("p", "x = 1"), ("p.q", "from p import x\ny = x + 1"), ("m", MODULES))
    program = Program(name="test", modules=modules, entry="m:main")
    with sandbox.open(Box(program=program)) as session:
        assert read_all(session, 2) == b"2 "


MODULES = """
import p.q
def main():
    print(p.q.y, end=" ", flush=True)
"""


def test_installed_packages_stay_out(sandbox):
    text = "import sys\ndef main(): print('site' in sys.modules, flush=True)"
    with sandbox.open(box(text)) as session:
        assert read_all(session, 6) == b"False\n"


def test_five_megabytes_each_way_at_the_same_time(sandbox):
    data = bytes(range(256)) * (5 * 4096)
    with sandbox.open(box(ECHO)) as session:
        session.send(data, deadline=soon())
        session.close_input()
        assert read_all(session, len(data)) == data
        assert session.end(deadline=soon()).code == 0


def test_input_is_not_read_in_time(sandbox):
    with sandbox.open(box("import time\ndef main(): time.sleep(60)")) as session:
        began = time.monotonic()
        with pytest.raises(DeadlinePassed):
            session.send(bytes(6 << 20), deadline=soon(0.5))
        assert time.monotonic() - began < 30


def test_no_answer_in_time_and_the_end_is_forced(sandbox):
    with sandbox.open(box("def main():\n while True: pass")) as session:
        with pytest.raises(DeadlinePassed):
            session.receive(deadline=soon(0.3))
        end = session.end(deadline=soon(0.3))
    assert end.code is None
    assert "did not end in time" in end.why


def test_life_ends(sandbox):
    with sandbox.open(box("def main():\n while True: pass", life_s=0.5)) as session:
        assert session.receive(deadline=soon()) == b""
        end = session.end(deadline=soon())
    assert end.code is None
    assert "life" in end.why


@pytest.mark.parametrize("number", [1, 2])
def test_an_output_flood_is_cut(sandbox, number):
    text = f"import os\ndef main():\n while True: os.write({number}, b'x' * 65536)"
    with sandbox.open(box(text, output_bytes=1 << 20)) as session:
        total = 0
        while piece := session.receive(deadline=soon()):
            total += len(piece)
        end = session.end(deadline=soon())
    assert end.code is None
    assert "1048576 bytes" in end.why
    assert total < 4 << 20
    assert len(end.stderr) <= 16_000


def test_ignoring_the_polite_signal_does_not_help(sandbox):
    text = "import signal, time\ndef main():\n signal.signal(15, signal.SIG_IGN)\n time.sleep(60)"
    with sandbox.open(box(text)) as session:
        began = time.monotonic()
        assert session.end(deadline=soon(0.2)).code is None
    assert time.monotonic() - began < 30


def test_a_program_that_closes_its_input(sandbox):
    text = "import os, time\ndef main():\n os.close(0)\n print('shut', flush=True)\n time.sleep(60)"
    with sandbox.open(box(text)) as session:
        assert read_all(session, 5) == b"shut\n"
        # A reader may be gone or just slow, as each engine sees it; a hang would be wrong.
        with pytest.raises((BrokenPipeError, DeadlinePassed)):
            session.send(bytes(8 << 20), deadline=soon(1))


def test_a_program_that_closes_its_output_and_lives_on(sandbox):
    text = "import os, time\ndef main():\n os.close(1)\n os.close(2)\n time.sleep(60)"
    with sandbox.open(box(text)) as session:
        end = session.end(deadline=soon(1.5))
    assert end.code is None


def test_half_read_input_then_death(sandbox):
    text = "import os\ndef main():\n os.read(0, 1000)\n os._exit(7)"
    with sandbox.open(box(text)) as session:
        with pytest.raises(BrokenPipeError):
            session.send(bytes(32 << 20), deadline=soon())
        assert session.end(deadline=soon()).code == 7


def test_the_words_before_death_arrive(sandbox):
    text = "import sys, os\ndef main():\n os.write(1, b'out')\n os.write(2, b'err')\n os._exit(3)"
    with sandbox.open(box(text)) as session:
        end = session.end(deadline=soon())
        assert session.receive(deadline=soon()) == b"out"
        assert session.receive(deadline=soon()) == b""
    assert (end.code, end.stderr) == (3, "err")


def test_a_traceback_shows_the_line(sandbox):
    with sandbox.open(box("def main():\n    return 1 / zero")) as session:
        end = session.end(deadline=soon())
    assert end.code == 1
    assert "return 1 / zero" in end.stderr
    assert "NameError" in end.stderr


def test_another_thread_may_use_and_close_it(sandbox):
    session = sandbox.open(box(ECHO))
    got = []

    def work():
        session.send(b"there", deadline=soon())
        got.append(session.receive(deadline=soon()))
        got.append(session.receive(deadline=soon()))

    thread = threading.Thread(target=work)
    thread.start()
    while len(got) < 1:
        time.sleep(0.01)
    time.sleep(0.1)
    session.close()
    thread.join(60)
    assert got == [b"there", b""]


def test_close_twice_and_use_after(sandbox):
    session = sandbox.open(box(ECHO))
    session.close()
    session.close()
    session.close_input()
    assert session.end(deadline=soon()).code is None
    assert session.receive(deadline=soon()) == b""
    with pytest.raises(BrokenPipeError):
        session.send(b"x", deadline=soon())


def test_programs_do_not_share_files(sandbox):
    text = "import os\ndef main():\n"
    text += " open(os.environ['HOME'] + '/left', 'x').close()\n print('new')"
    for _ in range(2):
        with sandbox.open(box(text)) as session:
            assert read_all(session, 4) == b"new\n"


def test_local_needs_its_second_lock():
    with pytest.raises(SandboxUnavailable, match="AGENT_LOOP_ALLOW_LOCAL=1"):
        LocalSandbox(allowed=False, notify=lambda line: None)


def test_local_refuses_projects_and_says_what_it_is():
    said = []
    local = LocalSandbox(allowed=True, notify=said.append)
    program = box(ECHO).program
    for wanted in (
        Box(program=program, mounts=(Mount(source="/tmp", target="/w"),)),
        Box(program=program, image="sha256:0"),
    ):
        with pytest.raises(SandboxUnavailable, match="project"):
            local.open(wanted)
    assert not local.probe()[0].held
    local.open(box(ECHO)).close()
    local.close()
    assert len(said) == 2
    assert all("nothing holds it" in line for line in said)
