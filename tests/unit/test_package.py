"""The package carries what it needs: quick looks; `tests.release.checklist` really installs it."""

import fnmatch
import os
import re
import shutil
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
door, *command = DOOR
for option in ("--help", "--no-such-option"):
    sys.argv = [sys.argv[0], *command, option]
    try:
        runpy.run_module(door, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        sys.stdout.flush()
        print(f"\\n=== {option} ended with {end.code}", flush=True)
"""


@pytest.mark.parametrize("door", doors())
def test_every_door_helps_as_documented_and_refuses(door, tmp_path):
    """`--help` is 0; an unknown option is 2 with no traceback, in a folder that is no clone and
    on a terminal that has no letters but ASCII."""
    done = subprocess.run(
        [sys.executable, "-c", BOTH.replace("DOOR", repr(door.split()))],
        cwd=tmp_path, text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1",
             "PYTHONIOENCODING": "ascii:strict"},
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


ENVIRONMENT = """#!/bin/sh
# Stands for an interpreter: `-m venv` makes an environment whose pip answers.
echo "$@" >> calls
mkdir -p .venv/bin
printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/python
chmod +x .venv/bin/python
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_an_environment_without_pip_is_made_again_and_a_whole_one_is_kept(tmp_path):
    """What `python -m venv` leaves behind on a Debian without python3-venv."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.txt", "requirements-model.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    broken = tmp_path / ".venv/bin/python"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").write_text(ENVIRONMENT)
    for path in (broken, tmp_path / "python"):
        path.chmod(0o755)
    for _ in range(2):
        argv = ["make", "env", f"PYTHON={tmp_path / 'python'}"]
        subprocess.run(argv, cwd=tmp_path, check=True, timeout=60, capture_output=True)
        (tmp_path / ".venv/ready").unlink()
    assert (tmp_path / "calls").read_text() == "-m venv --clear .venv\n"
