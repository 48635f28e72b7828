"""Pruning: ended runs shrink to their last step, everything else stays as it can be used."""

import multiprocessing
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent_loop.errors import StoreFault, ThreadError
from agent_loop.graph import drive
from agent_loop.graph.prune import plan, prune, size_of
from agent_loop.store import RunStore
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts
from tests.unit.test_checkpoints import at_the_bound, change, held

PACKAGE = Path(__file__).resolve().parents[2] / "agent_loop"
LETTERS = "abcdefghijklmnopqrstuvwxyz_ =+()"


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def big(n):
    return f"```python\n{at_the_bound(n, LETTERS)}\n```"


def finished(store, thread, laps=6):
    made = parts([*(big(n) for n in range(laps - 1)), RIGHT])
    assert drive.start(thread, job(rejection_cap=laps), made, store).outcome == "passed"


def paused(store, thread):
    made = parts([big(1), big(2), big(3)], "REJECTED")
    assert drive.start(thread, job(), made, store).outcome == "paused"


def count(store, table, thread):
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        return conn.execute(
            f"SELECT count(*) FROM {table} WHERE thread_id = ?", (thread,)
        ).fetchone()[0]


def test_a_dry_run_changes_nothing(store):
    finished(store, "a")
    raw = store.checkpoints.read_bytes()
    planned = plan(store)
    assert planned.after_bytes is None
    assert planned.freed_bytes > 50_000
    assert [cut.kind for cut in planned.cuts] == ["finished"]
    assert store.checkpoints.read_bytes() == raw


def test_an_ended_run_keeps_its_last_step_and_the_disk_its_room(store):
    finished(store, "a")
    record, before = store.read_record("a"), size_of(store)
    # A dashboard has it open: the journal stays, and must be empty.
    with closing(sqlite3.connect(store.checkpoints)) as reader:
        reader.execute("SELECT count(*) FROM texts").fetchone()
        done = prune(store)
        assert not store.checkpoints.with_name("checkpoints.sqlite-wal").stat().st_size
    assert count(store, "checkpoints", "a") == 1
    assert done.after_bytes == size_of(store) < before / 2
    assert store.read_record("a") == record
    assert drive.standing(store, "a").outcome == "passed"
    with pytest.raises(ThreadError, match="has ended"):
        drive.resume("a", parts([RIGHT]), store)
    assert prune(store).freed_bytes == 0


def test_a_pruned_finished_run_stays_under_30_kB(store):
    """Five laps whose replies are real modules; texts that cannot be packed need 12 kB a lap."""
    modules = sorted(PACKAGE.rglob("*.py"), key=lambda path: -path.stat().st_size)[20:60]
    for n in range(8):
        replies = [f"```python\n{path.read_text()}\n```" for path in modules[5 * n : 5 * n + 4]]
        made = parts([*replies, RIGHT])
        assert drive.start(f"t{n}", job(rejection_cap=5), made, store).outcome == "passed"
    assert size_of(store) / 8 > 40_000
    prune(store)
    assert size_of(store) / 8 <= 30_000


def test_a_paused_run_goes_on_after_pruning(store):
    paused(store, "p")
    finished(store, "a")
    rows = count(store, "checkpoints", "p")
    prune(store, keep_bytes=0)
    assert count(store, "checkpoints", "p") == rows
    made = parts([RIGHT], owner=ScriptedOwner(["return right"]))
    assert drive.resume("p", made, store).outcome == "passed"


def test_a_killed_run_goes_on_after_pruning(store):
    from tests.fakes.killable import child, drive_on

    process = multiprocessing.get_context("forkserver").Process(
        target=child, args=(str(store.root), "k", 0.1)
    )
    process.start()
    while (
        not store.trace_path("k").exists() or b"verdict" not in store.trace_path("k").read_bytes()
    ):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    process.close()
    done = prune(store, keep_bytes=0)
    assert [cut.kind for cut in done.cuts] == ["resumable"]
    assert drive_on(str(store.root), "k", 0.0) == "passed"


def test_orphans_go(store):
    paused(store, "p")
    finished(store, "gone")
    with closing(sqlite3.connect(store.checkpoints)) as conn, conn:
        conn.execute("INSERT INTO texts VALUES ('p', 'no-step-names-me', x'00')")
        conn.execute(
            "INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, "
            "type, value) SELECT thread_id, checkpoint_ns, 'no-such-step', task_id, idx, channel, "
            "type, value FROM writes WHERE thread_id = 'p'"
        )
    import shutil

    shutil.rmtree(store.folder("gone"))
    done = prune(store)
    assert {cut.thread: cut.kind for cut in done.cuts} == {"p": "resumable", "gone": "foreign"}
    assert not any(count(store, t, "gone") for t in ("checkpoints", "writes", "texts"))
    assert not store.folder("gone").exists()
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        assert not conn.execute("SELECT 1 FROM texts WHERE hash LIKE 'no-%'").fetchone()
        assert not conn.execute("SELECT 1 FROM writes WHERE checkpoint_id LIKE 'no-%'").fetchone()
    made = parts([RIGHT], owner=ScriptedOwner(["return right"]))
    assert drive.resume("p", made, store).outcome == "passed"


def test_a_driven_run_is_left_alone(store):
    finished(store, "a")
    before = count(store, "checkpoints", "a")
    with store.lock("a"):
        done = prune(store)
        assert done.cuts[0].kind == "driven"
        assert "driven" in done.note
        assert count(store, "checkpoints", "a") == before
    prune(store)
    assert count(store, "checkpoints", "a") == 1


def test_a_size_budget_takes_the_oldest_ended_runs_whole(store):
    for name in ("a", "b", "c"):
        finished(store, name)
        time.sleep(0.002)
    paused(store, "p")
    planned = plan(store)
    by_name = {cut.thread: cut.left_bytes for cut in planned.cuts}
    room = by_name["p"] + by_name["c"] + 10
    prune(store, keep_bytes=room)
    assert [count(store, "checkpoints", name) for name in "abc"] == [0, 0, 1]
    # Without steps it must not begin again: its record says how it ended.
    made = parts([RIGHT])
    with pytest.raises(ThreadError, match="has ended"):
        drive.resume("a", made, store)
    assert not made.models["lead"].asked
    assert drive.standing(store, "a").outcome == "passed"


def test_an_unreadable_run_is_left_alone_and_named(store):
    finished(store, "a")
    paused(store, "p")
    change(store, "UPDATE checkpoints SET checkpoint = x'00' WHERE thread_id = 'p'")
    rows = count(store, "checkpoints", "p")
    kinds = {cut.thread: cut.kind for cut in prune(store).cuts}
    assert kinds == {"a": "finished", "p": "unreadable"}
    assert count(store, "checkpoints", "p") == rows


def test_a_name_that_is_no_thread_leads_nowhere(store):
    finished(store, "a")
    change(store, "UPDATE checkpoints SET thread_id = '../../etc' WHERE rowid = 1")
    kinds = {cut.thread: cut.kind for cut in prune(store).cuts}
    assert kinds["../../etc"] == "foreign"


def test_no_database_and_no_database_of_ours(store):
    assert plan(store).cuts == ()
    store.root.mkdir()
    store.checkpoints.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreFault, match="not a database"):
        prune(store)


def test_a_writer_elsewhere_is_waited_for(store):
    finished(store, "a")
    holder = held(store, 2)
    prune(store)
    holder.join()
    assert count(store, "checkpoints", "a") == 1


def test_a_kill_in_the_middle_leaves_whole_threads(store):
    for n in range(3):
        finished(store, f"t{n}")
    with closing(sqlite3.connect(store.checkpoints, isolation_level=None)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        conn.execute("DELETE FROM checkpoints WHERE thread_id = 't0'")
    assert count(store, "checkpoints", "t0") > 1
    prune(store)
    assert [count(store, "checkpoints", f"t{n}") for n in range(3)] == [1, 1, 1]
