"""Verdicts through a state and back, bounded, and states of an earlier version."""

import json

from agent_loop.graph.verdicts import MAX_LINES, fields_of, saved, tidy, verdict_of
from agent_loop.ports import LinesRan, Look, Proof, Verdict


def verdict(**more):
    return Verdict(
        passed=True,
        isolation="pytest",
        reason="9 proofs hold",
        proofs=(Proof(name="twins fail", held=True),),
        looks=(Look(signal="only data", detail="x"),),
        lines=(LinesRan(path="a.py", ran=(1, 3)),),
        **more,
    )


def test_a_verdict_comes_back_from_its_state():
    assert verdict_of(saved(verdict())) == verdict()
    assert fields_of(verdict())["lines"] == [{"path": "a.py", "ran": [1, 3]}]


def test_a_state_that_knows_nothing_of_lines_is_read():
    state = saved(verdict())
    fields = json.loads(state["verdict"])
    del fields["lines"]
    assert verdict_of({**state, "verdict": json.dumps(fields)}).lines == ()


def test_lines_are_bounded():
    many = (LinesRan(path="\ud800" + "p" * 9_999, ran=tuple(range(1, 9_999))),) * 900
    found = tidy(Verdict(passed=True, isolation="pytest", reason="r", lines=many)).lines
    assert len(found) == 200
    assert len(found[0].ran) == MAX_LINES
    assert len(found[0].path) <= 1_000
    assert found[0].path.isascii()
