"""Jobs with real containers and scripted models: cancelled, dropped, paused, gone on with."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_loop.assemble.killable import KillableSandbox
from agent_loop.checks.code import CodeCheck
from agent_loop.config import CheckSettings
from agent_loop.errors import Cancelled
from agent_loop.graph.parts import Control
from agent_loop.ports import Candidate, SystemClock
from agent_loop.store import RunStore
from agent_loop.tasks import CodeTask
from tests.fakes.dropped import HANDLES, drop_jobs, job_server, program, start_job, wait_for

pytestmark = pytest.mark.docker

FAST = {"lead_s": 0, "worker_s": 0, "reviewer_s": 0}


def until(condition, most_s=120):
    end = time.monotonic() + most_s
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def node_of(client, job):
    run = client.get(f"/api/runs/{job['thread']}")
    row = run.json()["row"] if run.status_code == 200 else None
    return row["live"]["node"] if row and row["live"] else None


def test_dropped_jobs_leave_nothing(tmp_path, base_image):
    left = drop_jobs(tmp_path, 4, seed=7, image=base_image, longest_s=1.0)
    assert left.containers == []
    assert left.threads == []
    assert left.handles <= HANDLES
    assert left.lost == []
    assert left.slowest_stop_s < 30


def test_a_check_is_cut_off_within_a_second_and_its_run_goes_on(tmp_path, base_image):
    with job_server(tmp_path, image=base_image, delays=FAST) as door, program(door) as client:
        job = start_job(client, "spin")
        until(lambda: node_of(client, job) == "check")
        time.sleep(0.3)
        began = time.monotonic()
        assert client.post(f"/api/jobs/{job['id']}/cancel", json={}).status_code == 202
        ended = wait_for(client, job)
        assert time.monotonic() - began < 30
        assert (ended["status"], ended["outcome"]) == ("cancelled", "cancelled")
        store = RunStore(tmp_path / "runs")
        kinds = trace_kinds(store, job["thread"])
        assert "verdict" not in kinds  # a killed container has judged nothing
        again = client.post("/api/jobs", json={"resume": job["thread"], "max_pauses": 0}).json()
        assert again["thread"] == job["thread"]
        until(lambda: node_of(client, again) == "check")


def test_a_drained_check_goes_on_and_a_killed_one_does_not(docker_sandbox):
    """Both in one: what a kill adds, and that no verdict comes of it."""
    control = Control()
    sandbox = KillableSandbox(docker_sandbox, control)
    task = CodeTask(name="spin", task="x", tests=("assert spin() == 1",))
    check = CodeCheck(task, sandbox, CheckSettings(call_s=60, total_s=120), SystemClock())
    source = "def spin():\n    while True:\n        pass\n"
    with ThreadPoolExecutor(1) as pool:
        judging = pool.submit(check.judge, Candidate(answer=source, digest="d"))
        time.sleep(1.5)
        control.drain()
        time.sleep(0.5)
        assert not judging.done()
        began = time.monotonic()
        control.kill()
        with pytest.raises(Cancelled):
            judging.result(60)
        assert time.monotonic() - began < 30
    with pytest.raises(Cancelled):
        check.judge(Candidate(answer=source, digest="d"))
    check.close()


def test_a_model_call_is_dropped_when_the_client_goes(tmp_path, base_image):
    slow = {**FAST, "lead_s": 60}
    with job_server(tmp_path, image=base_image, delays=slow) as door, program(door) as client:
        job = start_job(client, "quick", leave=True)
        with client.stream("GET", f"/api/jobs/{job['id']}/stream"):
            until(lambda: node_of(client, job) == "lead")
        began = time.monotonic()
        assert wait_for(client, job)["status"] == "cancelled"
        assert time.monotonic() - began < 30


def test_a_job_is_heard_without_gaps_and_ends(tmp_path, base_image):
    with job_server(tmp_path, image=base_image, delays=FAST) as door, program(door) as client:
        job = start_job(client, "quick")
        heard, last = [], None
        for cut in (10, None):  # the connection is cut between event 10 and 11
            headers = {"Last-Event-ID": last} if last else {}
            with client.stream("GET", f"/api/jobs/{job['id']}/stream", headers=headers) as stream:
                for name, id_, data in events(stream):
                    if name == "event":
                        heard.append(data["seq"])
                        last = id_
                    if name == "end" or len(heard) == cut:
                        break
        assert data["outcome"] == "passed"
        assert heard == list(range(1, len(heard) + 1))
        assert len(heard) == client.get(f"/api/runs/{job['thread']}").json()["trace"]["events"]


def test_an_answer_on_the_page_lets_a_paused_job_go_on(tmp_path, base_image):
    """The worker says the same again and again, so the owner is asked; nobody holds a slot."""
    with job_server(tmp_path, image=base_image, slots=1, delays=FAST) as door:
        (tmp_path / "tasks" / "never.yaml").write_text("task: x\ntests: ['assert f() == 2']\n")
        with program(door) as client, door.client() as person:
            job = start_job(client, "never")
            until(lambda: client.get(f"/api/jobs/{job['id']}").json()["status"] == "paused")
            assert wait_for(client, start_job(client, "quick"))["outcome"] == "passed"
            pause = person.get(f"/api/runs/{job['thread']}").json()["pause"]
            assert pause["tests_passed"] is False
            body = {"nonce": pause["nonce"], "kind": "stop"}
            answer = person.post(
                f"/api/runs/{job['thread']}/reply", json=body, headers=door.writing
            )
            assert answer.status_code == 202
            ended = wait_for(client, job)
            assert (ended["status"], ended["outcome"]) == ("ended", "stopped")
            assert not RunStore(tmp_path / "runs").mailbox(job["thread"]).path.exists()


def trace_kinds(store, thread):
    return {json.loads(line)["kind"] for line in store.trace_path(thread).read_bytes().splitlines()}


def events(stream):
    """(name, id, data) of each server-sent event."""
    name = id_ = None
    for line in stream.iter_lines():
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("id: "):
            id_ = line[4:]
        elif line.startswith("data: "):
            yield name, id_, json.loads(line[6:])
            name = id_ = None
