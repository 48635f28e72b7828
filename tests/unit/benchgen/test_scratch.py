"""The folder a build works in goes with it: at its end, by a signal, or with the next build."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_loop.benchgen.scratch import sweep, working_folder

BUILD = """
import sys, time
from pathlib import Path
from agent_loop.benchgen.scratch import discard, leaving_clean, working_folder

with working_folder(Path(sys.argv[1])) as place:
    (place / "right").mkdir()
    with leaving_clean(lambda: discard(place)):
        print(place, flush=True)
        time.sleep(60)
"""


def started(state: Path) -> list[tuple[subprocess.Popen[str], Path]]:
    """Two other processes, each with a working folder."""
    words = [sys.executable, "-c", BUILD, str(state)]
    others = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return [(one, Path((one.stdout or sys.stdin).readline().strip())) for one in others]


def ended(other: subprocess.Popen[str], number: int) -> int:
    other.send_signal(number)
    code = other.wait(20)
    if other.stdout is not None:
        other.stdout.close()
    return code


def test_a_folder_is_there_for_containers_and_gone_at_the_end(tmp_path: Path) -> None:
    with working_folder(tmp_path / "state") as place:
        assert place.stat().st_mode & 0o777 == 0o755
    assert list((tmp_path / "state").iterdir()) == []


def test_a_folder_is_gone_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x"), working_folder(tmp_path):
        raise ValueError("x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_stopped_build_leaves_nothing(tmp_path: Path) -> None:
    for (other, place), number in zip(
        started(tmp_path), (signal.SIGTERM, signal.SIGINT), strict=True
    ):
        assert place.is_dir()
        assert ended(other, number) == 130
        assert not place.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_what_a_killed_build_has_left_goes_with_the_next(tmp_path: Path) -> None:
    (killed, left), (running, kept) = started(tmp_path)
    assert ended(killed, signal.SIGKILL) == -signal.SIGKILL
    assert left.is_dir()
    with working_folder(tmp_path) as place:
        assert {one for one in tmp_path.iterdir() if one.is_dir()} == {place, kept}
    assert kept.is_dir()
    ended(running, signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_leaves_what_is_not_ours(tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "file").touch()
    state = tmp_path / "state"
    for name in ("benchgen-old", "runs"):
        (state / name).mkdir(parents=True)
    if os.name != "nt":
        (state / "benchgen-link").symlink_to(other)
    sweep(state)
    assert not (state / "benchgen-old").exists()
    assert (state / "runs").is_dir()
    assert (other / "file").exists()
