"""The six frozen tasks in the real gate: right answers pass, empty ones fail."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_loop.assemble import Workshop
from agent_loop.config import Config
from agent_loop.evals.controls import examine
from agent_loop.evals.suites import load_suite
from agent_loop.store import RunStore

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]


def test_right_answers_pass_and_empty_ones_fail(tmp_path, project_image):
    suite = load_suite(None, None)
    with (
        Workshop(config=Config(), store=RunStore(tmp_path), notify=print) as workshop,
        ThreadPoolExecutor(2) as pool,
    ):
        said = list(pool.map(lambda one: examine(workshop, one, 1), suite.tasks))
    found = dict(zip((one.task.name for one in suite.tasks), said, strict=True))
    assert found == dict.fromkeys(found, "")
    assert len(found) == 6
