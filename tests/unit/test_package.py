"""The package carries what it needs: quick looks; `tests.release.checklist` really installs it."""

import fnmatch
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent_loop.sandbox.project_image import FILES
from tests.release.commands import PAGE, doors, section

ROOT = Path(__file__).resolve().parents[2]


def test_every_data_file_is_in_the_wheel():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = listed["tool"]["setuptools"]["package-data"]["agent_loop"]
    names = [
        path.relative_to(ROOT / "agent_loop").as_posix()
        for path in (ROOT / "agent_loop").rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    ]
    left_out = [
        name for name in names
        if not any(fnmatch.fnmatch(name, p.removeprefix("**/")) for p in patterns)
    ]  # fmt: skip
    assert names
    assert not left_out


def test_the_recipes_are_in_the_wheel():
    carried = re.findall(r'"([\w.]+)"', (ROOT / "setup.py").read_text().split("RECIPES")[1])
    assert set(FILES) <= set(carried)
    assert all((ROOT / "sandbox" / name).is_file() for name in FILES)
    tracked = {p.name for p in (ROOT / "sandbox").iterdir() if p.suffix != ".pyc" and p.is_file()}
    assert tracked - {"build_base_image.py"} <= set(carried)


BOTH = """
import runpy, sys
for option in ("--help", "--no-such-option"):
    sys.argv = [sys.argv[0], option]
    try:
        runpy.run_module(DOOR, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        sys.stdout.flush()
        print(f"\\n=== {option} ended with {end.code}", flush=True)
"""


@pytest.mark.parametrize("door", doors())
def test_every_door_helps_as_documented_and_refuses(door, tmp_path):
    """`--help` is 0; an unknown option is 2 with no traceback, in a folder that is no clone."""
    done = subprocess.run(
        [sys.executable, "-c", BOTH.replace("DOOR", repr(door))],
        cwd=tmp_path, text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1"},
    )  # fmt: skip
    text, _, rest = done.stdout.partition("\n=== --help ended with 0\n")
    assert "usage" in text.lower(), done.stdout
    assert "=== --no-such-option ended with 2" in rest, done.stdout
    assert "Traceback" not in done.stdout
    assert not list(tmp_path.iterdir())
    if sys.version_info < (3, 13):  # argparse writes its help otherwise there
        assert section(door, text) in PAGE.read_text("utf-8"), (
            "say python -m tests.release.commands"
        )
