"""MCP clients for tests: the SDK's own, over pipes and HTTP, and one that looks at every byte."""

import os
import re
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager

import docker
import httpx2
import psutil
from mcp import Client, StdioServerParameters
from mcp.client import stdio
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import ROOT

KEY = "a-key-for-tests-only"
SERVER = ("-m", "agent_loop.mcp_server")
FIX = (
    '    text = _NOT_A_WORD.sub("-", text)\n',
    '    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()\n'
    '    text = re.sub(r"[^a-z0-9]+", "-", text)\n',
)


def environment(**more):
    return {**os.environ, "AGENT_LOOP_MCP_TOKEN": KEY, **more}


@asynccontextmanager
async def over_pipes(*options):
    given = StdioServerParameters(
        command=sys.executable, args=[*SERVER, *options], cwd=str(ROOT), env=environment()
    )
    # Two seconds are the SDK's patience: a slow machine takes longer to remove containers.
    stdio.PROCESS_TERMINATION_TIMEOUT = 60.0
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio.stdio_client(given, errlog=nowhere)) as client:
            yield client


@contextmanager
def http_server(*options):
    """Give the address of a server of its own, and its process."""
    process = subprocess.Popen(
        [sys.executable, *SERVER, "--http", "0", *options],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stderr.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", line), line
        yield line, process
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


@asynccontextmanager
async def over_http(url, *, mode="auto", key=KEY):
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=240) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        yield client


async def text(client, name, **given):
    """The text of a tool's result, with `!` in front when it is an error."""
    result = await client.call_tool(name, given)
    said = "".join(part.text for part in result.content)
    return f"!{said}" if result.is_error else said


async def fix_demo(client, path):
    """Open the demo project and mend it; gives the handle of the copy."""
    opened = (await client.call_tool("open_project", {"path": path})).structured_content
    assert opened["summary"] == "6 of 10 tests fail"
    copy = opened["copy"]
    old, new = FIX
    for before, after in (("import re\n", "import re\nimport unicodedata\n"), (old, new)):
        said = await text(
            client, "str_replace", path="slugify/core.py", old=before, new=after, copy=copy
        )
        assert "now reads" in said
    return copy


def containers(pid, program=""):
    """Containers of one server, by what runs in them."""
    client = docker.from_env()
    try:
        labels = [f"agent-loop.pid={pid}"] + ([f"agent-loop.program={program}"] if program else [])
        found = client.api.containers(all=True, filters={"label": labels})
        return {one["Names"][0] for one in found if one.get("Names")}
    finally:
        client.close()


def server_pid():
    """Of the one server that this process has started over pipes."""
    (one,) = [
        child.pid
        for child in psutil.Process().children()
        if "agent_loop.mcp_server" in child.cmdline()
    ]
    return one
