"""An episode as the worker of a run: its lap, its cost, its replay, a kill in its middle."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent_loop.errors import SandboxUnavailable
from agent_loop.graph import drive
from agent_loop.models import Line, Maker
from agent_loop.store import RunStore, read_trace
from tests.fakes.check import ScriptedCheck
from tests.fakes.episode_run import WORKER, go, parts, project_job, worker
from tests.fakes.episodes import does

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def events(store, kind):
    return [e for e in read_trace(store.trace_path("a")) if e["kind"] == kind]


def test_two_laps_of_episodes_to_a_pass(store):
    boxes = []
    result = go(store, boxes=boxes)
    record = result.record
    assert (result.outcome, len(record["laps"]), len(boxes)) == ("passed", 2, 2)
    assert record["tokens"]["worker"]["calls"] == 7
    assert [e["reason"] for e in events(store, "episode_ended")] == ["submitted", "submitted"]
    assert {e["lap"] for e in events(store, "episode_step")} == {1, 2}
    # The second lap hears what became of the first, in its opening.
    opening = [e for e in events(store, "model_asked") if e.get("step") == 1][1]["messages"]
    assert "return 'wrong'" in opening[1]["content"]
    assert "assert f() == 1: got 2" in opening[1]["content"]


def test_an_episode_that_ends_at_a_limit_is_judged_all_the_same(store):
    boxes = []
    made = parts(boxes, lines=WORKER[3:], episode=worker(boxes, max_steps=2))
    result = drive.start("a", project_job(), made, store)
    assert result.outcome == "passed"
    assert [e["reason"] for e in events(store, "episode_ended")] == ["step_limit"]


def test_a_fault_inside_stops_the_run_and_costs_no_lap(store):
    boxes = []
    made = parts(boxes, lines=(WORKER[0], Line(fault="unavailable")))
    result = drive.start("a", project_job(), made, store)
    assert (result.outcome, result.record["laps"]) == ("error", [])
    assert [e["reason"] for e in events(store, "episode_ended")] == ["error"]
    resumed = drive.resume("a", parts(boxes, answered=drive.standing(store, "a").replies), store)
    assert (resumed.outcome, len(resumed.record["laps"])) == ("passed", 2)


def test_a_box_that_cannot_be_opened_is_a_fault(store):
    def no_box(_):
        raise SandboxUnavailable("no engine")

    result = drive.start("a", project_job(), parts([], episode=no_box), store)
    assert (result.outcome, result.exit_code) == ("error", 3)


@pytest.mark.parametrize("step", [2, 5])
def test_a_kill_in_the_middle_of_an_episode_repeats_the_node(store, step):
    command = [sys.executable, "-m", "tests.fakes.episode_run", str(store.root), str(step)]
    killed = subprocess.run(command, cwd=ROOT, timeout=60, check=False)
    assert killed.returncode == -9
    boxes = []
    result = go(store, boxes=boxes)
    assert (result.outcome, len(result.record["laps"])) == ("passed", 2)
    # Nothing of the cut episode is counted, and its whole node was done again.
    assert result.record["tokens"]["worker"]["calls"] == 7
    again = [e for e in events(store, "node_started") if e["again"]]
    assert [(e["node"], e["lap"]) for e in again] == [("worker", 1 if step == 2 else 2)]
    assert len(events(store, "episode_ended")) == 2
    # A replay takes every reply once, the cut episode's not at all.
    maker = Maker(runs=store.root)
    recording = maker._recording("a")
    assert [x.role for x in recording._exchanges] == [
        "lead", *["worker"] * 3, "reviewer", *["worker"] * 4, "reviewer",
    ]  # fmt: skip


def test_a_replay_makes_the_same_run_of_recorded_calls(store):
    from agent_loop.config import ModelSettings

    first = go(store, boxes=[])
    maker = Maker(runs=store.root)
    models = {
        role: maker.make(ModelSettings(provider="replay", model="a"), role)
        for role in ("lead", "worker", "reviewer")
    }
    assert models["worker"].native_tools
    made = parts([])
    made = type(made)(
        models=models,
        check=ScriptedCheck(),
        owner=made.owner,
        clock=made.clock,
        episode=made.episode,
    )
    again = drive.start("b", project_job(), made, store)
    assert (again.outcome, again.record["answer"]) == (first.outcome, first.record["answer"])
    replied = [e for e in read_trace(store.trace_path("b")) if e["kind"] == "model_replied"]
    assert [e["notes"] for e in replied] == [[]] * 10


def test_a_replay_that_goes_another_way_says_where(store):
    from agent_loop.config import ModelSettings

    go(store, boxes=[])
    model = Maker(runs=store.root).make(ModelSettings(provider="replay", model="a"), "worker")
    from agent_loop.errors import ModelUnavailable
    from agent_loop.ports import Message

    with pytest.raises(ModelUnavailable, match="reply 1 of the record is lead's"):
        model.ask([Message(role="user", content="x")])


def test_the_cut_of_one_lap_is_one_step_more_in_the_next(store):
    """A longer episode than the script has lines says so instead of making something up."""
    made = parts([], lines=(does("view", path="a.py"),))
    result = drive.start("a", project_job(), made, store)
    assert (result.outcome, "one more was asked for" in result.reason) == ("error", True)
