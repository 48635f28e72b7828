"""SIGKILL at any moment with the real gate: same record, no container left behind."""

import random
import sys

import pytest

from tests.fakes.kills import kill_until, orphans

KILLS = 4

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(sys.platform == "win32", reason="kills by signal"),
]


def test_killed_runs_leave_no_container_and_go_on(tmp_path, base_image):
    found = kill_until(tmp_path, KILLS, seed=random.randrange(1 << 30), image=base_image, each=2)
    assert found.different == []
    assert found.asked_again == []
    assert found.integrity == "ok"
    assert orphans(base_image, found.pids) == []
