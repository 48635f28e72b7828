"""Both doors as processes: what they print, and how they end."""

import re
import signal
import subprocess
import sys

import httpx
import pytest

from tests.conftest import ROOT


@pytest.mark.skipif(sys.platform == "win32", reason="ends by signal")
@pytest.mark.parametrize(
    ("door", "number"),
    [("agent_loop.dashboard", signal.SIGINT), ("agent_loop.server", signal.SIGTERM)],
)
def test_a_door_prints_its_address_and_ends_with_streams_open(tmp_path, door, number):
    argv = [sys.executable, "-m", door, "--runs", str(tmp_path), "--port", "0", "--no-open"]
    with subprocess.Popen(
        argv, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        try:
            said = server.stdout.readline() + server.stdout.readline()
            link = re.search(r"http://127\.0\.0\.1:\d+/login\?token=\S{40,}", said)[0]
            with httpx.Client(base_url=link.split("/login")[0], timeout=60) as client:
                assert client.get(link).status_code == 303
                assert client.get("/api/session").json()["kind"] in door
                page = client.get("/")
                assert page.headers["content-type"] == "text/html; charset=utf-8"
                with client.stream("GET", "/api/runs/stream") as heard:
                    assert heard.status_code == 200
                    server.send_signal(number)
                    assert server.wait(60) == 0
            assert server.stderr.read() == ""
        finally:
            server.kill()
