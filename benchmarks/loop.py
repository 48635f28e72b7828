"""What the loop itself costs: seconds per node and bytes per lap, models and check being instant.

Run `python -m benchmarks.loop`. At every node boundary one plain commit is timed too (another
database in the same folder, WAL, `synchronous=FULL`, a row of 4,000 bytes), so that both meet the
same disk.
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


class Boundaries:
    """Times the way from one node's beginning to the next one's, and a commit between them."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._left = 0.0
        self.nodes: list[float] = []
        self.commits: list[float] = []

    def emit(self, kind: str, fields: object) -> None:
        if kind != "node_started":
            return
        now = time.perf_counter()
        if self._left:
            self.nodes.append(now - self._left)
        self._conn.execute("INSERT INTO t (body) VALUES (?)", (b"x" * 4_000,))
        self._conn.commit()
        self._left = time.perf_counter()
        self.commits.append(self._left - now)


def one_round(folder: Path, name: str) -> tuple[float, float]:
    """Median seconds of a node and of a commit over one run of ten laps."""
    with closing(sqlite3.connect(folder / "plain.sqlite")) as conn:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.execute("PRAGMA synchronous=FULL")
        conn.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, body BLOB)")
        live = Boundaries(conn)
        made = parts([*(wrong(n) for n in range(LAPS - 1)), RIGHT], live=live)
        result = drive.start(name, job(rejection_cap=LAPS), made, RunStore(folder / "runs"))
    if result.outcome != "passed":
        raise RuntimeError(f"the run ended as {result.outcome}: {result.reason}")
    return median(live.nodes), median(live.commits)


def lap_bytes(folder: Path) -> float:
    """Bytes of the database per lap, ordinary small texts."""
    store = RunStore(folder)
    drive.start("b", job(rejection_cap=LAPS), parts([wrong(n) for n in range(LAPS)]), store)
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store.checkpoints.stat().st_size / LAPS


def measure() -> dict[str, float | str]:
    """The figures, medians over the rounds; the first round warms up."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pairs = [one_round(folder, f"r{n}") for n in range(ROUNDS + 1)][1:]
        return {
            "what": "loop overhead per node, scripted model, durable",
            "against": "one SQLite commit with fsync",
            "node_ms": round(median(node for node, _ in pairs) * 1e3, 2),
            "commit_ms": round(median(commit for _, commit in pairs) * 1e3, 2),
            "ratio": round(median(node / commit for node, commit in pairs), 2),
            "goal": 5.0,
            "lap_bytes": round(lap_bytes(folder / "small")),
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(), indent=1) + "\n")
