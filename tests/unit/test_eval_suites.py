"""Suites: what is imported, what is refused with the reason, and the controls that decide."""

import json
import random

import pytest
import yaml

from agent_loop.assemble import Workshop
from agent_loop.errors import Cancelled, UserError
from agent_loop.evals.controls import control, examine
from agent_loop.evals.suites import Suite, SuiteTask, load_suite
from agent_loop.evals.suites.swebench import listed, refuse_other_machine
from agent_loop.fixtures import task_hash
from agent_loop.store import RunStore
from agent_loop.tasks import CodeTask
from tests.data.public_sets import data_root
from tests.fakes.evaluated import answer, evaluate, make_suite, report_of, settings


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = settings(tmp_path)
    with Workshop(config=made, store=RunStore(tmp_path / "runs"), notify=print) as opened:
        yield opened


def one(name="f", *, tests=("assert f() == 1",), reference=None, wrong=()):
    task = CodeTask(name=name, task="Write f().", tests=tests, source_hash=f"{random.random()}")
    return SuiteTask(task=task, reference=reference or answer("f", 1), wrong=wrong)


RANDOM = """```python
import random
def f():
    return random.choice([1, 1, 1, 2])
```"""


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (one(), ""),
        (one(reference=answer("f", 2)), "its right answer fails"),
        (one(reference="I would return one."), "its right answer cannot be read"),
        (one(tests=("assert f() is None",)), "functions that do nothing pass it"),
        (one(wrong=(answer("f", 1),)), "a wrong answer passes it"),
        (one(wrong=(answer("f", 2), "no code")), ""),
    ],
)
def test_a_control_finds_tasks_that_say_nothing(workshop, task, reason):
    assert examine(workshop, task, 2).startswith(reason)
    assert bool(examine(workshop, task, 1)) == bool(reason)


def test_a_right_answer_that_passes_now_and_then_is_flaky(workshop):
    """H2: passes in some of the runs. The control: asked once, it may look right."""
    reason = examine(workshop, one(reference=RANDOM), 24)
    assert reason.startswith("its right answer passed ")
    assert " of 24 times" in reason


def test_rates_count_validated_tasks_only(tmp_path):
    folder = make_suite(tmp_path)
    (folder / "references" / "b.md").write_text(answer("b", 5))
    (folder / "references" / "c.md").unlink()
    code, said = evaluate(tmp_path, "--attempts", "1", "--controls", "2")
    report = report_of(tmp_path)
    assert code == 0
    assert "left out: b: its right answer fails" in said
    assert "no right answer is known for: c" in said
    assert report.plan.tasks == ("a", "c", "d")
    assert report.plan.limits["quarantined"]["b"].startswith("its right answer fails")
    assert {row.task for row in report.attempts} == {"a", "c", "d"}


def test_what_held_once_for_the_same_bytes_is_not_judged_again(workshop):
    suite = Suite(name="x", tasks=(one("a"), one("b", reference=answer("f", 2))))
    said = []
    first = control(workshop, suite, times=1, say=said.append)
    again = control(workshop, suite, times=1, say=said.append)
    assert [t.task.name for t in first.tasks] == [t.task.name for t in again.tasks] == ["a"]
    assert [line.split(",")[0] for line in said] == ["controls: 2 tasks", "controls: 1 task"]


def test_ctrl_c_between_controls_keeps_what_was_judged(workshop):
    suite = Suite(name="x", tasks=tuple(one(name) for name in "abcd"))
    with pytest.raises(Cancelled):
        control(workshop, suite, times=1, stopping=lambda: True)
    said = []
    control(workshop, suite, times=1, say=said.append)
    assert said[0].startswith("controls: 3 tasks")


def test_no_task_left(tmp_path):
    folder = make_suite(tmp_path, names=("a",))
    (folder / "references" / "a.md").write_text(answer("a", 5))
    with pytest.raises(UserError, match="no task can be used"):
        evaluate(tmp_path, "--attempts", "1", "--controls", "1")


# --- importers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "count"), [("humaneval", 164), ("mbpp", 427)])
def test_public_sets(name, count):
    folder = data_root() / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: the public data set is not part of the repository")
    suite = load_suite(name, folder)
    assert (len(suite.tasks), dict(suite.refused)) == (count, {})
    assert all(task.reference for task in suite.tasks)
    if name == "humaneval":
        shown = {t for s in suite.tasks for t in s.task.tests}
        assert all(text.startswith("assert callable(") for text in shown)


ROW = {
    "task_id": "Own/0",
    "prompt": 'def half(n):\n    """Half of n."""\n',
    "entry_point": "half",
    "canonical_solution": "    return n / 2\n",
    "test": "def check(candidate):\n    assert candidate(4) == 2\n",
}


def test_a_broken_row_is_refused_and_the_others_run(tmp_path):
    rows = [ROW, {**ROW, "task_id": "Own/1", "test": "def check(:"}, {"task_id": "Own/2"}]
    (tmp_path / "HumanEval.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    suite = load_suite("humaneval", tmp_path)
    assert [task.task.name for task in suite.tasks] == ["Own-0"]
    assert sorted(suite.refused) == ["HumanEval.jsonl:2", "HumanEval.jsonl:3"]


@pytest.mark.parametrize(
    "raw", [b"", b"\xff\xfe", b"{", b"[]", b"5\n", b'{"a": 1}\n', b"x" * 100_000]
)
@pytest.mark.parametrize("name", ["humaneval", "mbpp", "swebench"])
def test_bad_files_are_user_errors(tmp_path, name, raw):
    (tmp_path / "mbpp.jsonl").write_bytes(raw)
    with pytest.raises(UserError):
        load_suite(name, tmp_path / "mbpp.jsonl")


def test_a_missing_folder_is_a_user_error(tmp_path):
    for name in ("humaneval", "mbpp", "quixbugs", "swebench"):
        with pytest.raises(UserError, match="nowhere"):
            load_suite(name, tmp_path / "nowhere")


def test_quixbugs_layout(tmp_path, workshop):
    for folder in ("python_programs", "correct_python_programs", "json_testcases"):
        (tmp_path / folder).mkdir()
    (tmp_path / "python_programs" / "gcd.py").write_text(
        "def gcd(a, b):\n    if b == 0:\n        return a\n    return gcd(a % b, b)\n"
    )
    (tmp_path / "correct_python_programs" / "gcd.py").write_text(
        "def gcd(a, b):\n    if b == 0:\n        return a\n    return gcd(b, a % b)\n"
    )
    (tmp_path / "json_testcases" / "gcd.json").write_text("[[17, 0], 17]\n[[35, 21], 7]\n")
    (tmp_path / "python_programs" / "depth_first.py").write_text("def depth_first(): pass\n")
    suite = load_suite("quixbugs", tmp_path)
    (task,) = suite.tasks
    assert task.task.tests == ("assert gcd(17, 0) == 17", "assert gcd(35, 21) == 7")
    assert "programs with a test file are not imported" in suite.refused["depth_first"]
    assert examine(workshop, task, 1) == ""


def swebench_row(**changes):
    patch = (
        "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n"
        " def add(a, b):\n-    return a - b\n+    return a + b\n"
    )
    test_patch = (
        "diff --git a/test_calc.py b/test_calc.py\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/test_calc.py\n@@ -0,0 +1,4 @@\n+from calc import add\n+\n+def test_add():\n"
        "+    assert add(1, 2) == 3\n"
    )
    row = {
        "instance_id": "own__calc-1",
        "base_commit": "a" * 40,
        "problem_statement": "add() subtracts.",
        "patch": patch,
        "test_patch": test_patch,
        "FAIL_TO_PASS": '["test_calc.py::test_add"]',
        "PASS_TO_PASS": "[]",
    }
    return {**row, **changes}


def swebench_folder(root, *rows, head="a" * 40):
    (root / "swebench.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for row in rows:
        checkout = root / "checkouts" / row["instance_id"]
        (checkout / ".git").mkdir(parents=True)
        (checkout / ".git" / "HEAD").write_text(head + "\n")
        (checkout / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    return root


def test_swebench_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("agent_loop.evals.suites.load.state_dir", lambda: tmp_path / "state")
    (task,) = load_suite("swebench", swebench_folder(tmp_path, swebench_row())).tasks
    assert task.task.fail_to_pass == ("test_calc.py::test_add",)
    assert (task.task.project / "test_calc.py").read_text().startswith("from calc import add\n")
    assert (task.task.project / "calc.py").read_text().endswith("a - b\n")
    assert not (tmp_path / "checkouts" / "own__calc-1" / "test_calc.py").exists()
    monkeypatch.setattr("agent_loop.evals.suites.load.state_dir", lambda: tmp_path / "elsewhere")
    (again,) = load_suite("swebench", tmp_path).tasks
    assert again.task.project != task.task.project
    assert task_hash(again.task) == task_hash(task.task)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"python": "3.6"}, "needs Python 3.6"),
        ({"platform": "linux/s390x"}, "is for s390x"),
        ({"base_commit": "b" * 40}, "is at aaaaaaaaaaaa, not at bbbbbbbbbbbb"),
        ({"test_patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}, "test_patch"),
        ({"FAIL_TO_PASS": "test_calc.py"}, "no row of SWE-bench"),
        ({"patch": None, "FAIL_TO_PASS": 5}, "no row of SWE-bench"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_run_here_are_refused_at_import(tmp_path, monkeypatch, changes, reason):
    """H4: a reason and what to do, never a row of failed attempts."""
    monkeypatch.setattr("agent_loop.evals.suites.load.state_dir", lambda: tmp_path / "state")
    good = swebench_row(instance_id="own__calc-2")
    folder = swebench_folder(tmp_path, swebench_row(**changes), good)
    suite = load_suite("swebench", folder)
    assert [task.task.name for task in suite.tasks] == ["own__calc-2"]
    assert reason in suite.refused["own__calc-1"]


def test_lists_of_tests_may_be_json_strings():
    assert listed('["a", "b"]') == listed(["a", "b"]) == ("a", "b")
    refuse_other_machine("x", {"python": "3.11"})


def test_a_task_with_the_name_of_another_is_refused(tmp_path):
    folder = make_suite(tmp_path, names=("a", "b"))
    task = yaml.safe_load((folder / "b.yaml").read_text())
    (folder / "b.yaml").write_text(yaml.safe_dump({**task, "name": "a"}))
    suite = load_suite(str(folder), None)
    assert [t.task.name for t in suite.tasks] == ["a"]
    assert "another task is named 'a'" in suite.refused["b"]
