"""What the loop itself costs: seconds per node and bytes on the disk, models and check instant.

At every node boundary one plain commit is timed too (another database in the same folder, WAL,
`synchronous=FULL`, a row of 4,000 bytes), so that both meet the same disk.
"""

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver

from agent_loop.graph import drive, saver
from agent_loop.graph.prune import prune, size_of
from agent_loop.graph.saved import config_of
from agent_loop.store import RunStore
from benchmarks.row import Row, halves, middle, rounded
from tests.fakes.runs import RIGHT, job, parts, wrong

ROUNDS = 7
LAPS = 10
RUNS = 8
LONG_LAPS = 4
"""Of a run whose replies are whole modules of this package: about what a run takes."""
PACKAGE = Path(__file__).resolve().parents[1] / "agent_loop"


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


def one_round(folder: Path, name: str) -> tuple[list[float], list[float]]:
    """Seconds of each node and of each commit over one run of ten laps."""
    with closing(sqlite3.connect(folder / "plain.sqlite")) as conn:
        conn.execute("PRAGMA journal_mode=WAL")
        conn.execute("PRAGMA synchronous=FULL")
        conn.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, body BLOB)")
        live = Boundaries(conn)
        made = parts([*(wrong(n) for n in range(LAPS - 1)), RIGHT], live=live)
        result = drive.start(name, job(rejection_cap=LAPS), made, RunStore(folder / "runs"))
    if result.outcome != "passed":
        raise RuntimeError(f"the run ended as {result.outcome}: {result.reason}")
    return live.nodes, live.commits


def loop_row() -> Row:
    """Medians over all nodes; the first round warms up."""
    with tempfile.TemporaryDirectory() as name:
        pairs = [one_round(Path(name), f"r{n}") for n in range(ROUNDS + 1)][1:]
    nodes = [seconds for nodes, _ in pairs for seconds in nodes]
    commits = [seconds for _, commits in pairs for seconds in commits]
    return Row(
        what="loop overhead per node, scripted model, durable",
        against="one SQLite commit with fsync",
        goal=5.0,
        ours=middle(nodes, 1e3),
        theirs=middle(commits, 1e3),
        spread=halves(nodes, commits, 1e3),
    )


def bytes_row() -> Row:
    """Bytes of the database per lap; the library's own saver given the very same steps."""
    with tempfile.TemporaryDirectory() as name:
        store = RunStore(Path(name) / "runs")
        laps = sum(_long_run(store, f"t{n}", modules) for n, modules in enumerate(_modules()))
        ours = _settled(store.checkpoints) / laps
        plain = _settled(_with_plain_saver(store, Path(name) / "plain.sqlite")) / laps
    return Row(
        what="checkpoint bytes per lap",
        against="the library's own saver, same steps",
        goal=1.0,
        limit=100.0,
        unit="kB",
        ours=rounded(ours / 1e3),
        theirs=rounded(plain / 1e3),
    )


def pruned_row() -> Row:
    """Bytes of the database per finished run after `--prune --yes`."""
    with tempfile.TemporaryDirectory() as name:
        store = RunStore(Path(name) / "runs")
        for n, modules in enumerate(_modules()):
            _long_run(store, f"t{n}", modules)
        before = _settled(store.checkpoints) / RUNS
        prune(store)
        after = size_of(store) / RUNS
    return Row(
        what="checkpoint bytes of a finished run, pruned",
        against="not pruned",
        goal=1.0,
        limit=30.0,
        unit="kB",
        ours=rounded(after / 1e3),
        theirs=rounded(before / 1e3),
    )


def _modules() -> Iterator[list[Path]]:
    """For each run, modules of ordinary length as its wrong replies."""
    found = sorted(PACKAGE.rglob("*.py"), key=lambda path: (-path.stat().st_size, path))
    for n in range(RUNS):
        yield found[20 + n :: RUNS][: LONG_LAPS - 1]


def _long_run(store: RunStore, thread: str, modules: list[Path]) -> int:
    replies = [f"```python\n{path.read_text(encoding='utf-8')}\n```" for path in modules]
    review = "REJECTED: " + "this does not do what the task asks for; " * 10
    made = parts([*replies, RIGHT], [*[review] * len(replies), "APPROVED"])
    result = drive.start(thread, job(rejection_cap=LONG_LAPS), made, store)
    if result.outcome != "passed":
        raise RuntimeError(f"the run ended as {result.outcome}: {result.reason}")
    return LONG_LAPS


def _with_plain_saver(store: RunStore, path: Path) -> Path:
    with closing(sqlite3.connect(path, check_same_thread=False)) as conn:
        plain = SqliteSaver(conn)
        for thread in sorted(summary.thread for summary in store.list()):
            with saver.read_only(store.checkpoints, thread) as ours:
                steps = list(ours.list(config_of(thread))) if ours else []
            for step in reversed(steps):
                plain.put(config_of(thread), step.checkpoint, step.metadata, {})
    return path


def _settled(path: Path) -> int:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size
