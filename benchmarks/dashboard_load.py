"""The dashboard under load: 2,000 runs, a run of 3,000 events and 50 MB, 20 pages open.

The server is a process of its own; its memory is what the system says. Every page has both streams
open, and a writer adds events to the large run all the time. `python -m benchmarks.dashboard_load`
prints every figure; the speed table has the two with a goal.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from agent_loop.config import clone
from benchmarks.row import Row

RUNS = 2_000
EVENTS = 3_000
TRACE_BYTES = 50 << 20
PAGES = 20
ASKED = {
    "list of 2,000 runs": ("/api/runs?limit=2000", 60),
    "first page of the list": ("/api/runs?limit=100", 60),
    "search in the list": ("/api/runs?q=fizz%2019&limit=100", 60),
    "the large run": ("/api/runs/large", 60),
    "500 events of it": ("/api/runs/large/events?limit=500&chars=200", 40),
    "one event of 300 kB": ("/api/runs/large/events/11?chars=20000", 60),
    "figures of it": ("/api/runs/large/figures", 40),
}
LIST_GOAL_MS = 100.0


def fill(root: Path) -> None:
    for n in range(RUNS):
        outcome = ["passed", "stopped", "budget", "paused", None][n % 5]
        record(root, f"run-{n:04}", f"fizz {n}", outcome)
        (root / f"run-{n:04}").mkdir()
    record(root, "large", "large", None)
    folder = root / "large"
    folder.mkdir()
    with (folder / "trace.jsonl").open("w") as file:
        prompt = "word " * 60_000
        asks = TRACE_BYTES // len(prompt)
        for n in range(1, EVENTS + 1):
            big = n % (EVENTS // asks) == 1
            file.write(event(n, prompt if big else ""))


def record(root: Path, thread: str, task: str, outcome: str | None) -> None:
    summary = {
        "thread": thread, "kind": "code", "task": task, "outcome": outcome, "laps": 3,
        "started": f"2026-01-01T00:00:{thread[-2:]}Z", "ended": "", "look": False,
        "input_tokens": 4_000, "output_tokens": 900, "seconds": 12.5,
    }  # fmt: skip
    body = json.dumps({"plan": "x" * 2_000, "answer": "y" * 8_000})
    text = f'{{\n"version": 1,\n"summary": {json.dumps(summary)},\n{body[1:]}\n'
    (root / f"{thread}.json").write_text(text)


def event(n: int, prompt: str) -> str:
    head = {"v": 1, "n": n, "at": f"2026-01-01T00:{n // 60 % 60:02}:{n % 60:02}Z",
            "thread": "large"}  # fmt: skip
    if prompt:
        more = {"kind": "model_asked", "node": "worker", "role": "worker", "model": "m", "lap": n,
                "messages": [{"role": "user", "content": prompt}]}  # fmt: skip
    else:
        usage = {"calls": 1, "input_tokens": 900, "output_tokens": 80, "seconds": 1.0}
        more = {"kind": "model_replied", "node": "worker", "role": "worker", "answered": "m",
                "lap": n, "text": f"answer {n}", "usage": usage}  # fmt: skip
    return json.dumps({**head, **more}) + "\n"


async def measured(base: str, link: str, root: Path, pid: int) -> dict[str, object]:
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=base, limits=limits, timeout=60) as client:
        await client.get(link)
        before = rss_mib(pid)
        first: dict[str, float] = {}
        for what, (path, _) in ASKED.items():
            first[what] = await timed(client, path)
        opened = rss_mib(pid)
        cpu_ms = {what: await spent(client, path, pid) for what, (path, _) in ASKED.items()}
        heard = [0] * PAGES
        pages = [asyncio.create_task(listen(client, heard, n)) for n in range(PAGES)]
        pages.append(asyncio.create_task(write(root)))
        await asyncio.sleep(3)
        times = {
            what: [await timed(client, path) for _ in range(count)]
            for what, (path, count) in ASKED.items()
        }
        open_mib = rss_mib(pid)
        idle = cpu_s(pid)
        await asyncio.sleep(10)
        idle = (cpu_s(pid) - idle) * 10
        later = rss_mib(pid)
        for page in pages:
            page.cancel()
        await asyncio.gather(*pages, return_exceptions=True)
    return {
        "first_ms": {what: round(ms, 1) for what, ms in first.items()},
        "ms": {what: quantiles(found) for what, found in times.items()},
        "mib": {"start": before, "run opened": opened, "20 pages": open_mib, "10 s on": later},
        "cpu_ms": cpu_ms,
        "percent_of_a_core_for_20_pages": round(idle, 1),
        "bytes_heard_by_a_page": int(statistics.median(heard)),
    }


async def timed(client: httpx.AsyncClient, path: str) -> float:
    began = time.perf_counter()
    answer = await client.get(path)
    answer.raise_for_status()
    return (time.perf_counter() - began) * 1_000


async def spent(client: httpx.AsyncClient, path: str, pid: int) -> float:
    """Processor time of the server for one request, ms: a busy machine does not change it much."""
    before = cpu_s(pid)
    for _ in range(20):
        await timed(client, path)
        await asyncio.sleep(0.05)
    return round((cpu_s(pid) - before) / 20 * 1_000, 1)


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def listen(client: httpx.AsyncClient, heard: list[int], n: int) -> None:
    async def one(path: str) -> None:
        async with client.stream("GET", path, timeout=None) as stream:
            async for raw in stream.aiter_raw():
                heard[n] += len(raw)

    await asyncio.gather(
        one(f"/api/runs/large/stream?after={EVENTS - 50}"), one("/api/runs/stream")
    )


async def write(root: Path) -> None:
    n = EVENTS
    while True:
        n += 1
        with (root / "large" / "trace.jsonl").open("a") as file:
            file.write(event(n, ""))
        await asyncio.sleep(0.2)


def quantiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": round(cuts[49], 1), "p95": round(cuts[94], 1), "p99": round(cuts[98], 1)}


def rss_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return round(int(found[1]) / 1024, 1) if found else 0.0


def load() -> dict[str, object]:
    """Every figure of one run."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        fill(root)
        argv = [sys.executable, "-m", "agent_loop.dashboard", "--runs", made, "--port", "0",
                "--no-open"]  # fmt: skip
        server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=clone())
        try:
            assert server.stdout is not None
            lines = [server.stdout.readline() for _ in range(2)]
            found = re.search(r"(http://127\.0\.0\.1:\d+)(/login\S+)", "".join(lines))
            assert found, lines
            return asyncio.run(measured(found[1], found[2], root, server.pid))
        finally:
            server.terminate()
            server.wait(20)


def list_row() -> Row:
    """The list of 2,000 runs with 20 pages open against the goal of the design."""
    what = f"list of {RUNS:,} runs in the dashboard, {PAGES} pages open, p95"
    if not Path("/proc/self/status").exists():
        return Row(what=what, against="the goal", goal=1.0, missing="memory is read from /proc")
    figures = load()
    times = figures["ms"]
    assert isinstance(times, dict)
    p95 = times["list of 2,000 runs"]["p95"]
    return Row(what=what, against="the goal", goal=1.0, ours=p95, theirs=LIST_GOAL_MS, more=figures)


if __name__ == "__main__":
    print(json.dumps(load(), indent=1))
