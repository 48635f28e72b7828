"""The loop with scripted parts: every way through the graph and every way out of it."""

import json

import pytest

from agent_loop.errors import ThreadError
from agent_loop.graph import drive
from agent_loop.store import RunStore, read_trace, reply_from_text
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def test_a_right_answer_passes_and_gets_a_certificate(store):
    made = parts([RIGHT])
    result = drive.start("a", job(), made, store)
    assert (result.outcome, result.exit_code) == ("passed", 0)
    paper = json.loads((store.folder("a") / "certificate.json").read_text())
    assert paper["answer"] == "def f():\n    return 'right'"
    assert paper["executed"] == ["assert 1"]
    assert made.check.prepared == 1
    kinds = [event["kind"] for event in read_trace(store.trace_path("a"))]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "run_ended"
    assert "model_text" not in kinds


def test_an_answer_of_the_owner_ends_a_paused_run(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED")
    assert drive.start("a", job(), made, store).exit_code == 5
    assert drive.standing(store, "a").nonce
    result = drive.resume("a", made, store, reply=reply_from_text("Stop!", "argument"))
    assert (result.outcome, result.exit_code) == ("stopped", 1)
    with pytest.raises(ThreadError, match="has ended"):
        drive.resume("a", made, store)


def test_guidance_goes_to_the_worker_and_earns_the_escalation_again(store):
    made = parts(
        [wrong(1), wrong(2), wrong(3), wrong(4), wrong(5), wrong(6)],
        "REJECTED",
        escalation=[wrong(7), RIGHT],
        owner=ScriptedOwner(["Return the word itself."]),
    )
    result = drive.start("a", job(), made, store)
    assert result.outcome == "paused"  # the reviewer rejects even the right answer
    assert "Return the word itself." in made.models["worker"].asked[3][-1].content
    assert len(made.models["escalation"].asked) == 2
