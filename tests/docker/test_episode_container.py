"""The container of an episode: what calls do to it, and what it survives."""

import os
import threading
import time

import pytest

from agent_loop.config import SandboxSettings
from agent_loop.episode.tools import BashTools, Container, Ground, StructuredTools, Suite
from agent_loop.errors import Cancelled, SandboxUnavailable
from agent_loop.ports import SystemClock, ToolCall
from agent_loop.sandbox import make_sandbox
from agent_loop.workspace import copy_project
from tests.conftest import ROOT

pytestmark = pytest.mark.docker

CRLF = "α\r\nβ → γ\r\n".encode()


@pytest.fixture(scope="module")
def sandbox(base_image):
    settings = SandboxSettings(image=base_image)
    made = make_sandbox(settings, state_dir=ROOT / ".scratch", env=os.environ)
    yield made
    made.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("episode")
    source = folder / "source"
    (source / "pkg" / "tests").mkdir(parents=True)
    (source / "pkg" / "m.py").write_text("def f():\n    return 1\n")
    (source / "pkg" / "tests" / "test_m.py").write_text("def test_f(): pass\n")
    (source / "crlf.txt").write_bytes(CRLF)
    (source / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (source / "run.sh").chmod(0o755)
    (source / "link.py").symlink_to("pkg/m.py")
    copy_project(source, folder / "copy")
    return folder / "copy"


def protected(path):
    return "tests" in path.split("/")[:-1]


def opened(sandbox, project, **rest):
    return Container(
        sandbox, SystemClock(), project=project, ground=Ground(), protected=protected, **rest
    )


@pytest.fixture
def tools(sandbox, project):
    clock = SystemClock()
    tests = Suite(command="echo testing")
    made = StructuredTools(opened(sandbox, project), clock, tests=tests, python="python3")
    yield made
    made.close()


def do(tools, name, within_s=60.0, cancel=None, **arguments):
    call = ToolCall(id="1", name=name, arguments=arguments)
    return tools.call(call, deadline=time.monotonic() + within_s, cancel=cancel)


def bash(tools, command, **rest):
    shell = BashTools(tools.container, SystemClock())
    return do(shell, "bash", command=command, **rest)


def test_files_round_trip_byte_for_byte(tools, project):
    assert "β → γ" in do(tools, "view", path="crlf.txt").text
    assert do(tools, "str_replace", path="crlf.txt", old="γ", new="δ\nε").ok
    assert bash(tools, "./run.sh").text == "ran"
    found = tools.harvest()
    assert found.files["crlf.txt"] == "α\r\nβ → δ\r\nε\r\n".encode()
    assert found.executable == {"run.sh"}
    assert found.left_out == ()
    assert (project / "crlf.txt").read_bytes() == CRLF


def test_the_same_word_from_the_tool_and_from_the_kernel(tools):
    """Beside the host's own rule the mount itself refuses, in a nested folder too."""
    refused = do(tools, "create", path="pkg/tests/test_m.py", content="x")
    assert "Read-only file system" in refused.text
    tools.container._protected = lambda _: False
    through = do(tools, "create", path="pkg/tests/new.py", content="x")
    assert "Read-only file system" in through.text
    assert not bash(tools, "rm -rf pkg/tests").ok
    assert bash(tools, "touch pkg/new.py").ok


def test_links_and_folders_do_not_lead_the_file_tools_out(tools):
    bash(tools, "ln -s /etc out; ln -s /proc/self/fd/0 pipe; ln -s /dev/zero zero; mkfifo wait")
    for path in ("out/passwd", "pipe", "zero", "/etc/passwd", "../etc/passwd", "wait", "."):
        assert not do(tools, "str_replace", path=path, old="a", new="b").ok
    assert not do(tools, "create", path="out/x", content="x").ok
    assert not do(tools, "view", path="out").ok
    assert do(tools, "view", path="pkg").text == "m.py\ntests/\ntests/test_m.py"
    assert do(tools, "view", path="link.py").ok


def test_a_slow_pattern_is_killed(tools, monkeypatch):
    bash(tools, "printf 'a%.0s' $(seq 60) > slow.txt; echo b >> slow.txt")
    began = time.monotonic()
    said = do(tools, "search", within_s=2.5, pattern="(a|aa)+$x", path="slow.txt")
    assert "simpler pattern" in said.text
    assert time.monotonic() - began < 30


def test_a_cancelled_command_is_gone_and_the_container_lives(tools):
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        bash(tools, "sleep 60; touch after", cancel=cancel)
    assert time.monotonic() - began < 30
    end = time.monotonic() + 30
    while (alive := bash(tools, "cat /proc/[0-9]*/comm").text.split()) != ["python3", "cat"]:
        assert time.monotonic() < end, alive
    assert "after" not in bash(tools, "ls").text


def test_a_call_past_its_deadline_does_nothing(tools):
    assert do(tools, "view", within_s=-1, path=".").text == "There is no time left."


def test_a_container_that_dies_is_replaced_and_the_files_stay(tools, engine):
    assert bash(tools, "echo mine > pkg/mine.py; rm -rf run.sh; mkdir run.sh").ok
    hands = tools.container._hands.session.name
    with engine.client("kill") as api:
        api.kill(hands)
    said = bash(tools, "true")
    assert not said.ok
    assert "A fresh one was started" in said.text
    assert bash(tools, "cat pkg/mine.py").text == "mine"
    assert tools.container._hands.session.name != hands


def test_hostile_mount_points_do_not_move_the_mounts_of_the_next_container(tools, engine):
    """The folder that a mount goes to is a link now: nothing outside the tree is covered."""
    bash(tools, "mv pkg old; ln -s /tmp pkg")
    with engine.client("kill") as api:
        api.kill(tools.container._hands.session.name)
    bash(tools, "true")
    assert bash(tools, "test ! -L pkg && cat pkg/tests/test_m.py").ok
    assert not bash(tools, "touch pkg/tests/x").ok


def test_without_the_keeper_nothing_is_made_up(tools, engine):
    with engine.client("kill") as api:
        api.kill(tools.container._keeper.session.name)
    with pytest.raises(SandboxUnavailable):
        tools.harvest()


def test_an_earlier_copy_is_gone_on_from(sandbox, project, tools):
    bash(
        tools, "echo new > new.py; rm crlf.txt; chmod +x pkg/m.py; rm link.py; echo file > link.py"
    )
    kept = tools.harvest()
    tools.close()
    again = opened(sandbox, project, over=kept)
    try:
        found = again.tree()
    finally:
        again.close()
    assert found.files == kept.files
    assert found.executable == kept.executable == {"run.sh", "pkg/m.py"}
    assert "crlf.txt" not in found.files
    assert found.files["link.py"] == b"file\n"


def test_closing_from_another_thread_ends_a_call(tools):
    threading.Timer(0.3, tools.close).start()
    began = time.monotonic()
    with pytest.raises(SandboxUnavailable):
        bash(tools, "sleep 60")
    assert time.monotonic() - began < 40
