"""A Dask scheduler and workers on the loopback, as processes of their own."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

from tests.conftest import ROOT


@contextmanager
def cluster(workers=2, *, allowed_failures="0", folder):
    """(url, processes of the workers), up and connected."""
    port = free_port()
    env = {
        **os.environ,
        "AGENT_LOOP_ALLOW_LOCAL": "1",
        "PYTHONPATH": str(ROOT),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": allowed_failures,
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s",
    }
    running = [_start(["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard",
                       "--no-show"], env, folder)]  # fmt: skip
    try:
        wait_for(port)
        made = [
            _start(["worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-nanny",
                    "--no-dashboard", "--memory-limit", "0", "--name", f"w{n}"], env, folder)
            for n in range(workers)
        ]  # fmt: skip
        running += made
        wait_for_workers(port, workers)
        yield f"dask://127.0.0.1:{port}", made
    finally:
        for process in reversed(running):
            process.kill()
            process.wait(60)


def _start(words, env, folder):
    with (folder / f"{words[0]}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
            env=env, cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nobody listens on port {port}")


def wait_for_workers(port, count):
    from distributed import Client

    with Client(f"tcp://127.0.0.1:{port}", timeout=60, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)
