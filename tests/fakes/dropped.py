"""Starts jobs over HTTP and drops them at random moments; looks at what is left.

`python -m tests.fakes.dropped 100 IMAGE_ID` does it with real containers; the models are scripted.
"""

import contextlib
import gc
import json
import os
import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from agent_loop import config
from agent_loop.graph.drive import standing
from agent_loop.sandbox.engine import find_engine
from agent_loop.sandbox.owner import MARK, PID
from agent_loop.server.main import Plan, guarded
from agent_loop.server.roots import Roots
from agent_loop.store import RunStore
from tests.fakes.webdoor import opened

KEY = "k" * 32
CODE = "```python\ndef f():\n    return 1\n\ndef spin():\n    while True:\n        pass\n```"
HANDLES = 2
"""So many more are no leak: the engine's client opens one where it likes."""
OVER = ("ended", "cancelled", "failed")


def script(path, *, lead_s=0.2, worker_s=0.4, reviewer_s=0.3):
    def line(text, delay):
        return {"text": text, "delay_s": delay}

    path.write_text(json.dumps({
        "lead": [line("1. write it", lead_s)] * 4,
        "worker": [line(CODE, worker_s)] * 8,
        "reviewer": [line("APPROVED", reviewer_s)] * 8,
    }))  # fmt: skip


@contextlib.contextmanager
def job_server(folder, *, image=None, slots=2, room=64, delays=None):
    """A job server over two task files: one whose check ends at once, one whose check spins."""
    tasks = folder / "tasks"
    tasks.mkdir(exist_ok=True)
    (tasks / "quick.yaml").write_text("task: Write f.\ntests: ['assert f() == 1']\n")
    (tasks / "spin.yaml").write_text("task: Write spin.\ntests: ['assert spin() == 1']\n")
    (tasks / "broken.yaml").write_text("task: ''\n")
    (folder / "projects" / "empty").mkdir(parents=True, exist_ok=True)
    script(folder / "script.yaml", **(delays or {}))
    sets = [f"models.{role}=scripted:{folder / 'script.yaml'}" for role in
            ("lead", "worker", "reviewer")]  # fmt: skip
    sets.append(f"runs_dir={folder / 'runs'}")
    # A check that spins ends by its own limits only long after it must have been cut off.
    sets += ["check.call_s=60", "check.total_s=120"]
    if image:
        sets.append(f"sandbox_image='{image}'")
    settings = config.load(None, os.environ, sets)
    roots = Roots([tasks], [folder / "projects"])
    plan = Plan(settings=settings, roots=roots, env=os.environ, slots=slots, room=room)
    shops = []

    def door(launch):
        guard, shop = guarded(plan, launch)
        shops.append(shop)
        return guard

    with opened(door, api_key=KEY) as made:
        try:
            yield made
        finally:
            shops[0].close()


def program(door, **more):
    """A client with the key for programs."""
    headers = {"Authorization": f"Bearer {KEY}"}
    return httpx.Client(base_url=door.base, headers=headers, timeout=60, **more)


@dataclass
class Left:
    """What was there after the drops."""

    jobs: int = 0
    statuses: dict = field(default_factory=dict)
    at: dict = field(default_factory=dict)
    """The node in hand at the moment of the drop."""
    slowest_stop_s: float = 0.0
    """From the drop to the end of the job."""
    waiting: int = 0
    """Containers 5 seconds after the last drop, the server still running: its warm ones."""
    containers: list = field(default_factory=list)
    """Once the server has stopped."""
    threads: list = field(default_factory=list)
    handles: int = 0
    lost: list = field(default_factory=list)
    """Runs that cannot be gone on with."""


def drop_jobs(folder, count, *, seed, image, slots=2, longest_s=2.5):
    """Start and drop them, the server still running; then look, after 5 seconds."""
    rng = random.Random(seed)
    left = Left(jobs=count)
    with job_server(folder, image=image, slots=slots) as door, program(door) as client:
        # What a first run starts once: threads of pools, the engine's handles, warm containers.
        for _ in range(2):
            wait_for(client, start_job(client, "quick"))
        time.sleep(1.0)
        threads, handles = _threads(), _handles()
        for n in range(count):
            job = start_job(client, rng.choice(["quick", "spin", "spin"]), n % 2 == 0)
            _drop(client, job, rng.uniform(0.0, longest_s), left)
        time.sleep(5.0)
        left.waiting = len(_containers())
        _look(left, threads, handles)
    left.containers = [name for name in _containers() if name]
    store = RunStore(folder / "runs")
    for path in sorted((folder / "runs").glob("*/job.json")):
        if store.driver(path.parent.name) is not None:
            left.lost.append(path.parent.name)
        standing(store, path.parent.name)
    return left


def _look(left, threads, handles, most_s=60):
    """Threads and handles more than before; a busy machine takes its time to end them."""
    until = time.monotonic() + most_s
    while True:
        gc.collect()
        left.threads = sorted(set(_threads()) - set(threads))
        left.handles = _handles() - handles
        if time.monotonic() > until or not (left.threads or left.handles > HANDLES):
            return
        time.sleep(0.2)


def start_job(client, task, leave=False):
    sent = {"root": "tasks-1", "task": f"{task}.yaml", "cancel_on_disconnect": leave}
    answer = client.post("/api/jobs", json=sent)
    assert answer.status_code == 202, answer.text
    return answer.json()


def _drop(client, job, after_s, left):
    """By going away where the job says so, else by asking."""
    if job["cancel_on_disconnect"]:
        with client.stream("GET", f"/api/jobs/{job['id']}/stream") as heard:
            assert heard.status_code == 200
            until = time.monotonic() + after_s
            while time.monotonic() < until:
                time.sleep(0.02)
            _note(client, job, left)
    else:
        time.sleep(after_s)
        _note(client, job, left)
        client.post(f"/api/jobs/{job['id']}/cancel", json={})
    began = time.monotonic()
    ended = wait_for(client, job)
    left.slowest_stop_s = max(left.slowest_stop_s, time.monotonic() - began)
    left.statuses[ended["status"]] = left.statuses.get(ended["status"], 0) + 1


def _note(client, job, left):
    run = client.get(f"/api/runs/{job['thread']}")
    live = run.json()["row"]["live"] if run.status_code == 200 and run.json()["row"] else None
    node = live["node"] if live else "not running"
    left.at[node] = left.at.get(node, 0) + 1


def wait_for(client, job):
    until = time.monotonic() + 120
    while time.monotonic() < until:
        now = client.get(f"/api/jobs/{job['id']}").json()
        if now["status"] in OVER:
            return now
        time.sleep(0.02)
    raise AssertionError(f"{job['id']} does not end")


def _threads():
    # Workers that any request may start; their number is bounded.
    return [t.name for t in threading.enumerate() if "AnyIO" not in t.name]


def _handles():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _containers():
    engine = find_engine(os.environ, Path.home())
    try:
        with engine.client("list containers") as api:
            there = api.containers(all=True, filters={"label": f"{PID}={os.getpid()}"})
            return [c["Names"][0] for c in there if MARK in (c.get("Labels") or {})]
    finally:
        engine.close()


if __name__ == "__main__":
    chosen = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    with tempfile.TemporaryDirectory() as made:
        print(f"seed {chosen}")
        found = drop_jobs(Path(made), int(sys.argv[1]), seed=chosen, image=sys.argv[2])
        print(found)
