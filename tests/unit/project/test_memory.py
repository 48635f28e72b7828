"""A run's folder may come from elsewhere: what it remembers of the red run, and is verified by."""

import pytest

from agent_loop.assemble.stored import Stored, compared
from agent_loop.checks.project.commands import RedCommand
from agent_loop.checks.project.frozen import Frozen
from agent_loop.ports import Verdict
from agent_loop.tasks import palindrome

FROZEN = Frozen(outcomes={"t.py::a": "failed"}, kinds={"t.py::a": "function"}, wanted=("t.py::a",))
RECORD = FROZEN.as_record()
SHAPES = (TypeError, ValueError, KeyError, AttributeError)
"""What the bench takes for no memory at all: it makes the red run again."""


def test_control_a_red_run_comes_back_as_it_was():
    assert Frozen.from_record(RECORD) == FROZEN
    red = RedCommand(code=1, output="x")
    assert RedCommand.from_record({"code": 1, "output": "x"}) == red


@pytest.mark.parametrize(
    "record",
    [
        [], "x", None, 5, {}, {**RECORD, "wanted": None}, {**RECORD, "wanted": "t.py::a"},
        {**RECORD, "wanted": [1]}, {**RECORD, "outcomes": []}, {**RECORD, "outcomes": {"a": 1}},
        {**RECORD, "kinds": "x"}, {**RECORD, "texts": {"a": None}}, {**RECORD, "more": 1},
        {**RECORD, "keep": 3}, {key: value for key, value in RECORD.items() if key != "wanted"},
    ],
)  # fmt: skip
def test_a_red_run_of_another_shape_is_none(record):
    with pytest.raises(SHAPES):
        Frozen.from_record(record)
    with pytest.raises(SHAPES):
        RedCommand.from_record(record)


@pytest.mark.parametrize(
    "record", [{"code": "1", "output": ""}, {"code": 1}, {"code": True, "output": ""}]
)
def test_a_command_of_another_shape_is_none(record):
    with pytest.raises(SHAPES):
        RedCommand.from_record(record)


GROUND = {"tree_hash": "a", "test_tree_hash": "b", "wanted": ["x"], "flaky": [], "image": "i"}


def verified(ground, certificate=GROUND):
    stored = Stored(
        task=palindrome(), answer="x", digest="d", executed=(), problems=(), isolation="pytest",
        ground=certificate,
    )  # fmt: skip
    verdict = Verdict(passed=True, isolation="pytest", reason="", feedback="")
    return compared(stored, verdict, ground)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("tree_hash", "c", "the project that was copied"),
        ("test_tree_hash", "c", "the tests that were copied"),
        ("wanted", [], "other tests were wanted"),
        ("flaky", ["x"], "left out as flaky"),
    ],
)
def test_a_project_that_is_not_the_certified_one_does_not_verify(key, value, problem):
    """The copy and the red run lie in the run's folder: a weaker test there passes anything."""
    found = verified({**GROUND, key: value})
    assert not found.holds
    assert problem in found.problems[0]
    less = {one: what for one, what in GROUND.items() if one != key}
    assert not verified(GROUND, less).holds


def test_control_the_certified_project_verifies_and_code_has_no_ground():
    assert verified(GROUND).holds
    assert verified({**GROUND, "image": "built anew"}).holds
    assert verified({}, {}).holds
