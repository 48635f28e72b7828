"""The frozen tasks are pinned: a changed byte is seen here, by the command and by a task's hash."""

import shutil

import pytest

from agent_loop import tasks
from agent_loop.fixtures import changed, fixtures_folder, main, reference_of, task_hash, update

NAMES = ["columns", "csvrow", "duration", "intervals", "slugify", "stock"]


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(
        fixtures_folder(), tmp_path / "evals", ignore=shutil.ignore_patterns("__pycache__")
    )


def test_every_byte_is_as_pinned():
    """Where this fails and the change is meant: python -m agent_loop.fixtures --update."""
    assert changed(fixtures_folder()) == ()


def test_six_tasks_each_with_a_right_answer():
    found = [tasks.load(path) for path in tasks.find([fixtures_folder()])]
    assert [task.name for task in found] == NAMES
    assert [task.kind for task in found].count("code") == 2
    assert all(reference_of(task) for task in found)


@pytest.mark.parametrize(
    ("file", "task"),
    [
        ("csvrow.yaml", "csvrow"),
        ("projects/stock/stock/shelf.py", "stock"),
        ("projects/stock/tests/test_shelf.py", "stock"),
        ("hidden/columns/test_hidden_table.py", "columns"),
    ],
)
def test_one_changed_byte_is_seen(copy, capsys, file, task):
    before = {name: task_hash(tasks.load(copy / f"{name}.yaml")) for name in NAMES}
    path = copy / file
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 0x2A  # the line end becomes a space
    path.write_bytes(raw)
    after = {name: task_hash(tasks.load(copy / f"{name}.yaml")) for name in NAMES}
    assert [name for name in NAMES if before[name] != after[name]] == [task]
    assert changed(copy) == (f"{file}: was changed",)
    assert main([str(copy)]) == 1
    said = capsys.readouterr().err
    assert f"{file}: was changed" in said
    assert "--update" in said
    assert main([str(copy), "--update"]) == 0
    assert changed(copy) == ()


def test_new_and_missing_files_are_seen(copy):
    (copy / "other.yaml").write_text("task: x\n")
    (copy / "stock.yaml").unlink()
    assert changed(copy) == ("other.yaml: is new", "stock.yaml: is gone")


def test_what_python_leaves_behind_is_no_change(copy):
    cache = copy / "projects" / "stock" / "stock" / "__pycache__"
    cache.mkdir()
    (cache / "shelf.cpython-311.pyc").write_bytes(b"x")
    assert changed(copy) == ()


def test_pins_have_the_form_of_sha256sum(copy):
    update(copy)
    lines = (copy / "FIXTURES.sha256").read_text().splitlines()
    assert all(len(line.split("  ")[0]) == 64 for line in lines)
    (copy / "FIXTURES.sha256").write_text("nonsense\n")
    assert main([str(copy)]) == 2


def test_a_folder_that_is_none(tmp_path, capsys):
    assert main([str(tmp_path / "missing")]) == 2
    assert "error:" in capsys.readouterr().err
