"""Honest class-shaped tasks: judged apart, or named at load; none wrongly."""

import pytest

from agent_loop.checks.code import CodeCheck, JudgeRoom, cannot_judge_apart
from agent_loop.config import CheckSettings
from agent_loop.ports import Candidate, Limits
from agent_loop.ports.run import SystemClock
from agent_loop.sandbox import LocalSandbox
from agent_loop.tasks import CodeTask
from tests.data.class_shaped import TASKS

CLOCK = SystemClock()


@pytest.fixture(scope="module")
def place():
    box = LocalSandbox(allowed=True, notify=lambda _text: None)
    room = JudgeRoom(box, Limits(), CLOCK)
    yield box, room
    room.close()
    box.close()


@pytest.mark.parametrize("shaped", TASKS, ids=lambda shaped: shaped.name)
def test_right_code_passes_and_wrong_code_does_not(shaped, place) -> None:
    box, room = place
    isolation = "shared" if shaped.shared else None
    task = CodeTask(name=shaped.name, task="", tests=shaped.tests, isolation=isolation)
    assert bool(cannot_judge_apart(task)) == shaped.shared
    check = CodeCheck(task, box, CheckSettings(call_s=20, total_s=60), CLOCK, room=room)
    right = check.judge(Candidate(answer=shaped.code, digest="right"))
    assert right.passed, right.feedback
    assert right.isolation == ("shared" if shaped.shared else "separate")
    wrong = check.judge(Candidate(answer=shaped.broken, digest="wrong"))
    assert not wrong.passed


def test_there_are_enough_of_them() -> None:
    assert sum(not shaped.shared for shaped in TASKS) >= 30
    assert sum(shaped.shared for shaped in TASKS) >= 12
