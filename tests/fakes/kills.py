"""Kills runs at random moments and lets the next process go on; used by tests and by hand.

`python -m tests.fakes.kills 60 IMAGE_ID` does it with the real gate in real containers.
"""

import json
import multiprocessing
import os
import random
import re
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop.errors import ThreadError
from agent_loop.store import RunStore, read_trace
from tests.fakes.killable import child, drive_on, drive_real

DELAY_S = 0.02
TIMES = frozenset({"started", "ended", "seconds", "spent_s", "load_s"})
"""Fields of a record that differ between two runs of the same script."""

PYTESTS_SECONDS = re.compile(r" in \d+\.\d+s")
"""The end of pytest's last line."""


@dataclass
class Killed:
    """What a series of kills left behind."""

    hits: int = 0
    at: list[str] = field(default_factory=list)
    """The last event before each kill."""
    pids: list[int] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    asked_again: list[str] = field(default_factory=list)
    runs: int = 0
    integrity: str = ""


def bare(value):
    """A record without what differs between two runs of one script."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if k not in TIMES and k != "thread"}
    if isinstance(value, str):
        return PYTESTS_SECONDS.sub("", value)
    return [bare(item) for item in value] if isinstance(value, list) else value


def context():
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.fakes.killable"])
    return made


def asked_again(path):
    """Whether an owner call was asked after its answer was on the disk."""
    answered = set()
    for event in read_trace(path):
        if event["kind"] == "owner_replied":
            answered.add(event["nonce"])
        if event["kind"] == "paused" and event["nonce"] in answered:
            return True
    return False


def kill_until(root, kills, seed, *, image=None, each=3):
    """Runs with up to `each` kills, until `kills` have hit; then every run goes on to its end."""
    rng = random.Random(seed)
    store, found, make = RunStore(root), Killed(), context()
    target, more = (drive_real, (image,)) if image else (child, ())
    on = (lambda t: drive_real(str(root), t, DELAY_S, image)) if image else (
        lambda t: drive_on(str(root), t, DELAY_S))  # fmt: skip
    begun = time.monotonic()
    assert on("whole") == "passed"
    longest_s = 1.2 * (time.monotonic() - begun)
    while found.hits < kills:
        thread = f"k{found.runs}"
        found.runs += 1
        for _ in range(each):
            process = make.Process(target=target, args=(str(root), thread, DELAY_S, *more))
            process.start()
            process.join(rng.uniform(0.0, longest_s))
            alive = process.is_alive()
            found.pids.append(process.pid)
            process.kill()
            process.join()
            process.close()
            if not alive:
                break
            found.hits += 1
            last = [
                e["kind"] + ":" + str(e.get("node", ""))
                for e in read_trace(store.trace_path(thread))
            ]
            found.at.append(last[-1] if last else "before the first event")
        try:
            said = on(thread)
        except ThreadError as error:  # the kill came after the last write of all
            said = "passed" if "has ended (passed)" in str(error) else str(error)
        if said != "passed" or bare(store.read_record(thread)) != bare(store.read_record("whole")):
            found.different.append(f"{thread}: {said}")
        if asked_again(store.trace_path(thread)):
            found.asked_again.append(thread)
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        found.integrity = conn.execute("PRAGMA integrity_check").fetchone()[0]
    return found


def orphans(image, pids):
    """Containers of killed processes that are there after the next sandbox has opened."""
    from agent_loop.sandbox import DockerSandbox
    from agent_loop.sandbox.engine import find_engine
    from agent_loop.sandbox.owner import MARK, PID

    engine = find_engine(os.environ, Path.home())
    sandbox = DockerSandbox(engine, image=image, runtime="runc", pool=1, notify=lambda line: None)
    sandbox.probe()
    try:
        with engine.client("list containers") as api:
            there = api.containers(all=True, filters={"label": MARK})
    finally:
        sandbox.close()
    owners = {str(pid) for pid in pids}
    return [c["Names"] for c in there if (c.get("Labels") or {}).get(PID) in owners]


if __name__ == "__main__":
    wanted, image = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as name:
        begun = time.monotonic()
        found = kill_until(
            Path(name).resolve(), wanted, seed=random.randrange(1 << 30), image=image
        )
        moments = {at: found.at.count(at) for at in sorted(set(found.at))}
        report = {
            "kills": found.hits, "runs": found.runs, "seconds": round(time.monotonic() - begun, 1),
            "records that differ": found.different, "owner calls asked again": found.asked_again,
            "integrity_check": found.integrity, "last event before the kill": moments,
            "orphan containers": orphans(image, found.pids) if image else "no containers",
        }  # fmt: skip
        print(json.dumps(report, indent=1))
