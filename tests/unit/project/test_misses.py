"""What the worker hears of edits that were not applied."""

from agent_loop.checks.project.check import NOT_APPLIED, with_misses
from agent_loop.ports import Verdict

FAILED = Verdict(passed=False, isolation="pytest", reason="1 failed", feedback="test_a failed")


def test_a_failing_verdict_names_what_was_not_applied():
    notes = ("corrected the path", f"{NOT_APPLIED}: block 2: its lines are not in a.py.")
    told = with_misses(FAILED, notes)
    assert told.feedback.startswith("Some of your edits were not applied:\n- not applied: block 2")
    assert told.feedback.endswith("test_a failed")
    assert "corrected" not in told.feedback


def test_nothing_is_added_to_a_pass_or_where_all_was_applied():
    passed = Verdict(passed=True, isolation="pytest", reason="all", feedback="")
    assert with_misses(passed, (f"{NOT_APPLIED}: x",)) == passed
    assert with_misses(FAILED, ("corrected the path",)) == FAILED


def test_the_feedback_stays_bounded():
    told = with_misses(FAILED, tuple(f"{NOT_APPLIED}: {'x' * 5000}" for _ in range(9)))
    assert len(told.feedback) <= 16_000
    assert told.feedback.endswith("test_a failed")
