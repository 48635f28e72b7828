"""Every hostile episode in one real container; the controls of the host's side beside them."""

import shutil
import subprocess
import sys

import pytest

from tests.tamper.episode.hostile_cases import CASES, FORK_BOMB
from tests.tamper.episode.hostile_suite import line, run_suite

pytestmark = pytest.mark.docker


def test_nothing_leaves_and_nothing_hangs(base_image):
    results, left = run_suite(CASES)
    assert len(results) >= 30
    assert not [line(found) for found in results if found.problems]
    assert left == []


def test_the_suite_can_fail(base_image):
    """A case that expects what does not come is a problem, so silence means something."""
    wrong = type(FORK_BOMB)(name="wrong", command="echo a", says="^b$", taken=("nowhere.py",))
    (found,), left = run_suite([wrong])
    assert len(found.problems) == 2
    assert left == []


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell line")
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_control_git_runs_a_program_of_a_hostile_configuration(tmp_path):
    """What the patch step would do if it asked git inside the workspace."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a.py").write_text("a\n")
    subprocess.run(["git", "-C", str(tmp_path), "add", "a.py"], check=True)
    marker = tmp_path / "marker"
    with (tmp_path / ".git" / "config").open("a") as config:
        config.write(f"[diff]\n\texternal = touch {marker}; true\n")
    (tmp_path / "a.py").write_text("b\n")
    subprocess.run(["git", "-C", str(tmp_path), "diff"], check=False, capture_output=True)
    assert marker.exists()


def test_control_a_copy_that_follows_links_takes_the_hosts_files(tmp_path):
    """What `tree` would give if it read a folder that the commands can write."""
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    work = tmp_path / "work"
    work.mkdir()
    (work / "stolen.py").symlink_to(secret)
    shutil.copytree(work, tmp_path / "copy")
    assert (tmp_path / "copy" / "stolen.py").read_text() == "of the host"
