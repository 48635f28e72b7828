"""Cases that users of such pages reported: proxies, huge traces, a database that is held."""

import json
import socket
import sqlite3
import sys
import threading
import time
from contextlib import closing

import pytest

from agent_loop.dashboard.main import guarded, main
from agent_loop.graph.drive import start
from agent_loop.ports import SystemClock
from agent_loop.store import RunStore
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.sse import HEARTBEAT_S, SEND_TIMEOUT_S, stream
from tests.fakes.dropped import job_server, program
from tests.fakes.runs import RIGHT, job, parts, wrong
from tests.fakes.webdoor import opened


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = RunStore(tmp_path_factory.mktemp("runs"))
    start("one", job(), parts(worker=[wrong(1), RIGHT]), made)
    start("paused", job(rejection_cap=1), parts(worker=[wrong(1)]), made)
    return made


@pytest.fixture(scope="module")
def door(store):
    with opened(lambda launch: guarded(store.root, launch)) as made:
        yield made


# --- a stream behind a proxy


def test_a_stream_asks_not_to_be_held_back(door):
    with (
        door.client(headers={"Accept-Encoding": "gzip, br"}) as client,
        client.stream("GET", "/api/runs/one/stream") as heard,
    ):
        assert heard.headers["content-type"].startswith("text/event-stream")
        assert heard.headers["cache-control"] == "no-store, no-transform"
        assert heard.headers["x-accel-buffering"] == "no"
        assert heard.headers["content-encoding"] == "identity"
        first = next(heard.iter_raw())
        assert len(first) > 2_048  # small buffers on the way are full
        assert b"retry: " in first


def test_a_small_buffer_on_the_way_does_not_hold_the_first_event(door):
    """A reader that hands on full pieces of 1,024 bytes only, as a proxy does."""
    held, passed = b"", b""
    with door.client() as client, client.stream("GET", "/api/runs/one/stream") as heard:
        for raw in heard.iter_raw():
            held += raw
            while len(held) >= 1_024:
                passed, held = passed + held[:1_024], held[1_024:]
            if b"event: event" in passed:
                break
    assert b"event: state" in passed


def test_silence_is_broken_by_a_heartbeat_and_a_stalled_reader_is_dropped():
    async def nothing():
        yield b""

    answer = stream(nothing())
    assert answer.ping_interval == HEARTBEAT_S == 15
    assert answer.send_timeout == SEND_TIMEOUT_S == 10.0


@pytest.mark.skipif(sys.platform != "linux", reason="an option of Linux")
def test_what_waits_for_a_stalled_reader_is_dropped(door):
    """Ending the answer is not enough: its last piece would wait in the socket for ever."""
    listening = door.server.servers[0].sockets[0]
    waits_ms = listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    assert SEND_TIMEOUT_S * 1_000 < waits_ms <= 20_000


def test_a_connection_cut_in_the_middle_goes_on_where_it_was(door, store):
    total = store.trace_path("one").read_bytes().count(b"\n")
    seen, last = [], ""
    for _ in range(total):
        headers = {"Last-Event-ID": last} if last else {}
        with (
            door.client() as client,
            client.stream("GET", "/api/runs/one/stream", headers=headers) as heard,
        ):
            got = 0
            for line in heard.iter_lines():
                if line.startswith("id: "):
                    last = line[4:]
                    seen.append(int(last.split(".")[1]))
                    got += 1
                if got == 7 or len(seen) == total:
                    break
        if len(seen) == total:
            break
    assert seen == list(range(1, total + 1))


def test_a_reader_that_never_reads_holds_nobody_up(door):
    """Twenty of them, and the page is still quick: nothing is queued for anyone."""
    clients = [door.client() for _ in range(20)]
    streams = [client.stream("GET", "/api/runs/one/stream") for client in clients]
    for one in streams:
        one.__enter__()
    with door.client() as client:
        for _ in range(20):
            assert client.get("/api/runs").status_code == 200
    for one, client in zip(streams, clients, strict=True):
        one.__exit__(None, None, None)
        client.close()


# --- a huge trace


def test_a_trace_beyond_fifty_megabytes_is_exported_shortened(tmp_path):
    folder = tmp_path / "large"
    folder.mkdir()
    prompt = "word " * 30_000
    with (folder / "trace.jsonl").open("w") as file:
        for n in range(1, 401):
            head = {"v": 1, "n": n, "at": "2026-01-01T00:00:00Z", "thread": "large"}
            message = {"role": "user", "content": prompt}
            fields = {"kind": "model_asked", "node": "worker", "role": "worker", "lap": n}
            file.write(json.dumps({**head, **fields, "messages": [message]}) + "\n")
        file.write('{"v": 1, "n": 401, "at"')
    with opened(lambda launch: guarded(tmp_path, launch)) as door, door.client() as client:
        run = client.get("/api/runs/large").json()
        assert run["trace"]["events"] == 400
        assert run["trace"]["torn"]
        marked = client.get("/api/runs/large/export.md").text
        assert "shortened" in marked
        assert len(marked) < 2_000_000
        seen, after = [], 0
        while after is not None:  # a busy machine answers in several slices
            got = client.get(f"/api/runs/large/events?limit=1000&chars=200&after={after}")
            assert len(got.content) < 500_000
            seen += [event["seq"] for event in got.json()["events"]]
            after = got.json()["next"]
        assert seen == list(range(1, 401))
        figures = client.get("/api/runs/large/figures").json()
        assert figures["events"] <= 400
        whole = client.get("/api/runs/large/events/400/text?pointer=/messages/0/content")
        assert whole.text == prompt


# --- two writers, one database


def test_pages_are_shown_while_somebody_holds_the_database(store, door):
    """The dashboard never opens it: neither waits for the other."""
    with closing(sqlite3.connect(store.checkpoints)) as held:
        held.execute("BEGIN EXCLUSIVE")
        with door.client() as client:
            began = time.monotonic()
            assert client.get("/api/runs/paused").json()["pause"]["nonce"]
            assert client.get("/api/runs").json()["total"] == 2
            assert time.monotonic() - began < 20
        held.rollback()


def test_a_read_only_folder_is_shown(store, tmp_path):
    desk = Desk(store.root, monotonic=time.monotonic)
    assert desk.run("one")["row"]["status"] == "passed"
    before = sorted(path.name for path in store.root.rglob("*"))
    desk.rows.all(fresh=True)
    desk.charts.of("one")
    assert sorted(path.name for path in store.root.rglob("*")) == before


def test_a_run_that_is_driven_elsewhere_is_not_started_twice(tmp_path):
    with job_server(tmp_path) as door, program(door) as client:
        store = RunStore(tmp_path / "runs")
        start("mine", job(rejection_cap=1), parts(worker=[wrong(1)]), store)
        with store.lock("mine", SystemClock()):
            assert client.get("/api/runs/mine").json()["row"]["live"]["driver"]
            answer = client.post("/api/jobs", json={"resume": "mine"})
            assert answer.status_code == 409
            assert "driven by" in answer.json()["error"]["message"]
        assert client.get("/api/runs/mine").json()["row"]["live"] is None
        start("over", job(), parts(worker=[RIGHT]), store)
        assert client.post("/api/jobs", json={"resume": "over"}).status_code == 409
        body = {"root": "tasks-1", "task": "quick.yaml", "thread": "mine"}
        assert client.post("/api/jobs", json=body).status_code in (409, 422)


def test_a_run_is_watched_while_it_runs(tmp_path):
    """Live: its node, its pause, and its end, from lock and trace alone."""
    store, asked, answer = RunStore(tmp_path), threading.Event(), threading.Event()

    class Owner:
        def answer(self, call):
            asked.set()
            answer.wait(60)
            return

    desk = Desk(tmp_path, monotonic=time.monotonic)
    thread = threading.Thread(
        target=start,
        args=("live", job(rejection_cap=1), parts(worker=[wrong(1)], owner=Owner()), store),
    )
    thread.start()
    try:
        assert asked.wait(60)
        run = desk.run("live")
        assert run["row"]["status"] == "paused"
        assert run["row"]["live"]["node"] == "reviewer"
        assert run["pause"]["tests_passed"] is False
        assert run["pause"]["rejections"] == 1
        assert "process" in run["pause"]["driver"]
    finally:
        answer.set()
        thread.join()
    assert desk.run("live")["pause"]["driver"] is None
    assert desk.run("live")["row"]["status"] == "paused"


# --- the door


@pytest.mark.parametrize(
    ("argv", "word"),
    [(["--runs", "/etc/passwd"], "not a folder"), (["--port", "1"], None)],
)
def test_what_cannot_be_shown_is_named(argv, word, capsys):
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        if word is None:
            argv, word = ["--port", str(taken.getsockname()[1])], "cannot be used"
        assert main([*argv, "--no-open"], {}) == 2
    assert word in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["--port", "70000"], ["--port", "-1"], ["--nonsense"]])
def test_bad_options_end_with_two(argv, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv, {})
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
