"""The package carries what it needs: quick looks; `tests.release.checklist` really installs it."""

import fnmatch
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from agent_loop.sandbox.project_image import FILES

ROOT = Path(__file__).resolve().parents[2]
DOORS = sorted(
    f"agent_loop.{path.parent.name}".removesuffix(".agent_loop")
    for path in (ROOT / "agent_loop").glob("**/__main__.py")
)


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


@pytest.mark.parametrize("door", DOORS)
def test_every_door_helps_and_refuses(door, tmp_path):
    """`--help` is 0; an unknown option is 2 with no traceback, in a folder that is no clone."""
    argv = [sys.executable, "-m", door]
    more = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120}
    import os

    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    helped = subprocess.run([*argv, "--help"], env=env, **more)
    assert helped.returncode == 0, helped.stderr
    assert "usage" in helped.stdout.lower()
    refused = subprocess.run([*argv, "--no-such-option"], env=env, **more)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert not list(tmp_path.iterdir())
