"""The demo projects: red as they are, green after the scripted reply, and never written to.

On the host: these projects and replies are ours, not a model's.
"""

import shutil
import sys
from pathlib import Path

import pytest

from agent_loop import procs, tasks
from agent_loop.context import Question, show
from agent_loop.edits import edits_from_reply
from agent_loop.models.scriptfile import read_script
from agent_loop.workspace import Tree, apply, changes_patch, copy_project

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["fix_slugify", "fix_ledger", "fix_logstat", "fix_semver"]
FORMATS = {
    "fix_slugify": "search_replace",
    "fix_ledger": "search_replace",
    "fix_logstat": "diff",
    "fix_semver": "json",
}


def green(task, folder):
    if task.test_command == "node --test":
        argv = ["node", "--test"]
    else:
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        argv += ["-o", "pythonpath=src .", "--rootdir", "."]
    return procs.run(argv, timeout_s=120, cwd=folder).code == 0


def is_test(path):
    return "test" in path.split("/")[0]


@pytest.mark.parametrize("name", NAMES)
def test_red_before_green_after_and_the_patch_applies(name, tmp_path):
    if name == "fix_semver" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    task = tasks.load(ROOT / "tasks" / f"{name}.yaml")
    untouched = Tree(task.project).digest()
    copy_project(task.project, tmp_path / "clean")
    copy_project(task.project, tmp_path / "work")
    assert not green(task, tmp_path / "work")

    reply = read_script(ROOT / "tests" / "data" / "replies" / f"{name}.yaml")["worker"][0].text
    clean = Tree(tmp_path / "clean")
    changes = edits_from_reply(reply, clean, format="auto", finish="stop", protected=is_test)
    assert changes.problems == changes.ignored == ()
    assert changes.format == FORMATS[name]
    copy_project(task.project, tmp_path / "work")
    apply(tmp_path / "work", changes.files, executable=changes.executable)
    patch = changes_patch(clean, Tree(tmp_path / "work"))
    assert green(task, tmp_path / "work")

    applied = procs.run(["git", "apply", "-"], timeout_s=20, input=patch, cwd=tmp_path / "clean")
    assert applied.code == 0, applied.err
    assert {**Tree(tmp_path / "clean")} == {
        path: data for path, data in Tree(tmp_path / "work").items() if "__pycache__" not in path
    }
    assert Tree(task.project).digest() == untouched


@pytest.mark.parametrize("name", NAMES)
def test_the_context_of_a_demo_shows_all_of_it(name):
    task = tasks.load(ROOT / "tasks" / f"{name}.yaml")
    shown = show(Tree(task.project), Question(task=task.task), budget=24_000)
    assert all(body.lines == "whole" for body in shown.bodies)
    assert len(shown.bodies) == len([path for path in Tree(task.project) if ".pyc" not in path])
