"""Right fixes of all kinds pass the project gate: it must not cry wolf."""

from dataclasses import replace

import pytest
from right_fixes import FIXES, fix, project

from agent_loop.checks.project.command import parse_command
from agent_loop.checks.project.judge import ProjectJudge
from agent_loop.checks.project.lanes import Lanes
from agent_loop.checks.project.protected import Protection
from agent_loop.checks.project.reproduce import Reproduction
from agent_loop.checks.project.run import Runner
from agent_loop.checks.project.settings import find_setting
from agent_loop.checks.project.tree import Base
from agent_loop.ports import Limits, SystemClock
from agent_loop.sandbox import PROJECT_PYTHON
from agent_loop.tasks import ProjectTask
from tests.conftest import open_docker_sandbox

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture(scope="module")
def judge(project_image, base_image, tmp_path_factory):
    """Of the whole project; each test wants the tests of one bug only."""
    root = tmp_path_factory.mktemp("right")
    for path, data in project().items():
        place = root / "project" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    sandbox = open_docker_sandbox(base_image, pool=4)
    base = Base(root / "project")
    task = ProjectTask(name="right", task="Mend it.", project=root / "project")
    setting = find_setting(base, parse_command("pytest -q"), python_path=(), plugins=())
    lanes = Lanes(
        Runner(sandbox=sandbox, clock=SystemClock()),
        base,
        root / "copies",
        image=project_image,
        python=PROJECT_PYTHON,
        limits=Limits(life_s=200),
    )
    frozen = Reproduction(task=task, base=base, setting=setting, wall_s=100).run(lanes)
    protection = Protection(known=frozenset(base.digests), test_files=frozenset(frozen.test_files))
    yield ProjectJudge(
        base=base, frozen=frozen, setting=setting, protection=protection, lanes=lanes, wall_s=60
    )
    sandbox.close()


def of(frozen, name):
    wanted = tuple(
        one for one in frozen.wanted if one.startswith((f"tests/test_{name}.py", f"case_{name}.py"))
    )
    outcomes = {one: out for one, out in frozen.outcomes.items() if one in wanted}
    return replace(frozen, wanted=wanted, outcomes=outcomes)


@pytest.mark.parametrize("name", FIXES)
def test_a_right_fix_passes(judge, name):
    frozen = of(judge.frozen, name)
    assert frozen.wanted, judge.frozen.outcomes
    judge.lanes.warm(3)
    verdict = replace(judge, frozen=frozen).judge(fix(name))
    assert verdict.passed, [proof for proof in verdict.proofs if not proof.held]
