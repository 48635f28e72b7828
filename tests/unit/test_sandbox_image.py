"""Which image is used: by digest or id, and a lock that can be damaged."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from agent_loop.config import SandboxSettings
from agent_loop.errors import SandboxUnavailable
from agent_loop.sandbox import LocalSandbox, make_sandbox
from agent_loop.sandbox.base_image import recipe
from agent_loop.sandbox.image import is_id, pinned_image, read_lock, reference
from agent_loop.sandbox.owner import BOOT, HOST, PID, STARTED, gone, started, this_process

ID = "sha256:" + "0a" * 32
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("python:3.12-slim@sha256:ab", "python@sha256:ab"),
        ("python@sha256:ab", "python@sha256:ab"),
        ("host:5000/team/python:3@sha256:ab", "host:5000/team/python@sha256:ab"),
    ],
)
def test_the_digest_alone_decides(wanted, meant):
    assert reference(wanted) == meant


@pytest.mark.parametrize("text", ["", "x", "sha256:", ID[:-1], ID + "0", ID.upper(), None, 7])
def test_what_is_no_id(text):
    assert not is_id(text)


def test_what_is_one():
    assert is_id(ID)


def test_no_lock_is_no_pin(tmp_path):
    assert read_lock(tmp_path / "image.lock") is None


def test_a_lock_pins(tmp_path):
    (tmp_path / "image.lock").write_text(f'{{"version": 1, "image": "{ID}"}}')
    assert read_lock(tmp_path / "image.lock") == ID


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b"{}", b'{"image": "python:3.12"}', b'{"image": 3}', b"\xff"],
)
def test_a_damaged_lock_fails_closed_and_says_the_fix(tmp_path, text):
    (tmp_path / "image.lock").write_bytes(text)
    with pytest.raises(SandboxUnavailable, match="make image"):
        read_lock(tmp_path / "image.lock")


def test_the_recipe_follows_this_release_and_its_mirror(tmp_path):
    (tmp_path / "os-release").write_text('ID=debian\nVERSION_CODENAME="trixie"\n')
    sources = tmp_path / "apt" / "sources.list.d"
    sources.mkdir(parents=True)
    (sources / "a.sources").write_text(
        "Types: deb\n# URIs: http://no\nURIs: http://mirror/debian\n"
    )
    made = recipe(tmp_path)
    assert (made.suite, made.mirror) == ("trixie", "http://mirror/debian")
    (tmp_path / "apt" / "sources.list").write_text("deb [arch=amd64] https://old/debian x main\n")
    assert recipe(tmp_path).mirror == "https://old/debian"
    assert recipe(tmp_path).digest != made.digest


def test_another_system_gets_the_default(tmp_path):
    (tmp_path / "os-release").write_text("ID=fedora\n")
    assert recipe(tmp_path).suite == "bookworm"
    assert recipe(tmp_path / "nowhere").mirror == ""


class Engine:
    """As much of an engine as choosing an image asks of it; it holds one, for one processor."""

    version: ClassVar = {"Arch": "amd64"}

    def __init__(self, architecture):
        self.image = {"Id": ID, "Architecture": architecture}
        self.asked = []

    @contextmanager
    def client(self, purpose):
        yield self

    def inspect_image(self, name):
        self.asked.append(name)
        return self.image


@pytest.mark.parametrize("architecture", ["amd64", "386", ""])
def test_a_named_image_is_looked_at_once(tmp_path, architecture):
    engine = Engine(architecture)
    assert pinned_image(engine, "python:3@sha256:ab", tmp_path) == ID
    assert engine.asked == ["python@sha256:ab"]


def test_a_named_image_of_another_processor_is_refused(tmp_path):
    with pytest.raises(SandboxUnavailable, match=f"{ID[:19]} is for arm64 and this engine runs on"):
        pinned_image(Engine("arm64"), "python:3@sha256:ab", tmp_path)


# --- who owns a container ---


def test_this_process_lives():
    me = this_process()
    assert not gone(me.labels(), me)
    assert started(os.getpid()) == me.started


def test_a_number_used_again_is_another_process():
    me = this_process()
    assert gone(me.labels() | {STARTED: "1"}, me)


def test_a_process_that_has_ended_is_gone():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    me = this_process()
    assert gone(me.labels() | {PID: str(child.pid), STARTED: "1"}, me)


def test_a_zombie_is_gone():
    child = subprocess.Popen([sys.executable, "-c", ""])
    end = 0
    while started(child.pid) is not None and end < 10_000_000:
        end += 1
    assert started(child.pid) is None
    child.wait()


@pytest.mark.parametrize(
    "changes", [{HOST: "other"}, {PID: ""}, {PID: "-1"}, {PID: "x"}, {STARTED: "unknown"}]
)
def test_the_doubtful_is_somebody_elses(changes):
    me = this_process()
    assert not gone(me.labels() | changes, me)
    assert not gone({}, me)


def test_a_restart_of_the_machine_ended_everybody():
    me = this_process()
    assert gone(me.labels() | {BOOT: "before"}, me)


# --- the two locks of `local` ---


def test_local_by_settings(tmp_path):
    with pytest.raises(SandboxUnavailable, match="AGENT_LOOP_ALLOW_LOCAL=1"):
        make_sandbox(SandboxSettings(kind="local"), state_dir=tmp_path)
    made = make_sandbox(SandboxSettings(kind="local", allow_local=True), state_dir=tmp_path)
    assert isinstance(made, LocalSandbox)
    made.close()


def test_a_missing_engine_fails_closed(tmp_path):
    env = {"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers"):
        make_sandbox(SandboxSettings(), state_dir=tmp_path, env=env)


# --- engine.sh ---


def bash(script: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["bash", "-c", f"source sandbox/engine.sh; {script}"],
        cwd=ROOT,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_number_left_by_a_killed_engine_is_removed(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    (tmp_path / "docker" / "containerd").mkdir(parents=True)
    files = [tmp_path / "docker.pid", tmp_path / "docker" / "containerd" / "containerd.pid"]
    for file in files:
        file.write_text(str(child.pid))
    done = bash("clear_all_stale", ENGINE_RUN_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert not any(file.exists() for file in files)
    assert "lives no more" in done.stderr


def test_a_number_that_another_program_uses_now_is_stale_too(tmp_path):
    (tmp_path / "docker.pid").write_text(str(os.getpid()))
    bash("clear_all_stale", ENGINE_RUN_DIR=str(tmp_path))
    assert not (tmp_path / "docker.pid").exists()


def test_a_zombie_does_not_live(tmp_path):
    """Killed by hand, and nobody above it collects it."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    (tmp_path / "zombie.pid").write_text(str(child.pid))
    status = Path(f"/proc/{child.pid}/status")
    while "zombie" not in status.read_text():
        time.sleep(0.01)
    name = Path(f"/proc/{child.pid}/comm").read_text().strip()
    bash(f'clear_stale "{tmp_path}/zombie.pid" "{name}"')
    child.wait()
    assert not (tmp_path / "zombie.pid").exists()


def test_the_number_of_a_living_engine_stays(tmp_path):
    (tmp_path / "sleeper.pid").write_text(str(os.getpid()))
    name = Path(f"/proc/{os.getpid()}/comm").read_text().strip()
    bash(f'clear_stale "{tmp_path}/sleeper.pid" "{name}"')
    assert (tmp_path / "sleeper.pid").exists()


def test_where_nothing_can_be_installed_the_way_is_said():
    done = bash("advise")
    assert done.returncode == 3
    assert "export DOCKER_HOST=" in done.stderr
    assert len(done.stderr.splitlines()) >= 2


def test_a_stale_docker_host_is_not_installed_over(tmp_path):
    done = bash("main", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.returncode == 3
    assert "unset DOCKER_HOST" in done.stderr
