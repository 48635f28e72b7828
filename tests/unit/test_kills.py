"""SIGKILL at any moment: the next process goes on to the same record."""

import os
import random
import signal
import sys
import time

import pytest

from agent_loop.store import RunStore, read_trace
from tests.fakes.killable import child, drive_on, struck_child
from tests.fakes.kills import asked_again, bare, context, kill_until

KILLS = 12

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")


def test_killed_runs_go_on_to_the_record_of_an_unkilled_one(tmp_path):
    found = kill_until(tmp_path, KILLS, seed=random.randrange(1 << 30))
    assert found.hits >= KILLS
    assert found.different == []
    assert found.asked_again == []
    assert found.integrity == "ok"
    whole = RunStore(tmp_path).read_record("whole")
    assert (whole["owner_calls"], whole["saved"]["checks"], whole["escalated"]) == (1, 1, False)


def test_a_kill_right_after_any_event(tmp_path):
    """Every event boundary has its turn in some run of CI; `ALL_EVENTS=1` tries them all."""
    store = RunStore(tmp_path)
    assert drive_on(str(tmp_path), "whole", 0.0) == "passed"
    whole, count = store.read_record("whole"), len(list(read_trace(store.trace_path("whole"))))
    every = range(1, count + 1)
    chosen = every if os.environ.get("ALL_EVENTS") else random.sample(every, 8)
    for n in chosen:
        process = context().Process(target=struck_child, args=(str(tmp_path), f"e{n}", n))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        process.close()
        assert drive_on(str(tmp_path), f"e{n}", 0.0) == "passed", n
        assert bare(store.read_record(f"e{n}")) == bare(whole), n
        assert not asked_again(store.trace_path(f"e{n}")), n


def test_a_repeated_model_call_is_marked_in_the_trace(tmp_path):
    """A kill in the worker's model call: the next process makes it again and says so."""
    process = context().Process(target=child, args=(str(tmp_path), "a", 2.0))
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
