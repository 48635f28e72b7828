"""The shipped tasks through the real gate: what is right passes, what is nothing does not."""

from pathlib import Path

import pytest

from agent_loop import tasks
from agent_loop.assemble import make_check, refuse_unjudgeable
from agent_loop.config import Config
from agent_loop.ports import Reply, SystemClock, Usage

ROOT = Path(__file__).resolve().parents[2]
REFERENCES = ROOT / "tests" / "data" / "reference"
TASKS = [
    task
    for task in (
        tasks.palindrome(),
        *(tasks.load(path) for path in tasks.find([ROOT / "tasks"])),
    )
    if task.kind == "code"
]

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def sandbox(engine, base_image):
    from tests.conftest import open_docker_sandbox

    made = open_docker_sandbox(base_image)
    yield made
    made.close()


def judged(task, sandbox, code):
    check = make_check(task, sandbox, Config(), SystemClock())
    try:
        reply = Reply(text=f"```python\n{code}\n```", usage=Usage(), answered="test:reference")
        return check.judge(check.parse(reply))
    finally:
        check.close()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_reference_passes_without_a_word_of_doubt(task, sandbox):
    verdict = judged(task, sandbox, (REFERENCES / f"{task.name}.py").read_text())
    assert verdict.passed, verdict.output or verdict.feedback
    assert verdict.isolation == "separate"
    assert all(proof.held for proof in verdict.proofs)
    assert not verdict.looks


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_stub_does_not_pass(task, sandbox):
    reference = (REFERENCES / f"{task.name}.py").read_text()
    tops = [line for line in reference.splitlines() if line.startswith(("def ", "class "))]
    stub = "\n".join(f"{line}\n    pass" for line in tops)
    assert not judged(task, sandbox, stub).passed


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_task_can_be_judged_apart_and_has_hidden_tests(task):
    refuse_unjudgeable(task)
    assert task.hidden_tests
    assert not set(task.hidden_tests) & set(task.tests)


def test_there_are_tasks_of_every_size():
    assert len(TASKS) >= 12
    assert any("class " in task.task for task in TASKS)
