"""Opens many MCP sessions and drops them in every way: `python -m tests.docker.mcp_sessions`.

Ways: over pipes, closed or its server killed by SIGTERM; over HTTP with a session, ended or just
left; over HTTP with handles, left. Afterwards there must be no container.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import docker
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import ROOT
from tests.docker.mcp_clients import KEY, SERVER, containers, environment, http_server, over_http

IDLE_S = 2.0
AT_ONCE = 3
TRIES = 3
"""On a crowded machine the gate may refuse a project whose tests do not end in time."""
HTTP_WAYS = ("ended", "left with a session", "left with a handle")
PIPE_WAYS = ("input closed", "SIGTERM", "SIGKILL")


def make_project(root: Path) -> None:
    (root / "small" / "tests").mkdir(parents=True)
    (root / "small" / "m.py").write_text("x = 1\n")
    (root / "small" / "tests" / "test_m.py").write_text(
        "import m\n\n\ndef test_x():\n    assert m.x == 2\n"
    )


async def work(client: Client) -> None:
    """Enough that containers are there."""
    for _ in range(TRIES):
        opened = await client.call_tool("open_project", {"path": "small"})
        if not opened.is_error:
            break
    assert not opened.is_error, opened.content
    copy = opened.structured_content["copy"]
    seen = await client.call_tool("view", {"path": "m.py", "copy": copy})
    assert "x = 1" in seen.content[0].text, seen.content


async def http_session(url: str, way: str) -> None:
    if way == "left with a session":
        headers = {"Authorization": f"Bearer {KEY}"}
        async with httpx2.AsyncClient(headers=headers, timeout=120) as web:
            transport = streamable_http_client(url, http_client=web, terminate_on_close=False)
            async with Client(transport, mode="legacy") as client:
                await work(client)
        return
    async with over_http(url, mode="legacy" if way == "ended" else "auto") as client:
        await work(client)


async def http_sessions(url: str, pid: int, count: int, tell) -> list[str]:
    gate = asyncio.Semaphore(AT_ONCE)
    done: Counter = Counter()

    async def one(number: int) -> None:
        async with gate:
            way = HTTP_WAYS[number % len(HTTP_WAYS)]
            await http_session(url, way)
            done[way] += 1

    await asyncio.gather(*(one(number) for number in range(count)))
    tell(f"HTTP: {dict(done)}")
    end = time.monotonic() + IDLE_S + 30
    while time.monotonic() < end:
        left = containers(pid, "episode-hands") | containers(pid, "episode-keeper")
        if not left:
            break
        await asyncio.sleep(0.3)
    return [f"while the server lives: {name}" for name in left]


def pipe_session(root: Path, way: str) -> list[str]:
    """One over pipes, by hand: the SDK's client ends only in the polite way."""
    process = subprocess.Popen(
        [sys.executable, *SERVER, "--root", str(root)],
        cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    try:
        ask(process, 1, "initialize", hello)
        for number in range(2, 2 + TRIES):
            opened = {"name": "open_project", "arguments": {"path": "small"}}
            if not ask(process, number, "tools/call", opened).get("isError"):
                break
        seen = ask(process, 9, "tools/call", {"name": "view", "arguments": {"path": "m.py"}})
        assert "x = 1" in seen["content"][0]["text"]
        if way == "SIGTERM":
            process.terminate()
        elif way == "SIGKILL":
            process.kill()
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()
    if way == "SIGKILL":
        return ended_by_themselves(process.pid)
    return [f"{way}: {name}" for name in containers(process.pid)]


def ask(process, number: int, method: str, params: dict) -> dict:
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())["result"]


def ended_by_themselves(pid: int, within_s: float = 30.0) -> list[str]:
    """Nobody is there to remove them: they must have stopped; the next start's sweep takes them."""
    client = docker.from_env()
    end = time.monotonic() + within_s
    running = True
    while running and time.monotonic() < end:
        running = client.api.containers(filters={"label": f"agent-loop.pid={pid}"})
        time.sleep(0.3)
    client.close()
    return [f"SIGKILL: still running: {one['Names'][0]}" for one in running]


def run(count: int, tell=lambda _: None) -> list[str]:
    """Give what was left, as text."""
    left: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        make_project(root)
        pipes = max(len(PIPE_WAYS), count // 5)
        options = ("--root", str(root), "--idle", str(IDLE_S), "--copies", str(count))
        with http_server(*options) as (url, process):
            left += asyncio.run(http_sessions(url, process.pid, count - pipes, tell))
        left += [f"after the server: {name}" for name in containers(process.pid)]
        ways: Counter = Counter()
        for number in range(pipes):
            way = PIPE_WAYS[number % len(PIPE_WAYS)]
            left += pipe_session(root, way)
            ways[way] += 1
        # The next start sweeps what the killed ones could not take away.
        left += pipe_session(root, "input closed")
        tell(f"pipes: {dict(ways)}")
    return left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    folders = set(Path(tempfile.gettempdir()).glob("agent-loop-mcp-*"))
    began = time.monotonic()
    left = run(options.count, print)
    new = set(Path(tempfile.gettempdir()).glob("agent-loop-mcp-*")) - folders
    left += sorted(map(str, new))
    seconds = time.monotonic() - began
    print(f"{options.count} sessions in {seconds:.0f} s; left behind: {left or 'nothing'}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
