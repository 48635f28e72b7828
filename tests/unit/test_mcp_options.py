"""The MCP server's command line: nothing starts where something is wrong."""

import os
import subprocess
import sys

import pytest

from agent_loop.mcp_server.copies import sweep_folders
from agent_loop.mcp_server.main import main
from agent_loop.mcp_server.streams import Wire
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "nothing may be opened"),
        (["--root", "/"], "allows too much"),
        (["--root", "nowhere"], "this is no folder"),
        (["--root", "projects", "--http", "70000"], "a port is a number"),
        (["--root", "projects", "--idle", "0"], "must be more than 0"),
        (["--task", "nothing.yaml"], "nothing.yaml"),
        (["--root", "projects", "--set", "nonsense=1"], "nonsense"),
    ],
)
def test_bad_options_end_with_a_message(arguments, says, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(arguments, {}, Wire.standard()) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""


def test_an_engine_that_is_not_there_is_said_at_the_start(capsys, monkeypatch, tmp_path):
    """D3: the same discovery as every door, and no client that waits for a dead server."""
    monkeypatch.chdir(ROOT)
    env = {"DOCKER_HOST": f"unix://{tmp_path}/nobody.sock", "HOME": str(tmp_path)}
    assert main(["--root", "projects"], env, Wire.standard()) == 3
    said = capsys.readouterr()
    assert "nobody.sock" in said.err
    assert "DOCKER_HOST" in said.err
    assert said.out == ""


def test_what_prints_does_not_reach_the_protocol(tmp_path):
    """I1: reserved before other imports, null input, private numbers kept from children."""
    program = (
        "from agent_loop.mcp_server.streams import reserve\n"
        "wire = reserve()\n"
        "import os, sys, subprocess, warnings\n"
        "print('printed'); warnings.warn('warned'); os.write(1, b'raw')\n"
        "child = [sys.executable, '-c', 'import sys, os; print(repr(sys.stdin.read()));'\n"
        "         'print([n for n in os.listdir(\"/proc/self/fd\")])']\n"
        "subprocess.run(child, check=True)\n"
        "wire.target.write(b'protocol:' + wire.source.readline())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=b"hello\n", capture_output=True, cwd=ROOT, timeout=60
    )
    assert done.stdout == b"protocol:hello\n"
    for word in (b"printed", b"raw", b"warned", b"''"):
        assert word in done.stderr


def test_folders_of_killed_servers_are_swept_and_no_others(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = [
        f"agent-loop-mcp-{dead.pid}-abc",
        f"agent-loop-mcp-{os.getpid()}-abc",
        "agent-loop-mcp-x",
    ]
    for name in names:
        (tmp_path / name / "in").mkdir(parents=True)
    (tmp_path / f"agent-loop-mcp-{dead.pid}-link").symlink_to(tmp_path / names[1])
    sweep_folders(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names[1:], f"agent-loop-mcp-{dead.pid}-link"}
    assert (tmp_path / names[1] / "in").exists()
