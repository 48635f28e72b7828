"""What the loop itself costs: seconds per node and bytes per lap, models and check being instant.

Run `python -m benchmarks.loop`. The commit it is measured against is made in the same run, in the
same folder: WAL, `synchronous=FULL`, a row of 4,000 bytes.
"""

import json
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from agent_loop.graph import drive
from agent_loop.store import RunStore
from tests.fakes.runs import RIGHT, job, parts, wrong

ROUNDS = 7
LAPS = 10
NODES = 1 + 3 * LAPS
COMMITS = 60


def node_seconds(folder: Path, name: str) -> float:
    """One run of ten laps, by the number of its nodes."""
    made = parts([*(wrong(n) for n in range(LAPS - 1)), RIGHT])
    store = RunStore(folder)
    begun = time.perf_counter()
    result = drive.start(name, job(rejection_cap=LAPS), made, store)
    taken = time.perf_counter() - begun
    if result.outcome != "passed":
        raise RuntimeError(f"the run ended as {result.outcome}: {result.reason}")
    return taken / NODES


def commit_seconds(folder: Path) -> float:
    """One durable commit, median."""
    taken = []
    with closing(sqlite3.connect(folder / "plain.sqlite")) as conn:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.execute("PRAGMA synchronous=FULL")
        conn.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, body BLOB)")
        for _ in range(COMMITS):
            begun = time.perf_counter()
            conn.execute("INSERT INTO t (body) VALUES (?)", (b"x" * 4_000,))
            conn.commit()
            taken.append(time.perf_counter() - begun)
    return median(taken)


def lap_bytes(folder: Path) -> float:
    """Bytes of the database per lap, ordinary small texts."""
    store = RunStore(folder)
    drive.start("b", job(rejection_cap=LAPS), parts([wrong(n) for n in range(LAPS)]), store)
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.checkpoints.stat().st_size / LAPS


def measure() -> dict[str, float | str]:
    """The figures, rounds of both taken in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        node_seconds(folder / "warm", "w")
        pairs = [(node_seconds(folder, f"r{n}"), commit_seconds(folder)) for n in range(ROUNDS)]
        node, commit = median(p[0] for p in pairs), median(p[1] for p in pairs)
        return {
            "what": "loop overhead per node, scripted model, durable",
            "against": "one SQLite commit with fsync",
            "node_ms": round(node * 1e3, 2),
            "commit_ms": round(commit * 1e3, 2),
            "ratio": round(median(n / c for n, c in pairs), 2),
            "goal": 5.0,
            "lap_bytes": round(lap_bytes(folder / "small")),
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(), indent=1) + "\n")
