"""The job server without a container: who may start what, the queue, its streams."""

import json
import threading
import time

import pytest

from agent_loop.errors import Cancelled
from agent_loop.graph.parts import Control, Limits
from agent_loop.ports import SystemClock
from agent_loop.server.hearing import PIECES, Hearing
from agent_loop.server.jobs import Jobs, Order
from agent_loop.server.main import api_key, main
from agent_loop.webguard import WebError
from tests.fakes.dropped import KEY, job_server, program


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    with job_server(tmp_path_factory.mktemp("server")) as made:
        yield made


@pytest.fixture
def client(door):
    with program(door) as made:
        yield made


def code(response):
    return response.status_code, response.json()["error"]["code"]


# --- the same guard, and a key for programs


def test_a_program_needs_the_key(door, client):
    assert client.get("/api/jobs").status_code == 200
    for given in ("Bearer x", f"Bearer {KEY}x", "Bearer", f"Basic {KEY}", KEY):
        with door.stranger() as stranger:
            answer = stranger.get("/api/jobs", headers={"Authorization": given})
            assert answer.status_code == 401, given


def test_the_key_does_not_open_from_another_page(door, client):
    assert code(client.get("/api/jobs", headers={"Origin": "http://evil.example"}))[0] == 403
    assert client.get("/api/jobs", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/api/jobs", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
    sent = {"Origin": door.base}
    assert client.get("/api/jobs", headers=sent).status_code == 200


def test_a_person_needs_cookie_origin_and_token(door):
    body = {"root": "tasks-1", "task": "nothing.yaml"}
    with door.client() as person:
        assert code(person.post("/api/jobs", json=body)) == (403, "origin")
        sent = {"Origin": door.base}
        assert code(person.post("/api/jobs", json=body, headers=sent)) == (403, "csrf")
        assert code(person.post("/api/jobs", json=body, headers=door.writing)) == (404, "task")


def test_a_program_cannot_answer_for_the_owner(client):
    body = {"nonce": "x", "kind": "stop"}
    assert code(client.post("/api/runs/any/reply", json=body)) == (403, "person")
    assert code(client.post("/api/login-link", json={})) == (403, "person")


def test_a_reply_has_four_kilobytes_here_too(client):
    big = {"nonce": "x", "kind": "guidance", "text": "x" * 5_000}
    assert code(client.post("/api/runs/any/reply", json=big)) == (413, "large")
    job = {"root": "tasks-1", "task": "x" * 5_000}
    assert client.post("/api/jobs", json=job).status_code == 422
    assert code(client.post("/api/jobs", json={"root": "x" * 70_000})) == (413, "large")


# --- only what is allowed


@pytest.mark.parametrize(
    "task", ["../script.yaml", "/etc/passwd", "..", ".", "", "quick.yaml/..", "none.yaml",
             "a\\b.yaml", "quick.yaml%00", "~/x.yaml", "C:x.yaml", "./../script.yaml",
             "link.yaml", "script.json"],
)  # fmt: skip
def test_no_path_leads_out_of_an_allowed_folder(client, tmp_path_factory, door, task):
    answer = client.post("/api/jobs", json={"root": "tasks-1", "task": task})
    assert answer.status_code == 404


def test_a_link_out_of_an_allowed_folder_leads_nowhere(tmp_path):
    with job_server(tmp_path) as door, program(door) as client:
        (tmp_path / "tasks" / "link.yaml").symlink_to(tmp_path / "script.yaml")
        body = {"root": "tasks-1", "task": "link.yaml"}
        assert code(client.post("/api/jobs", json=body)) == (404, "path")
        told = client.get("/api/jobs/options").json()
        link = next(one for one in told["tasks"] if one["path"] == "link.yaml")
        assert "link" in link["problem"]


def test_options_say_what_can_be_started(client):
    told = client.get("/api/jobs/options").json()
    names = {one["path"]: one["problem"] for one in told["tasks"]}
    assert names["quick.yaml"] is None
    assert "broken.yaml" in names["broken.yaml"]
    assert {"root": "projects-1", "path": "empty"} in told["projects"]


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 422), ({"root": "tasks-1"}, 422), ({"task": "quick.yaml"}, 422),
     ({"root": "tasks-1", "task": "quick.yaml", "resume": "x"}, 422),
     ({"root": "nowhere", "task": "quick.yaml"}, 404),
     ({"root": "projects-1", "task": "q.yaml"}, 404),
     ({"root": "projects-1", "project": "none", "instruction": "x"}, 404),
     ({"root": "projects-1", "project": "empty"}, 422),
     ({"root": "projects-1", "project": "../tasks", "instruction": "x"}, 404),
     ({"root": "tasks-1", "task": "broken.yaml"}, 422),
     ({"root": "tasks-1", "task": "quick.yaml", "thread": "../x"}, 422),
     ({"root": "tasks-1", "task": "quick.yaml", "thread": "con"}, 422),
     ({"root": "tasks-1", "task": "quick.yaml", "budget_tokens": 0}, 422),
     ({"root": "tasks-1", "task": "quick.yaml", "sandbox": "local"}, 422),
     ({"resume": "unknown"}, 404), ({"resume": "../x"}, 404)],
)  # fmt: skip
def test_what_cannot_be_started_is_refused(client, body, status):
    assert client.post("/api/jobs", json=body).status_code == status


def test_an_unknown_job_is_not_there(client):
    for path in ("/api/jobs/x", "/api/jobs/x/stream"):
        assert client.get(path).status_code == 404
    assert client.post("/api/jobs/x/cancel", json={}).status_code == 404


# --- the queue


class Slow:
    """A run that lasts until it is told to stop."""

    def __init__(self):
        self.began = threading.Event()

    def __call__(self, job):
        self.began.set()
        assert job.control.cancelled.wait(60)
        raise Cancelled("cancelled")


def order(thread, run, **more):
    return Order(task="t", kind="code", thread=thread, run=run, limits=Limits(), **more)


@pytest.fixture
def jobs():
    made = Jobs(slots=1, room=2, clock=SystemClock())
    yield made
    made.close()


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_the_queue_is_bounded_and_says_when_to_come_again(jobs):
    slow = Slow()
    running = jobs.add(order("a", slow))
    assert slow.began.wait(60)
    waiting = [jobs.add(order(name, Slow())) for name in "bc"]
    with pytest.raises(WebError) as full:
        jobs.add(order("d", Slow()))
    assert (full.value.status, full.value.retry_after_s) == (429, 5)
    jobs.cancel(waiting[0])
    assert jobs.add(order("d", Slow())).status == "waiting"
    jobs.cancel(running)
    until(lambda: running.status == "cancelled")
    until(lambda: waiting[1].status == "running")


def test_one_run_has_one_job(jobs):
    jobs.add(order("a", Slow()))
    with pytest.raises(WebError) as twice:
        jobs.add(order("a", Slow()))
    assert twice.value.status == 409


def test_closing_kills_and_refuses(jobs):
    slow = Slow()
    job = jobs.add(order("a", slow))
    assert slow.began.wait(60)
    jobs.close()
    assert job.status == "cancelled"
    with pytest.raises(WebError) as closing:
        jobs.add(order("b", Slow()))
    assert (closing.value.status, closing.value.retry_after_s) == (503, 5)


def test_the_last_listener_takes_the_job_along_where_it_says_so(jobs):
    stays = jobs.add(order("a", Slow()))
    goes = jobs.add(order("b", Slow(), cancel_on_disconnect=True))
    for job in (stays, goes):
        jobs.watch(job)
        jobs.watch(job)
        jobs.unwatch(job)
        assert not job.cancelling
        jobs.unwatch(job)
    assert (stays.cancelling, goes.cancelling) == (False, True)


def test_a_bug_in_a_run_ends_its_job_only(jobs):
    def bug(job):
        raise ZeroDivisionError("x")

    job = jobs.add(order("a", bug))
    until(lambda: job.status == "failed")
    assert "ZeroDivisionError" in job.reason
    slow = Slow()
    jobs.add(order("b", slow))
    assert slow.began.wait(60)


def test_changes_are_numbered_for_listeners(jobs):
    first = jobs.add(order("a", Slow()))
    until(lambda: first.status == "running")
    seen = first.number
    second = jobs.add(order("b", Slow()))
    assert [job.id for job in jobs.since(seen)] == [second.id]
    jobs.cancel(second)
    assert [job.id for job in jobs.since(seen)] == [second.id]


def test_a_kill_stops_what_was_opened_and_what_is_opened_later():
    control, closed = Control(), []
    control.on_kill(lambda: closed.append(1))
    control.kill()
    control.on_kill(lambda: closed.append(2))
    assert closed == [1, 2]


# --- what models are saying


def test_pieces_are_heard_once_and_few_are_kept():
    hearing = Hearing()
    listener = hearing.listener("a")
    for n in range(PIECES + 10):
        listener.emit("model_text", {"node": "worker", "text": str(n)})
    number, pieces = hearing.since("a", 0)
    assert len(pieces) == PIECES
    assert hearing.since("a", number) == (number, [])
    listener.emit("model_text", {"node": "worker", "text": "more"})
    assert hearing.since("a", number)[1] == [("worker", "more")]
    listener.emit("model_replied", {})
    assert hearing.since("a", 0)[1] == []


# --- the door


def test_a_key_is_made_once_and_read_again(tmp_path):
    path = tmp_path / "key"
    made = api_key(path)
    assert api_key(path) == made
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", [b"short", b"", b"\xff" * 40, b"a b" * 20])
def test_a_bad_key_file_is_named(tmp_path, capsys, text):
    path = tmp_path / "key"
    path.write_bytes(text)
    assert main(["--api-key-file", str(path), "--no-open"], {}) == 2
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv", [["--tasks", "/nowhere"], ["--projects", "/etc/passwd"], ["--set", "nonsense=1"],
             ["--config", "/nowhere.yaml"], ["--model", "worker"]],
)  # fmt: skip
def test_bad_options_end_with_a_message(capsys, argv):
    assert main([*argv, "--no-open"], {}) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("argv", [["--jobs", "0"], ["--port", "x"], ["--queue", "-1"], ["--tsks"]])
def test_unknown_options_end_with_two(capsys, argv):
    with pytest.raises(SystemExit) as ended:
        main(argv, {})
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_description_is_there(client):
    told = client.get("/api/openapi.json").json()
    assert "/api/jobs/{job_id}/cancel" in told["paths"]
    json.dumps(told)
