"""The MCP server with the SDK's own client: over pipes and over HTTP, in real containers."""

import asyncio
import json
import subprocess
import sys
import time

import httpx2
import pytest

from tests.conftest import ROOT
from tests.docker.mcp_clients import (
    KEY,
    SERVER,
    containers,
    environment,
    fix_demo,
    http_server,
    over_http,
    over_pipes,
    server_pid,
    text,
)

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(sys.platform == "win32", reason="needs Linux containers"),
]
ROOTS = ("--root", "projects")


HANDS = "episode-hands"
WAITING = 4
"""Containers that the pool may keep ready for a next check: two for each copy of the tree."""


async def until_none(pid, program=HANDS, most=0, within_s=60.0):
    """What is still there after a while; removing goes on in the background."""
    end = time.monotonic() + within_s
    while len(left := containers(pid, program)) > most and time.monotonic() < end:
        await asyncio.sleep(0.2)
    return left if len(left) > most else set()


def test_the_demo_is_mended_over_pipes_and_nothing_is_left(project_image):
    async def run():
        async with over_pipes(*ROOTS, "--idle", "2") as client:
            pid = server_pid()
            await fix_demo(client, "slugify_demo")
            refused = await text(client, "create", path="tests/test_slugify.py", content="")
            assert "Read-only file system" in refused
            assert "10 passed" in await text(client, "run_tests")
            checked = (await client.call_tool("run_check", {})).structured_content
            assert checked["passed"], checked
            assert len(checked["proofs"]) > 5
            assert not await until_none(pid), "an idle copy keeps its containers"
            patch = (await client.call_tool("get_patch", {})).structured_content["patch"]
            assert "+    text = unicodedata.normalize" in patch
            assert "unicodedata" in await text(client, "view", path="slugify/core.py")
            assert containers(pid, HANDS)
        assert not containers(pid)

    asyncio.run(run())


def test_clients_over_http_have_copies_of_their_own(project_image):
    async def with_sessions(url, pid):
        async with over_http(url, mode="legacy") as one, over_http(url, mode="legacy") as two:
            mine = await fix_demo(one, "slugify_demo")
            opened = await two.call_tool("open_project", {"path": "slugify_demo"})
            assert opened.structured_content["copy"] != mine
            assert "unicodedata" not in await text(two, "view", path="slugify/core.py")
            assert "unicodedata" in await text(one, "view", path="slugify/core.py")
        assert not await until_none(pid), "a client that says goodbye leaves its containers"

    async def with_handles(url, pid):
        """The newer protocol knows no sessions: only the handle says whose copy it is."""
        async with over_http(url) as one, over_http(url) as two:
            mine = await fix_demo(one, "slugify_demo")
            assert (await text(two, "view", path="slugify/core.py")).startswith("!")
            assert (await text(two, "view", path="slugify/core.py", copy="x")).startswith("!")
            assert "unicodedata" in await text(one, "view", path="slugify/core.py", copy=mine)
            await text(one, "close_project", copy=mine)
        assert not await until_none(pid)

    with http_server(*ROOTS) as (url, process):
        asyncio.run(with_sessions(url, process.pid))
        asyncio.run(with_handles(url, process.pid))
    assert not containers(process.pid)


def test_nobody_without_key_and_no_page_is_let_in():
    async def status(url, **headers):
        async with httpx2.AsyncClient() as web:
            answer = await web.post(url, json={}, headers={k: v for k, v in headers.items() if v})
            return answer.status_code

    async def run(url):
        host = url.split("/")[2]
        good = {"Authorization": f"Bearer {KEY}"}
        assert await status(url) == 401
        assert await status(url, Authorization="Bearer wrong") == 401
        assert await status(url, **good, Host="evil.example") == 403
        assert await status(url, **good, Origin="https://evil.example") == 403
        assert await status(url, **good, Origin="null") == 403
        assert await status(url, **good, **{"Sec-Fetch-Site": "cross-site"}) == 403
        assert await status(url, **good, Origin=f"http://{host}") not in (401, 403)

    with http_server(*ROOTS) as (url, _):
        asyncio.run(run(url))


def message(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


HELLO = message(
    1,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "bytes", "version": "1"},
) + (json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")


def test_every_byte_is_protocol_whatever_the_locale(project_image, tmp_path):
    """I1 and I3: a legacy code page, a child that prints, Greek letters, CRLF."""
    project = tmp_path / "greek"
    (project / "tests").mkdir(parents=True)
    (project / "m.py").write_bytes("# αβγ → δ\r\nx = 1\r\n".encode())
    (project / "tests" / "test_m.py").write_text(
        "import os, m\n\ndef test_x():\n    os.write(1, b'noise')\n    assert m.x == 2\n"
    )

    def call(number, name, **given):
        return message(number, "tools/call", name=name, arguments=given)

    asked = [
        HELLO,
        message(2, "tools/list"),
        call(3, "open_project", path="greek"),
        call(4, "view", path="m.py"),
        call(5, "str_replace", path="m.py", old="αβγ → δ\nx = 1", new="ω\nx = 2"),
        call(6, "run_tests"),
        call(7, "get_patch"),
        call(8, "view", path="nothing"),
    ]
    env = environment(
        PYTHONIOENCODING="cp1252", LC_ALL="C", PYTHONUTF8="0", PYTHONWARNINGS="always"
    )
    process = subprocess.Popen(
        [sys.executable, *SERVER, "--root", str(tmp_path)],
        cwd=ROOT,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    answers = {}
    with process:
        for number, line in enumerate(asked, 1):
            process.stdin.write(line.encode())
            process.stdin.flush()
            said = json.loads(process.stdout.readline().decode("utf-8"))
            assert said["jsonrpc"] == "2.0"
            answers[said["id"]] = said["result"]
            assert said["id"] == number
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0
    assert not answers[7].get("isError"), answers[7]
    view, patch = answers[4]["content"][0]["text"], answers[7]["structuredContent"]["patch"]
    assert "# αβγ → δ" in view
    assert "CRLF" in view
    assert "+# ω\r\n+x = 2\r\n" in patch
    assert "1 passed" in answers[6]["content"][0]["text"]
    assert answers[8]["isError"]
    assert not containers(process.pid)


def test_a_cancelled_call_kills_what_it_started(project_image, tmp_path):
    project = tmp_path / "slow"
    (project / "tests").mkdir(parents=True)
    (project / "m.py").write_text("x = 1\n")
    (project / "tests" / "test_m.py").write_text(
        "import time, m\n\ndef test_x():\n    assert m.x == 2\n    time.sleep(60)\n"
    )

    async def run():
        async with over_pipes("--root", str(tmp_path)) as client:
            opened = await text(client, "open_project", path="slow")
            assert not opened.startswith("!")
            await text(client, "str_replace", path="m.py", old="1", new="2")
            pid = server_pid()
            for name, program in (("run_tests", ""), ("run_check", "project-run")):
                task = asyncio.create_task(client.call_tool(name, {}))
                await asyncio.sleep(2)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                began = time.monotonic()
                assert "x = 2" in await text(client, "view", path="m.py")
                assert time.monotonic() - began < 40
                assert not program or not await until_none(pid, program, WAITING, 40)

    asyncio.run(run())
