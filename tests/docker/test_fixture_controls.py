"""The six frozen tasks in the real gate: right answers pass, empty ones fail."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_loop.assemble import Workshop
from agent_loop.config import Config
from agent_loop.evals.controls import examine
from agent_loop.evals.suites import load_suite
from agent_loop.store import RunStore
from tests.unit.test_eval_suites import swebench_folder, swebench_row

ALREADY = """diff --git a/test_calc.py b/test_calc.py
new file mode 100644
--- /dev/null
+++ b/test_calc.py
@@ -0,0 +1,7 @@
+from calc import add
+
+def test_add():
+    assert add(1, 2) == 3
+
+def test_zero():
+    assert add(1, 0) == 1
"""

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]


def test_a_target_that_passes_without_the_fix_is_left_out(tmp_path, monkeypatch, project_image):
    """H2: the row says that it fails before; a model would be credited for nothing."""
    monkeypatch.setattr("agent_loop.evals.suites.load.state_dir", lambda: tmp_path / "state")
    wanted = json.dumps(["test_calc.py::test_add", "test_calc.py::test_zero"])
    row = swebench_row(test_patch=ALREADY, FAIL_TO_PASS=wanted)
    (one,) = load_suite("swebench", swebench_folder(tmp_path, row)).tasks
    with Workshop(config=Config(), store=RunStore(tmp_path / "r"), notify=print) as workshop:
        assert "test_zero, which passes already" in examine(workshop, one, 1)


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
