"""SIGKILL at any moment: the next process goes on to the same record."""

import multiprocessing
import random
import sqlite3
import sys
import time

import pytest

from agent_loop.errors import ThreadError
from agent_loop.graph.record import TIMES
from agent_loop.store import RunStore, read_trace
from tests.fakes.killable import child, drive_on

DELAY_S = 0.02
KILLS = 12

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")


def bare(value):
    """A record without what differs between two runs of one script."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if k not in TIMES and k != "thread"}
    return [bare(item) for item in value] if isinstance(value, list) else value


def kill_at_random(context, root, thread, longest_s, rng):
    """One process, killed at a random moment of the run; False: it had ended before."""
    process = context.Process(target=child, args=(root, thread, DELAY_S))
    process.start()
    process.join(rng.uniform(0.0, longest_s))
    alive = process.is_alive()
    process.kill()
    process.join()
    process.close()
    return alive


def answered_and_asked_again(path):
    answered = set()
    for event in read_trace(path):
        if event["kind"] == "owner_replied":
            answered.add(event["nonce"])
        if event["kind"] == "paused" and event["nonce"] in answered:
            return True
    return False


def kill_until(root, kills, seed, longest_s=None):
    """(kills that hit, records of the killed runs, record of the unkilled run)"""
    rng = random.Random(seed)
    store = RunStore(root)
    begun = time.monotonic()
    assert drive_on(str(root), "whole", DELAY_S) == "passed"
    longest_s = longest_s or 1.3 * (time.monotonic() - begun)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fakes.killable"])
    hits, threads = 0, []
    while hits < kills:
        thread = f"k{len(threads)}"
        threads.append(thread)
        for _ in range(3):  # the same run may be killed several times
            if not kill_at_random(context, str(root), thread, longest_s, rng):
                break
            hits += 1
        finish(str(root), thread)
    return hits, [store.read_record(t) for t in threads], store.read_record("whole")


def finish(root, thread):
    try:
        said = drive_on(root, thread, DELAY_S)
    except ThreadError as error:
        said = str(error)
    # Or the kill came after the last write of all.
    assert said == "passed" or "has ended (passed)" in said


def test_killed_runs_go_on_to_the_record_of_an_unkilled_one(tmp_path):
    hits, killed, whole = kill_until(tmp_path, KILLS, seed=random.randrange(1 << 30))
    assert hits >= KILLS
    assert whole["owner_calls"] == 1
    assert whole["saved"]["checks"] == 1
    for record in killed:
        assert bare(record) == bare(whole)
        assert not answered_and_asked_again(tmp_path / record["thread"] / "trace.jsonl")
    with sqlite3.connect(tmp_path / "checkpoints.sqlite") as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    conn.close()


def test_a_repeated_model_call_is_marked_in_the_trace(tmp_path):
    """A kill in the worker's model call: the next process makes it again and says so."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fakes.killable"])
    process = context.Process(target=child, args=(str(tmp_path), "a", 2.0))
    process.start()
    trace = tmp_path / "a" / "trace.jsonl"
    while not any(e["kind"] == "model_asked" and e["node"] == "worker" for e in read_trace(trace)):
        time.sleep(0.05)
    process.kill()
    process.join()
    process.close()
    assert drive_on(str(tmp_path), "a", 0.0) == "passed"
    worker = [e for e in read_trace(trace) if e["kind"] == "node_started" and e["node"] == "worker"]
    assert [e["again"] for e in worker[:3]] == [False, True, False]
    numbers = [e["n"] for e in read_trace(trace)]
    assert numbers == list(range(1, len(numbers) + 1))
