"""Attempts on a Dask cluster: the report of one machine, also when a worker dies in the middle."""

import sys
import threading
import time

import pytest

from agent_loop.errors import UserError
from agent_loop.store import RunStore, read_trace
from tests.fakes.dask_cluster import cluster, free_port
from tests.fakes.evaluated import (
    bare_report,
    evaluate,
    keys_of,
    make_suite,
    report_of,
)

pytest.importorskip("distributed", reason="the extra `scale` is not installed")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="kills by signal"),
    # Dask's own sockets and event loops, closed by its own threads.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
FAST = ("--controls", "0")


def test_a_worker_killed_in_the_middle_costs_no_attempt_and_doubles_none(tmp_path):
    whole = tmp_path / "whole"
    make_suite(whole)
    evaluate(whole, "--attempts", "2", *FAST)
    for n in range(5):  # the worker may just have ended its attempt when the kill comes
        root = tmp_path / f"killed-{n}"
        code, said = killed_in_the_middle(root)
        report = report_of(root)
        if "the environment failed" in said or code != 0:
            break
    assert code == 0, said
    assert ": 2 attempts at a time" in said
    assert keys_of(report) == [(name, n) for name in "abcd" for n in (1, 2)]
    assert all(row.passed for row in report.attempts)
    again = [row for row in report.attempts if row.tries > 1]
    # An attempt that has just ended can be lost with the one that has begun: its answer was there.
    assert [row.tries for row in again] in ([2], [2, 2]), said
    assert 1 <= said.count("the environment failed") <= len(again)
    mine, theirs = bare_report(root)["attempts"], bare_report(whole)["attempts"]
    assert [{**row, "tries": 1} for row in mine] == theirs


def killed_in_the_middle(root):
    """What an eval says of which one of two workers was killed."""
    make_suite(root, delay_s=0.15)
    with cluster(2, folder=root) as (url, workers):
        killed = threading.Thread(target=kill_at_work, args=(root, workers[0]))
        killed.start()
        given = evaluate(root, "--attempts", "2", "--executor", url, *FAST)
        killed.join()
        assert workers[0].poll() is not None
    return given


def kill_at_work(root, worker):
    """Once two attempts have their rows and this worker is at another one."""
    end = time.monotonic() + 120
    store = RunStore(root / "runs")
    while time.monotonic() < end and not (finished(root) >= 2 and at_work(store, worker)):
        time.sleep(0.02)
    worker.kill()


def finished(root):
    if not list((root / "runs" / "evals").glob("x-*.json")):
        return 0
    return len([row for row in report_of(root).attempts if row.status == "finished"])


def at_work(store, worker):
    """Whether it is in a model call, which takes a while."""
    for path in store.root.glob("*/trace.jsonl"):
        if f"process {worker.pid} " in f"{store.driver(path.parent.name) or ''} ":
            events = list(read_trace(path))
            return bool(events) and events[-1]["kind"] == "model_asked"
    return False


def test_a_scheduler_that_tries_again_by_itself_is_refused(tmp_path):
    make_suite(tmp_path)
    with (
        cluster(1, allowed_failures="3", folder=tmp_path) as (url, _),
        pytest.raises(UserError, match="ALLOWED_FAILURES=0"),
    ):
        evaluate(tmp_path, "--attempts", "1", "--executor", url, *FAST)
    assert report_of(tmp_path).attempts == ()


def test_nobody_there(tmp_path, monkeypatch):
    make_suite(tmp_path)
    monkeypatch.setattr("agent_loop.evals.cluster.CONNECT_S", 1)
    url = f"dask://127.0.0.1:{free_port()}"
    with pytest.raises(UserError, match="nobody answers"):
        evaluate(tmp_path, "--attempts", "1", "--executor", url, *FAST)
