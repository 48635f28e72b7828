"""What a task is on disk: the library with exactly the bug's bytes, and a file people can read."""

import os
from pathlib import Path

import pytest
import yaml

from agent_loop import tasks
from agent_loop.benchgen.bugs import Bug, Edit
from agent_loop.benchgen.ground import Ground
from agent_loop.benchgen.layout import Layout
from agent_loop.benchgen.origins import Library
from agent_loop.benchgen.taskfiles import lay, task_text
from agent_loop.benchgen.wording import Report
from agent_loop.checks.project.command import PytestCall, Setting
from agent_loop.checks.project.tree import Base

RIGHT = {"a.py": b"x = 1\n", "pkg/__init__.py": b"from a import x\n", "run.sh": b"#!/bin/sh\n"}


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    root = tmp_path / "right"
    for name, data in RIGHT.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "run.sh").chmod(0o755)
    return Ground(
        library=Library(name="library", source="library", root=root),
        base=Base(root),
        layout=Layout(test_command="pytest", requirements=("six==1.17.0",), plugins=("a-b",)),
        image="",
        setting=Setting(call=PytestCall(), config=None, python_path=()),
        outcomes={},
        flaky=(),
        seconds=0.0,
    )


def bug(path: str, new: bytes) -> Bug:
    edit = Edit(path=path, start=0, end=len(RIGHT[path]), new=new)
    return Bug(kind="history", edits=(edit,), functions=(), where="import")


@pytest.mark.parametrize(("path", "new"), [("a.py", b"x = 2\n"), ("pkg/__init__.py", b"")])
def test_only_the_bug_differs_even_where_it_empties_a_file(
    ground: Ground, tmp_path: Path, path: str, new: bytes
) -> None:
    lay(ground, bug(path, new), tmp_path / "wrong")
    laid = {name: (tmp_path / "wrong" / name).read_bytes() for name in RIGHT}
    assert laid == {**RIGHT, path: new}
    assert os.access(tmp_path / "wrong" / "run.sh", os.X_OK)


def test_a_task_file_reads_well_and_loads(ground: Ground, tmp_path: Path) -> None:
    report = Report(title="x is wrong", body="It is:\n\n    x = 2\n")
    text = task_text("one", report, ground, ["t.py::test_x"], "right")
    assert "task: |" in text
    fields = yaml.safe_load(text)
    assert (fields["task"], fields["pytest_plugins"]) == (report.text, ["a_b"])
    assert "python_path" not in fields
    (tmp_path / "task.yaml").write_text(text)
    assert tasks.load(tmp_path / "task.yaml").name == "one"
