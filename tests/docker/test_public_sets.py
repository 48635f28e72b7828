"""Every reference solution passes the gate, no stub does, and none needs one process."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_loop.checks.code import CodeCheck, JudgeRoom, cannot_judge_apart
from agent_loop.config import CheckSettings
from agent_loop.ports import Candidate, Limits
from agent_loop.ports.run import SystemClock
from agent_loop.sandbox import LocalSandbox
from tests.conftest import open_docker_sandbox
from tests.data.public_sets import humaneval, mbpp

CLOCK = SystemClock()
SETTINGS = CheckSettings(call_s=60, total_s=120)
AT_ONCE = 2


def passes(sandbox, known, answers) -> dict[str, list[bool]]:
    """For every task, whether each of its answers passes; a fresh solution container for each."""
    rooms = [JudgeRoom(sandbox, Limits(), CLOCK) for _ in range(AT_ONCE)]

    def judge(number: int) -> list[bool]:
        one, room = known[number], rooms[number % AT_ONCE]
        check = CodeCheck(one.task, sandbox, SETTINGS, CLOCK, room=room)
        sandbox.warm(check._way._box, AT_ONCE + 1)
        given = [Candidate(answer=answer(one), digest="") for answer in answers]
        return [check.judge(candidate).passed for candidate in given]

    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(judge, range(len(known))))
    finally:
        for room in rooms:
            room.close()
    return dict(zip((one.task.name for one in known), found, strict=True))


def right(one):
    return one.reference


def stub(one):
    return one.stub


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_humaneval_in_real_containers(base_image) -> None:
    known = humaneval()
    assert [one.task.name for one in known if cannot_judge_apart(one.task)] == []
    sandbox = open_docker_sandbox(base_image, pool=4, notify=lambda _text: None)
    try:
        found = passes(sandbox, known, (right, stub))
    finally:
        sandbox.close()
    assert len(found) == 164
    assert [name for name, (passed, _) in found.items() if not passed] == []
    assert [name for name, (_, passed) in found.items() if passed] == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_sanitized_mbpp() -> None:
    """Known solutions, so plain processes will do: containers would take twice the time."""
    known = mbpp()
    assert [one.task.name for one in known if cannot_judge_apart(one.task)] == []
    sandbox = LocalSandbox(allowed=True, notify=lambda _text: None)
    try:
        found = passes(sandbox, known, (right, stub))
    finally:
        sandbox.close()
    assert len(found) == 427
    assert [name for name, (passed, _) in found.items() if not passed] == []
    assert [name for name, (_, passed) in found.items() if passed] == []
