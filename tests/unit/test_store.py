"""Records, trace, mailbox, lock."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from agent_loop.errors import StoreFault, ThreadError
from agent_loop.ports import OwnerCall, SystemClock
from agent_loop.store import MailboxOwner, RunStore, Summary, Tee, read_trace, reply_from_text
from agent_loop.store.mailbox import BadReply
from agent_loop.store.trace import last_event

CLOCK = SystemClock()
# In two pieces, so that no scanner takes this file for a leak.
KEY = "sk-ant-" + "a1b2c3d4e5f6g7h8i9j0k1l2"


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def summary(thread="a", **more):
    fields = {
        "thread": thread, "kind": "code", "task": "t", "outcome": "passed", "laps": 1,
        "started": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:00:01Z", "look": False,
        "input_tokens": 1, "output_tokens": 2, "seconds": 0.5,
    }  # fmt: skip
    return Summary(**{**fields, **more})


# --- records


def test_a_record_comes_back_as_it_was_written_but_for_keys(store):
    record = {"outcome": "passed", "answer": f"x = '{KEY}'", "n": [1, None, True, {"é": "\ud800"}]}
    store.write_record("a", record, summary())
    back = store.read_record("a")
    assert back["version"] == 1
    assert back["summary"]["thread"] == "a"
    assert KEY not in store.record_path("a").read_text()
    assert back["n"] == [1, None, True, {"é": "?"}]
    assert store.list() == [summary()]


def test_an_empty_record_is_valid_json(store):
    store.write_record("a", {}, summary())
    assert set(json.loads(store.record_path("a").read_text())) == {"version", "summary"}


def test_a_long_task_name_does_not_push_the_summary_out(store):
    store.write_record("a", {"x": 1}, summary(task='"\n' * 5_000))
    assert store.list()[0].task.startswith('"\n')


def test_foreign_and_torn_files_are_passed_over(store):
    store.write_record("a", {}, summary())
    for name, raw in {"b": b"", "c": b"{", "d": b"[1]", "e": b"\xff\xfe", "f": b'{"summary": 1}',
                      "g": b"[" * 100_000}.items():  # fmt: skip
        (store.root / f"{name}.json").write_bytes(raw)
    (store.root / "h.json").mkdir()
    assert [s.thread for s in store.list()] == ["a"]
    for name in "bcdefgh":
        with pytest.raises(ThreadError):
            store.read_record(name)


def test_unknown_and_bad_threads(store):
    with pytest.raises(ThreadError, match="unknown"):
        store.read_record("nobody")
    for name in ("", "..", "a/b", "a\0", "x" * 200):
        with pytest.raises(ThreadError):
            store.folder(name)
    assert store.list() == []


def test_the_newest_run_comes_first(store):
    for n in (2, 1, 3):
        store.write_record(f"t{n}", {}, summary(f"t{n}", started=f"2026-01-0{n}T00:00:00Z"))
    assert [s.thread for s in store.list()] == ["t3", "t2", "t1"]


def test_two_thousand_runs_are_listed_without_reading_them_whole(store):
    """The bytes say it: a list reads at most 4 kB of each record (speed is in benchmarks)."""
    store.root.mkdir(parents=True)
    store.write_record("t0", {"answer": "x" * 50_000}, summary("t0"))
    raw = store.record_path("t0").read_bytes()
    for n in range(1, 2_000):
        (store.root / f"t{n}.json").write_bytes(raw.replace(b'"t0"', f'"t{n}"'.encode())[:5_000])
    assert len(store.list()) == 2_000


def test_a_list_sees_records_that_changed_and_went(store):
    for n in range(3):
        store.write_record(f"t{n}", {}, summary(f"t{n}", outcome=None))
    assert [s.outcome for s in store.list()] == [None] * 3
    store.write_record("t1", {}, summary("t1", outcome="capped"))
    store.record_path("t2").unlink()
    assert {s.thread: s.outcome for s in store.list()} == {"t0": None, "t1": "capped"}


def test_a_disk_that_refuses_is_a_fault(store):
    store.root.parent.mkdir(exist_ok=True)
    store.root.write_text("a file where the folder should be")
    with pytest.raises(StoreFault, match="cannot be written"):
        store.write_record("a", {}, summary())
    with pytest.raises(StoreFault, match="cannot be read"):
        store.trace("a", CLOCK).emit("review", {})
    with pytest.raises(StoreFault, match="lock cannot be opened"), store.lock("a"):
        pass


# --- trace


def test_events_are_numbered_through_resumes_and_keys_are_taken_out(store):
    store.trace("a", CLOCK).emit("review", {"lap": 1, "text": f"use {KEY}", "deep": [{"k": KEY}]})
    store.trace("a", CLOCK).emit("run_ended", {"outcome": "passed"})
    found = list(read_trace(store.trace_path("a")))
    assert [(e["v"], e["n"], e["thread"], e["kind"]) for e in found] == [
        (1, 1, "a", "review"),
        (1, 2, "a", "run_ended"),
    ]
    assert KEY not in store.trace_path("a").read_text()


def test_a_torn_last_line_is_passed_over_and_closed(store):
    trace = store.trace("a", CLOCK)
    trace.emit("review", {"lap": 1})
    trace.emit("review", {"lap": 2})
    path = store.trace_path("a")
    path.write_bytes(path.read_bytes()[:-20])  # the kill came in the middle of a write
    assert [e["lap"] for e in read_trace(path)] == [1]
    store.trace("a", CLOCK).emit("review", {"lap": 3})
    assert [(e["n"], e["lap"]) for e in read_trace(path)] == [(1, 1), (2, 3)]


def test_streamed_pieces_stay_out_and_names_cannot_be_taken(store):
    trace = store.trace("a", CLOCK)
    trace.emit("model_text", {"text": "x"})
    assert not store.trace_path("a").exists()
    with pytest.raises(ValueError, match="'kind'"):
        trace.emit("run_started", {"kind": "code"})


def test_the_last_event_of_a_kind_behind_a_very_long_line(store):
    trace = store.trace("a", CLOCK)
    trace.emit("node_started", {"node": "lead"})
    trace.emit("review", {"text": "é" * 400_000})
    path = store.trace_path("a")
    assert last_event(path)["kind"] == "review"
    assert last_event(path, ("node_started",))["node"] == "lead"
    assert last_event(path, ("paused",)) is None
    assert store.trace("a", CLOCK)._n == 2


def test_a_tee_says_it_to_all(store):
    heard = []

    class Ear:
        def emit(self, kind, fields):
            heard.append(kind)

    Tee(Ear(), Ear()).emit("review", {})
    assert heard == ["review", "review"]


# --- mailbox


def leave(store, **fields):
    store.folder("a").mkdir(parents=True, exist_ok=True)
    store.mailbox("a").path.write_text(json.dumps(fields))


def test_a_good_answer_is_used_once(store):
    leave(store, nonce="n1", kind="guidance", text="use a loop")
    box = store.mailbox("a")
    assert box.take("n1").text == "use a loop"
    assert not box.path.exists()
    assert box.take("n1") is None
    assert box.answered("n1").source == "mailbox"
    assert box.answered("n2") is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"nonce": "old", "kind": "stop", "text": "stop"}, "another pause"),
        ({"kind": "stop", "text": "stop"}, "another pause"),
        ({"nonce": "n1", "kind": "go", "text": "x"}, "'kind' must be"),
        ({"nonce": "n1", "kind": "guidance"}, "'text' is missing"),
        ({"nonce": "n1", "kind": "guidance", "text": 5}, "'text' is missing"),
        ({"nonce": "n1", "kind": "guidance", "text": " "}, "empty"),
        ({"nonce": "n1", "kind": "guidance", "text": "x" * 2_001}, "2001 characters"),
        ({"nonce": "n1", "kind": "guidance", "text": "a\x1b[31mb"}, "U+001B"),
        ({"nonce": "n1", "kind": "guidance", "text": "a\u202eb"}, "U+202E"),
        ({"nonce": "n1", "kind": "guidance", "text": "stop"}, "'kind' says guidance"),
        ({"nonce": "n1", "kind": "accept", "text": "Stop."}, "'kind' says accept"),
        ({"nonce": "n1", "kind": "stop", "text": "s" * 5_000}, "larger than 4096"),
    ],
)
def test_a_wrong_answer_is_moved_aside_with_the_reason(store, fields, reason):
    leave(store, **fields)
    box = store.mailbox("a")
    assert box.take("n1") is None
    assert not box.path.exists()
    aside = json.loads((store.folder("a") / "owner_reply.refused.json").read_text())
    assert reason in aside["reason"]
    assert box.answered("n1") is None


@pytest.mark.parametrize("raw", [b"", b"\xff", b"[1]", b"{", b"[" * 4_000, b"null"])
def test_what_is_no_answer_at_all_is_moved_aside(store, raw):
    store.folder("a").mkdir(parents=True)
    store.mailbox("a").path.write_bytes(raw)
    assert store.mailbox("a").take("n1") is None
    assert not store.mailbox("a").path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and links")
def test_a_pipe_or_a_link_in_its_place_is_left_alone(store, tmp_path):
    store.folder("a").mkdir(parents=True)
    path = store.mailbox("a").path
    os.mkfifo(path)
    assert store.mailbox("a").take("n1") is None
    path.unlink()
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"nonce": "n1", "kind": "stop", "text": "stop"}))
    path.symlink_to(other)
    assert store.mailbox("a").take("n1") is None
    assert other.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and links")
@pytest.mark.parametrize("name", ["owner_reply.json", "answered.json"])
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "endless", "deep"])
def test_what_is_no_plain_file_holds_nobody_up(store, tmp_path, name, kind) -> None:
    path = store.mailbox("a").path.with_name(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "deep":
        path.write_text("[" * 32_000)
    else:
        path.symlink_to("/dev/zero" if kind == "endless" else tmp_path / "nowhere")
    assert store.mailbox("a").take("n1") is None
    assert store.mailbox("a").answered("n1") is None


def test_a_line_nested_too_deep_is_passed_over(store, tmp_path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("[" * 100_000 + '\n{"n": 1, "kind": "x"}\n')
    assert [event["kind"] for event in read_trace(path)] == ["x"]


def test_an_answer_kept_before_a_kill_takes_its_twin_out_of_the_mailbox(store):
    leave(store, nonce="n1", kind="stop", text="stop")
    box = store.mailbox("a")
    box.keep("n1", reply_from_text("stop", "mailbox"))  # killed here: the file is still there
    assert box.answered("n1").kind == "stop"
    assert not box.path.exists()


def test_a_page_leaves_an_answer(store):
    box = store.mailbox("a")
    box.put("n1", "Please use a set.\nNot a list.")
    assert box.take("n1").text == "Please use a set.\nNot a list."
    with pytest.raises(BadReply, match="bytes"):
        box.put("n1", "語" * 1_900)
    with pytest.raises(BadReply):
        box.put("n1", "")


@pytest.mark.parametrize(
    ("text", "kind"),
    [("stop", "stop"), (" Stop!! ", "stop"), ("ACCEPT.", "accept"), ("stop it", "guidance"),
     ("accept the empty list too", "guidance"), ("stopp", "guidance")],
)  # fmt: skip
def test_only_the_very_word_ends_a_run(text, kind):
    assert reply_from_text(text, "terminal").kind == kind


def test_an_owner_waits_for_the_mailbox(store):
    call = OwnerCall(thread="a", nonce="n1", question="?", tests_passed=False, rejections=3)
    owner = MailboxOwner(store.mailbox("a"), CLOCK, wait_s=60.0, every_s=0.01)
    timer = threading.Timer(0.1, lambda: store.mailbox("a").put("n1", "accept"))
    timer.start()
    assert owner.answer(call).kind == "accept"
    timer.join()
    assert MailboxOwner(store.mailbox("a"), CLOCK, wait_s=0.05, every_s=0.01).answer(call) is None


# --- lock


def test_a_lock_holds_and_says_who(store):
    with store.lock("a"):
        assert f"process {os.getpid()}" in store.driver("a")
        with pytest.raises(ThreadError, match=f"process {os.getpid()}"), store.lock("a"):
            pass
        with store.lock("b"):
            pass
    assert store.driver("a") is None
    with store.lock("a"):
        pass


HOLD = """
import sys, time
from pathlib import Path
from agent_loop.store import RunStore
with RunStore(Path(sys.argv[1])).lock("a"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_dies_with_its_process(store, tmp_path):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.root)], stdout=subprocess.PIPE, cwd=root,
        env={**os.environ, "PYTHONPATH": root},
    ) as other:  # fmt: skip
        assert other.stdout.readline().strip() == b"held"
        with pytest.raises(ThreadError, match=f"process {other.pid}"), store.lock("a"):
            pass
        other.kill()
        other.wait()
    with store.lock("a"):
        pass


def test_looking_at_a_lock_does_not_cost_a_driver_its_turn(store):
    with store.lock("a"):
        pass
    stop = threading.Event()

    def look():
        while not stop.is_set():
            store.driver("a")
            time.sleep(0.001)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        for _ in range(50):
            with store.lock("a"):
                pass
    finally:
        stop.set()
        looker.join()
