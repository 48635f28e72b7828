"""Hostile programs, dead owners and lost engines: nothing of ours stays behind."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from agent_loop.errors import SandboxUnavailable
from agent_loop.ports import Box, Limits, Program
from agent_loop.sandbox.container import Container, remove, start
from agent_loop.sandbox.flags import container_config
from agent_loop.sandbox.owner import HOST, MARK, PID, STARTED, this_process
from agent_loop.sandbox.reaper import IMAGE_MARK, prune_images, sweep
from tests.conftest import ROOT, open_docker_sandbox
from tests.contract.test_sandbox import ECHO, box, read_all, soon

pytestmark = pytest.mark.docker


def ours(engine, **labels):
    """Names of the containers of this process, or of the labels given."""
    labels = labels or {PID: str(os.getpid()), HOST: this_process().host}
    wanted = [f"{name}={value}" for name, value in labels.items()]
    with engine.client("list") as api:
        found = api.containers(all=True, filters={"label": wanted})
    return [container["Names"][0].lstrip("/") for container in found]


def talk(session):
    session.send(b"x", deadline=soon())
    assert session.receive(deadline=soon()) == b"x"


def test_a_fork_bomb_is_bounded_and_ends(docker_sandbox):
    text = "import os\ndef main():\n while True:\n  try: os.fork()\n  except OSError: pass"
    with docker_sandbox.open(box(text, pids=64, life_s=2)) as session:
        end = session.end(deadline=soon())
    assert end.code is None
    assert "life" in end.why


def test_a_memory_bomb_is_named(docker_sandbox):
    text = "def main():\n x = []\n while True: x.append(bytearray(10 << 20))"
    with docker_sandbox.open(box(text, memory_mib=64)) as session:
        end = session.end(deadline=soon())
    assert end.oom_killed
    assert end.code == 137


def test_tmp_fills_up_and_nothing_else_can_be_written(docker_sandbox):
    with docker_sandbox.open(box(FILL)) as session:
        said = read_all(session, 200).decode()
    assert said.split() == ["ENOSPC", "True", "EROFS"]


FILL = """
import errno, os
def main():
    total = 0
    try:
        with open("/tmp/fill", "wb") as file:
            while True:
                total += file.write(bytes(1 << 20))
    except OSError as error:
        print(errno.errorcode[error.errno])
    print(10 << 20 < total <= 17 << 20)
    try:
        open("/home/x", "w")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""


@pytest.mark.parametrize("runtime", ["runc", "runsc"])
def test_the_loopback_is_up(engine, base_image, runtime):
    """Tests of projects start servers on it."""
    if runtime not in engine.info["Runtimes"]:
        pytest.skip(f"this engine has no {runtime}")
    sandbox = open_docker_sandbox(base_image, runtime=runtime)
    with sandbox.open(box(LOOPBACK)) as session:
        assert read_all(session, 5) == b"heard", session.end(deadline=soon())
    sandbox.close()


LOOPBACK = """
import os, socket
def main():
    with socket.create_server(("localhost", 0)) as server:
        with socket.create_connection(server.getsockname()) as near:
            far, _ = server.accept()
            far.sendall(b"heard")
            os.write(1, near.recv(9))
            far.close()
"""


def test_waiting_sessions_are_used_once_and_refilled(docker_sandbox):
    wanted = box(ECHO)
    docker_sandbox.warm(wanted, 2)
    pool = docker_sandbox._pool
    wait_until(lambda: pool.ready(wanted) == 2)
    names = []
    for _ in range(4):
        with docker_sandbox.open(wanted) as session:
            talk(session)
            names.append(session._body.name)
    assert len(set(names)) == 4
    wait_until(lambda: pool.ready(wanted) == 2)


def wait_until(done, seconds=60.0):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_a_waiting_container_that_dies_is_replaced(docker_sandbox, engine):
    wanted = box(ECHO)
    docker_sandbox.warm(wanted, 1)
    pool = docker_sandbox._pool
    wait_until(lambda: pool.ready(wanted) == 1)

    def waiting():
        return [session._body.name for _, session in pool._shelves[wanted].waiting]

    (victim,) = waiting()
    remove(engine, victim)
    # Taken at once: the dead one must not be handed out.
    with docker_sandbox.open(wanted) as session:
        assert session._body.name != victim
        talk(session)
        wait_until(lambda: pool.ready(wanted) == 1)
        (second,) = waiting()
        remove(engine, second)
        # Noticed although nobody asks for one.
        wait_until(lambda: waiting() not in ([], [second]))


def test_fifty_sessions_dropped_at_random_leave_nothing(engine, base_image):
    before = set(threading.enumerate())
    others = set(ours(engine))
    sandbox = open_docker_sandbox(base_image)
    wanted = box(ECHO)
    sandbox.warm(wanted, 2)
    dice = random.Random(7)

    def work():
        for _ in range(25):
            session = sandbox.open(wanted)
            if dice.random() < 0.7:
                session.send(b"hello", deadline=soon())
                if dice.random() < 0.5:
                    assert session.receive(deadline=soon()) == b"hello"
            if dice.random() < 0.5:
                session.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sandbox.close()
    assert set(ours(engine)) <= others
    wait_until(lambda: set(threading.enumerate()) <= before)


def test_threads_and_files_stay_flat_over_a_hundred_sessions(engine, base_image):
    sandbox = open_docker_sandbox(base_image)
    wanted = box(ECHO)
    sandbox.warm(wanted, 2)

    def run(count):
        for _ in range(count):
            with sandbox.open(wanted) as session:
                talk(session)
        wait_until(lambda: sandbox._pool.ready(wanted) == 2 and sandbox._remover.idle)

    def counted():
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    run(10)
    files, threads = counted()
    run(90)
    # What the last session used may still be on its way out: a leak of 90 never gets there.
    wait_until(lambda: counted()[0] <= files + 4 and counted()[1] <= threads)
    sandbox.close()


def test_a_killed_owner_leaves_orphans_and_the_next_start_sweeps_them(engine, base_image):
    said = []
    for _ in range(5):  # any other start on this engine may sweep them first
        child = holding_sessions(ORPHANS, base_image)
        theirs = set(ours(engine, **{PID: str(child.pid)}))
        assert len(theirs) >= 2
        # Somebody who lives is left alone, whoever asks.
        assert not theirs & set(sweep(engine, this_process(), print))
        assert theirs <= set(ours(engine, **{PID: str(child.pid)}))
        killed(child)
        open_docker_sandbox(base_image, notify=said.append).close()
        wait_until(lambda pid=child.pid: not ours(engine, **{PID: str(pid)}))
        if said:
            break
    assert "a killed run had left behind" in said[0]


def holding_sessions(text, base_image):
    """A process that holds containers."""
    child = subprocess.Popen(
        [sys.executable, "-c", text, base_image],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    line = child.stdout.readline().decode()
    assert line.startswith("ready"), line
    return child


def killed(child):
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


ORPHANS = """
import sys, time
from tests.conftest import open_docker_sandbox
from tests.contract.test_sandbox import box, ECHO
sandbox = open_docker_sandbox(sys.argv[1])
sessions = [sandbox.open(box(text)) for text in (ECHO, "def main():\\n while True: pass")]
print("ready", flush=True)
time.sleep(600)
"""


def test_a_waiting_container_ends_by_itself_when_its_owner_dies(engine, base_image):
    waiting = ORPHANS.replace('(ECHO, "def main():\\n while True: pass")', "(ECHO,)")
    child = holding_sessions(waiting, base_image)
    killed(child)

    def running():
        with engine.client("list") as api:
            return api.containers(filters={"label": f"{PID}={child.pid}"})

    wait_until(lambda: not running())
    sweep(engine, this_process(), print)
    wait_until(lambda: not ours(engine, **{PID: str(child.pid)}))


@pytest.mark.parametrize(
    ("changes", "is_swept"),
    [
        ({PID: "999999999"}, True),
        ({STARTED: "1"}, True),
        ({}, False),
        ({PID: "999999999", HOST: "another machine"}, False),
        ({PID: "not a number"}, False),
    ],
)
def test_only_orphans_of_this_machine_are_swept(engine, base_image, changes, is_swept):
    me = this_process()
    labels = me.labels() | changes
    config = container_config(box(ECHO), image=base_image, runtime="runc", labels=labels)
    name = f"agent-loop-test-{random.randrange(1 << 60):x}"
    with engine.client("create") as api:
        api.create_container_from_config(config, name)
    try:
        said = sweep(engine, me, print)
        if is_swept:  # by this sweep, or by that of another start on this engine
            wait_until(lambda: name not in ours(engine, **{MARK: labels[MARK]}))
        else:
            assert name not in said
            assert name in ours(engine, **{MARK: labels[MARK]})
    finally:
        remove(engine, name)


def test_a_shared_engine_over_a_network_is_never_swept(engine, base_image):
    from agent_loop.sandbox.engine import Engine
    from agent_loop.sandbox.places import Place

    class Far(Engine):
        is_local = False

    far = Far(engine.place, engine.version)
    me = this_process()
    labels = me.labels() | {PID: "999999999"}
    config = container_config(box(ECHO), image=base_image, runtime="runc", labels=labels)
    name = f"agent-loop-test-{random.randrange(1 << 60):x}"
    with engine.client("create") as api:
        api.create_container_from_config(config, name)
    try:
        assert sweep(far, me, print) == []
    finally:
        far.close()
        remove(engine, name)
    assert not Place(url="tcp://10.0.0.1:2375", named_by="test").url.startswith("unix:")


def test_a_container_taken_away_is_a_fault_not_an_answer(docker_sandbox, engine):
    session = docker_sandbox.open(box(ECHO))
    talk(session)
    remove(engine, session._body.name)
    with pytest.raises(SandboxUnavailable):
        session.receive(deadline=soon())
    session.close()


def test_a_tag_is_refused(docker_sandbox):
    program = Program(name="x", modules=(), entry="")
    for image in ("python:3.12", "agent-loop-base:latest", "sha256:12"):
        with pytest.raises(SandboxUnavailable, match="not an image id"):
            docker_sandbox.open(Box(program=program, image=image))


def test_an_image_that_is_not_there_is_not_pulled(engine):
    config = container_config(box(ECHO), image="sha256:" + "0" * 64, runtime="runc", labels={})
    with pytest.raises(SandboxUnavailable, match="not on this engine"):
        start(engine, config, Limits(), first=b"", notify=print)


def test_an_image_without_python_says_what_is_missing(docker_sandbox):
    with pytest.raises(SandboxUnavailable, match="has no python-that-is-not-there"):
        docker_sandbox.open(Box(program=box(ECHO).program, python=("python-that-is-not-there",)))


def test_a_program_that_cannot_start_says_why(docker_sandbox):
    program = Program(name="x", modules=(("m", "def main(:"),), entry="m:main")
    with docker_sandbox.open(Box(program=program)) as session:
        end = session.end(deadline=soon())
    assert end.code == 1
    assert "SyntaxError" in end.stderr


def test_failed_kills_and_removals_are_reported(engine):
    class Broken:
        def client(self, purpose):
            raise SandboxUnavailable(f"docker could not {purpose}: it is gone")

    said = []
    container = Container(Broken(), "agent-loop-x", notify=said.append)
    container.kill()
    container.remove_now()
    assert "kill failed" in said[0]
    assert "remove failed" in said[1]
    assert all("docker rm -f agent-loop-x" in line for line in said)


def test_old_images_of_ours_can_be_cleaned_up(engine, base_image):
    """Five builds with changed requirements: only the wanted ones stay."""
    made = []
    for number in range(5):
        with engine.client("commit") as api:
            made.append(make_image(api, base_image, number))
    removed = prune_images(engine, keep=[*every_image_of_ours(engine, made), made[-1]])
    assert set(removed) & set(made) == set(made[:-1])
    prune_images(engine, keep=every_image_of_ours(engine, made))
    assert set(every_image_of_ours(engine, [])) & set(made) == set()


def every_image_of_ours(engine, but):
    with engine.client("list") as api:
        return [i["Id"] for i in api.images(filters={"label": IMAGE_MARK}) if i["Id"] not in but]


def make_image(api, base_image, number):
    import io

    dockerfile = f"FROM {base_image}\nLABEL {MARK}=image {IMAGE_MARK}=test-{number}\n"
    lines = list(api.build(fileobj=io.BytesIO(dockerfile.encode()), decode=True, rm=True))
    return next(line["aux"]["ID"] for line in lines if "aux" in line)


def test_runsc_runs_the_same_session(engine, base_image):
    if "runsc" not in engine.info["Runtimes"]:
        pytest.skip("this engine has no runsc")
    sandbox = open_docker_sandbox(base_image, runtime="runsc")
    with sandbox.open(box(ECHO)) as session:
        talk(session)
        session.close_input()
        assert session.end(deadline=soon()).code == 0
    assert sandbox.describe()["runtime"] == "runsc"
    sandbox.close()


def test_a_session_over_plain_tcp(engine, base_image, tmp_path):
    """A forwarded engine: same protocol, half-close included."""
    from agent_loop.sandbox import DockerSandbox
    from agent_loop.sandbox.engine import find_engine

    with Forwarder(engine.place.url.removeprefix("unix://")) as port:
        far = find_engine({"DOCKER_HOST": f"tcp://127.0.0.1:{port}"}, tmp_path)
        sandbox = DockerSandbox(far, image=base_image, runtime="runc", pool=1, notify=print)
        with sandbox.open(box(ECHO)) as session:
            talk(session)
            session.close_input()
            assert session.end(deadline=soon()).code == 0
        sandbox.close()


def test_an_engine_that_goes_away_is_a_fault_not_an_answer(engine, base_image, tmp_path):
    """Its end of the pipe looks like the program's end; only asking tells them apart."""
    from agent_loop.sandbox import DockerSandbox
    from agent_loop.sandbox.engine import find_engine

    said = []
    with Forwarder(engine.place.url.removeprefix("unix://")) as port:
        far = find_engine({"DOCKER_HOST": f"tcp://127.0.0.1:{port}"}, tmp_path)
        sandbox = DockerSandbox(far, image=base_image, runtime="runc", pool=1, notify=said.append)
        session = sandbox.open(box(ECHO))
        talk(session)
    with pytest.raises(SandboxUnavailable):
        session.receive(deadline=soon())
    with pytest.raises(SandboxUnavailable):
        session.send(b"x", deadline=soon())
    with pytest.raises(SandboxUnavailable):
        sandbox.open(box(ECHO))
    session.close()
    sandbox.close()
    assert "remove failed" in said[-1]
    remove(engine, session._body.name)


class Forwarder:
    """TCP in front of a Unix socket."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.threads = []
        self.open = []

    def __enter__(self):
        self.start(self.accept)
        return self.listener.getsockname()[1]

    def __exit__(self, *exc):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for near in self.open:
            with contextlib.suppress(OSError):
                near.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(60)

    def start(self, work, *arguments):
        self.threads.append(threading.Thread(target=work, args=arguments, daemon=True))
        self.threads[-1].start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(near)
            self.start(self.both, near)

    def both(self, near):
        with near, socket.socket(socket.AF_UNIX) as far:
            far.connect(self.path)
            other = threading.Thread(target=self.copy, args=(far, near), daemon=True)
            other.start()
            self.copy(near, far)
            other.join()

    def copy(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
