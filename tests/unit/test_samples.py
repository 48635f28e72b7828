"""Best of k: all are checked, the first passing one in a fixed order is taken, or the best."""

from dataclasses import replace

import pytest

from agent_loop.errors import SandboxUnavailable
from agent_loop.graph import drive
from agent_loop.graph.answers import _score
from agent_loop.graph.parts import Limits
from agent_loop.graph.verdicts import saved
from agent_loop.models import Maker
from agent_loop.ports import Proof, Verdict
from agent_loop.store import RunStore, read_trace
from tests.fakes.check import ScriptedCheck
from tests.fakes.runs import RIGHT, job, parts, wrong

ALSO_RIGHT = RIGHT.replace("'right'", "'all right'")


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def run(store, worker, *, samples, reviewer="APPROVED", **more):
    made = parts(worker, reviewer, **more)
    limits = Limits(max_pauses=0)
    return drive.start("a", replace(job(limits=limits), samples=samples), made, store), made


def told(record):
    return [(s["lap"], s["n"], s["passed"], s["taken"]) for s in record["samples"]]


def test_the_first_passing_one_in_order_is_taken_and_all_are_checked(store):
    result, made = run(store, [wrong(1), RIGHT, ALSO_RIGHT], samples=3)
    assert (result.outcome, len(result.record["laps"])) == ("passed", 1)
    assert "'right'" in result.record["answer"]
    assert len(made.check.judged) == 3
    assert told(result.record) == [(1, 1, False, False), (1, 2, True, True), (1, 3, True, False)]
    assert result.record["tokens"]["worker"]["calls"] == 3
    assert all(sample["tokens"] > 0 for sample in result.record["samples"])


def test_none_passes_and_the_next_lap_goes_on_from_the_taken_one(store):
    result, made = run(store, ["no code", wrong(2), wrong(3), RIGHT, wrong(5), wrong(6)], samples=3)
    assert (result.outcome, len(result.record["laps"])) == ("passed", 2)
    assert told(result.record)[:3] == [
        (1, 1, False, False),
        (1, 2, False, True),
        (1, 3, False, False),
    ]
    assert result.record["samples"][0]["format_failure"]
    assert result.record["format_failures"] == 1
    second = made.models["worker"].asked[3]
    assert "return 2" in second[2].content


def test_the_same_answer_twice_in_a_lap_is_judged_once_and_is_no_circle(store):
    result, made = run(store, [wrong(1), wrong(1), wrong(1), RIGHT, RIGHT, RIGHT], samples=3)
    assert result.outcome == "passed"
    assert len(made.check.judged) == 2
    assert [s["passed"] for s in result.record["samples"]] == [False] * 3 + [True] * 3
    assert result.record["saved"]["checks"] == 4


def test_a_rejected_pass_costs_a_lap_and_is_not_judged_again(store):
    reviews = ["REJECTED: ugly", "APPROVED"]
    result, made = run(store, [RIGHT, wrong(1), RIGHT, ALSO_RIGHT], samples=2, reviewer=reviews)
    assert result.outcome == "passed"
    assert result.record["answer"].count("all right") == 1
    assert len(made.check.judged) == 3


def test_the_reviewer_sees_only_the_one_that_is_taken(store):
    _, made = run(store, [wrong(1), RIGHT], samples=2)
    [asked] = made.models["reviewer"].asked
    assert "return 1" not in asked[-1].content


def test_events_name_the_sample_and_a_replay_tells_them_apart(store):
    result, _ = run(store, [wrong(1), RIGHT], samples=2)
    trace = list(read_trace(store.trace_path("a")))
    asked = [e for e in trace if e["kind"] == "model_asked" and e["role"] == "worker"]
    assert [e["sample"] for e in asked] == [1, 2]
    assert [e["sample"] for e in trace if e["kind"] == "verdict"] == [1, 2]
    [taken] = [e for e in trace if e["kind"] == "sample_taken"]
    assert (taken["sample"], taken["of"]) == (2, 2)
    recording = Maker(runs=store.root)._recording("a")
    assert [x.role for x in recording._exchanges] == ["lead", "worker", "worker", "reviewer"]
    assert result.record["samples"][1]["taken"]


def test_one_sample_leaves_no_trace_of_the_idea(store):
    result, _ = run(store, [RIGHT], samples=1)
    assert result.record["samples"] == []
    kinds = {e["kind"] for e in read_trace(store.trace_path("a"))}
    assert "sample_taken" not in kinds


def test_a_fault_between_samples_repeats_the_whole_check(store):
    faults = [None, None, SandboxUnavailable("gone")]
    check = ScriptedCheck(fault=lambda: faults.pop(0) if faults else None)
    result, _ = run(store, [wrong(1), wrong(2), RIGHT], samples=3, check=check)
    assert result.outcome == "error"
    again = drive.resume("a", parts([], check=ScriptedCheck()), store)
    assert (again.outcome, len(again.record["samples"])) == ("passed", 3)


def verdict(passed, reason, held):
    proofs = tuple(Proof(name=str(n), held=n < held) for n in range(9))
    return saved(Verdict(passed=passed, isolation="separate", reason=reason, proofs=proofs))


def test_what_is_better():
    order = [
        {"problem": "no code"},
        verdict(False, "assert 1 failed", 0),
        verdict(False, "3 of 12 asserts held", 0),
        verdict(False, "11 of 12 asserts held", 0),
        verdict(False, "11 of 12 asserts held", 4),
        verdict(True, "2 of 2 asserts held", 9),
    ]
    scores = [_score(one) for one in order]
    assert scores == sorted(scores)
