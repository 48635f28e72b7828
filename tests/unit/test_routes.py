"""Where a run goes next: every combination, against the rule in words."""

import itertools

import pytest

from agent_loop.graph import routes
from agent_loop.graph.nodes import close_lap, spent
from agent_loop.graph.owner import answered, question
from agent_loop.graph.parts import Limits
from agent_loop.graph.state import fresh
from agent_loop.graph.verdicts import saved
from agent_loop.ports import Verdict


def state(**fields):
    made = fresh(rejection_cap=fields.pop("rejection_cap", 3), can_escalate=False)
    return {**made, **fields}


def judged(passed, **fields):
    verdict = Verdict(passed=passed, isolation="separate", reason="r", feedback="f")
    return state(**saved(verdict), lap=1, reply="x", **fields)


@pytest.mark.parametrize(
    ("rejections", "repeats", "escalated", "can", "outcome"),
    list(itertools.product([0, 2, 3, 4], [0, 1, 2], [False, True], [False, True], ["", "passed"])),
)
def test_after_review(rejections, repeats, escalated, can, outcome):
    at = state(rejections=rejections, repeats=repeats, escalated=escalated, outcome=outcome)
    way = routes.after_review({**at, "can_escalate": can})
    if outcome:
        assert way == "end"
    elif rejections < 3 and repeats < 2 and not escalated:
        assert way == "worker"
    elif can and not escalated:
        assert way == "escalate"
    else:
        assert way == "ask_owner"


def test_after_the_owner_and_the_first_node():
    assert routes.after_owner(state()) == "worker"
    assert routes.after_owner(state(outcome="stopped")) == "end"
    assert routes.after_first(state()) == "lead"
    assert routes.after_first(state(outcome="nothing_to_fix")) == "end"


@pytest.mark.parametrize(
    ("passed", "said", "problem", "ends"),
    [
        (True, "approved", "", True),
        (True, "unclear", "", True),
        (True, "rejected", "", False),
        (False, "approved", "", False),
        (False, "rejected", "", False),
        (True, "", "the same again", False),
        (True, "approved", "unreadable", False),
    ],
)
def test_only_a_passing_verdict_ends_a_lap_as_passed(passed, said, problem, ends):
    update = close_lap(judged(passed, problem=problem), Limits(), review="r", said=said)
    assert (update.get("outcome") == "passed") is ends
    assert update["rejections"] == (0 if ends else 1)
    assert update["laps"][0]["review"] == "r"


@pytest.mark.parametrize(
    ("max_pauses", "pauses", "capped"),
    [(None, 9, False), (0, 0, True), (1, 0, False), (1, 1, True), (2, 1, False)],
)
def test_capped_is_when_nobody_may_be_asked_any_more(max_pauses, pauses, capped):
    at = judged(False, rejections=2, pauses=pauses)
    update = close_lap(at, Limits(max_pauses=max_pauses), review="", said="rejected")
    assert (update.get("outcome") == "capped") is capped


def test_an_escalation_comes_before_the_cap():
    at = {**judged(False, rejections=2), "can_escalate": True}
    assert "outcome" not in close_lap(at, Limits(max_pauses=0), review="", said="rejected")
    done = close_lap({**at, "escalated": True}, Limits(max_pauses=0), review="", said="rejected")
    assert done["outcome"] == "capped"


def test_guidance_resets_what_belongs_to_the_turn_and_nothing_else():
    at = judged(False, rejections=3, repeats=2, escalated=True, pauses=1, format_failures=4)
    at |= close_lap(at, Limits(), review="", said="rejected")
    update = answered(at, {"kind": "guidance", "text": "use a loop", "source": "terminal"})
    assert update["rejections"] == update["repeats"] == 0
    assert update["escalated"] is False
    assert update["seen"] == []
    assert update["pauses"] == 2
    assert update["laps"][-1]["guidance"] == "use a loop"
    assert "format_failures" not in update
    assert "outcome" not in update


def test_the_question_says_how_things_stand():
    passed = judged(True, rejections=3)
    passed |= close_lap(passed, Limits(), review="", said="rejected")
    assert question(passed)["tests_passed"] is True
    assert "the reviewer rejects" in question(passed)["question"]
    failed = judged(False, rejections=2, repeats=1)
    failed |= close_lap(failed, Limits(), review="", said="rejected")
    assert "after 3 rejections, 1 of them the same answer again" in question(failed)["question"]
    assert question(state())["rejections"] == 0


def test_limits():
    used = {
        "lead": {"calls": 1, "unmeasured_calls": 0, "input_tokens": 60, "output_tokens": 40,
                 "reused_tokens": 0, "load_s": 0.0, "seconds": 1.0, "retries": 0}
    }  # fmt: skip
    at = state(usage=used, spent_s=9.5)
    assert spent(at, Limits()) == ""
    assert spent(at, Limits(budget_tokens=101, time_limit_s=10)) == ""
    assert "100 of 100 tokens" in spent(at, Limits(budget_tokens=100))
    assert "9 s" in spent(at, Limits(time_limit_s=9))
    assert "budget" in spent(state(), Limits(budget_tokens=0))
