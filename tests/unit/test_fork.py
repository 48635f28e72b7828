"""A new run from an old step: the old thread stays as it was, byte for byte."""

import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

from agent_loop.errors import ThreadError
from agent_loop.graph import drive
from agent_loop.graph.fork import Fork, past_of, start_fork, steps
from agent_loop.store import RunStore, read_trace
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong

LONG = "# a line of a long answer that has to stand apart\n" * 20


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def long_wrong(n):
    return f"```python\n{LONG}x = {n}\n```"


def paused(store, thread="old"):
    made = parts([long_wrong(1), long_wrong(2), long_wrong(3)], "REJECTED " + LONG)
    assert drive.start(thread, job(), made, store).outcome == "paused"


def rows_of(store, thread):
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        found = [
            conn.execute(f"SELECT * FROM {table} WHERE thread_id = ? ORDER BY 1, 2, 3", (thread,))
            .fetchall()
            for table in ("checkpoints", "writes", "texts")
        ]  # fmt: skip
    return hashlib.sha256(repr(found).encode()).hexdigest()


def files_of(store, thread):
    return {p.name: p.read_bytes() for p in store.folder(thread).iterdir() if p.is_file()}


def forked(store, step, made, new="new", **more):
    fork = Fork(origin="old", past=past_of(store, "old", step), **more)
    return start_fork(fork, new, made, store)


def before(store, node, lap):
    return next(p.step for p in steps(store, "old") if (p.next, p.lap) == (node, lap))


def test_steps_name_every_node_that_ran(store):
    paused(store)
    names = [(p.next, p.lap) for p in steps(store, "old")]
    lap = [("check", 1), ("reviewer", 1), ("worker", 1)]
    assert names[:5] == [("lead", 0), ("worker", 0), *lap]
    assert names[-1] == ("ask_owner", 3)
    assert [p.step for p in steps(store, "old")] == sorted({p.step for p in steps(store, "old")})


@pytest.mark.parametrize("node", ["worker", "check", "reviewer"])
def test_a_fork_goes_on_from_any_node_and_leaves_the_old_run_alone(store, node):
    paused(store)
    rows, files, record = rows_of(store, "old"), files_of(store, "old"), store.read_record("old")
    lap = 1 if node == "worker" else 2
    made = parts([RIGHT, RIGHT], "REJECTED" if node != "worker" else ())
    result = forked(store, before(store, node, lap), made)
    assert result.outcome == ("passed" if node == "worker" else "paused")
    assert rows_of(store, "old") == rows
    assert files_of(store, "old") == files
    assert store.read_record("old") == record
    assert result.record["forked"].startswith("old@")
    assert json.loads((store.folder("new") / "job.json").read_text())["forked"]


def test_the_fork_has_texts_of_its_own(store):
    """So that pruning or losing the old thread costs the new one nothing."""
    paused(store)
    made = parts([wrong(7)] * 3, "REJECTED")
    assert forked(store, before(store, "worker", 2), made).outcome == "paused"
    with closing(sqlite3.connect(store.checkpoints)) as conn, conn:
        for table in ("checkpoints", "writes", "texts"):
            conn.execute(f"DELETE FROM {table} WHERE thread_id = 'old'")
    made = parts([RIGHT], owner=ScriptedOwner(["do it right"]))
    assert drive.resume("new", made, store).outcome == "passed"


def test_guidance_begins_a_new_turn_with_the_worker(store):
    paused(store)
    made = parts([wrong(5), RIGHT])
    result = forked(store, before(store, "check", 3), made, guidance="return the word right")
    assert result.outcome == "passed"
    prompt = "\n".join(m.content for m in made.models["worker"].asked[0])
    assert "return the word right" in prompt
    assert result.record["rejections"] == 1
    assert not made.models["lead"].asked


def test_guidance_reopens_a_run_that_has_ended(store):
    drive.start("old", job(), parts([RIGHT]), store)
    last = steps(store, "old")[-1]
    assert last.outcome == "passed"
    with pytest.raises(ThreadError, match="nothing is left to do"):
        forked(store, last.step, parts([RIGHT]))
    result = forked(store, last.step, parts([RIGHT]), guidance="again, please")
    assert result.outcome == "passed"
    assert store.read_record("old")["outcome"] == "passed"


def test_a_pause_is_asked_again_in_the_fork(store):
    paused(store)
    made = parts([RIGHT], owner=ScriptedOwner(["stop"]))
    assert forked(store, before(store, "ask_owner", 3), made).outcome == "stopped"
    assert len(made.owner.asked) == 1
    assert made.owner.asked[0].thread == "new"
    assert drive.standing(store, "old").next == "ask_owner"


def test_what_cannot_be_forked_is_said(store):
    paused(store)
    with pytest.raises(ThreadError, match=r"no step 99\. Its steps are 0: before lead"):
        past_of(store, "old", 99)
    with pytest.raises(ThreadError, match="unknown"):
        past_of(store, "nobody", 1)
    with pytest.raises(ThreadError, match="before the first lap"):
        forked(store, 0, parts([RIGHT]), guidance="x")
    with pytest.raises(ThreadError, match="there already"):
        forked(store, 2, parts([RIGHT]), new="old")


def test_a_fork_can_be_forked_and_told_apart_in_the_trace(store):
    paused(store)
    forked(store, before(store, "worker", 1), parts([wrong(1)] * 3, "REJECTED"), new="new")
    again = Fork(origin="new", past=steps(store, "new")[0])
    assert start_fork(again, "newer", parts([RIGHT]), store).outcome == "passed"
    first = next(iter(read_trace(store.trace_path("newer"))))
    assert first["forked"].startswith("new@")
