"""A file lock between processes: one holder, gone with it, and honest where there can be none."""

import contextlib
import errno
import os
import subprocess
import sys
import time

import pytest

from agent_loop.errors import SearchUnavailable, StoreFault
from agent_loop.locks import FileLock
from agent_loop.ports import SystemClock
from agent_loop.research.pace import Pace
from agent_loop.sandbox.turns import turn
from agent_loop.store import ThreadLock, lock_holder

CLOCK = SystemClock()
HOLD = """
import sys, time
from pathlib import Path
from agent_loop.locks import FileLock
with FileLock(Path(sys.argv[1])) as lock:
    assert lock.take()
    lock.write(b"from another process")
    print("held", flush=True)
    time.sleep(60)
"""


@contextlib.contextmanager
def holder(path):
    """Another process that holds the lock until it is killed."""
    argv = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline().strip() == b"held"
            yield other
        finally:
            other.kill()


def test_one_process_holds_it_and_a_killed_one_no_more(tmp_path):
    with holder(tmp_path / "lock") as other, FileLock(tmp_path / "lock") as lock:
        assert not lock.take()
        assert not lock.wait(CLOCK, wait_s=0.1)
        other.kill()
        assert lock.wait(CLOCK, wait_s=20)
        assert lock.read() == b"from another process"


def test_control_a_file_that_only_says_held_outlives_its_holder(tmp_path):
    with holder(tmp_path / "lock") as other:
        pass
    assert other.returncode
    assert (tmp_path / "lock").exists()
    with FileLock(tmp_path / "lock") as lock:
        assert lock.take()


def test_who_waits_gets_it_when_it_is_given_back(tmp_path):
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.take()
    assert not second.take()
    first.close()
    assert second.wait(CLOCK, wait_s=0)
    second.close()
    with FileLock(tmp_path / "lock") as third:
        assert third.take()


FORKED = """
import os, sys
from pathlib import Path
from agent_loop.locks import FileLock
lock = FileLock(Path(sys.argv[1]))
assert lock.take()
reading, writing = os.pipe()
if not (child := os.fork()):
    os.read(reading, 1)  # it lives, and the file is open here too
    os._exit(0)
lock.close()
with FileLock(Path(sys.argv[1])) as other:
    assert other.take()
os.write(writing, b"x")
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_keep_it(tmp_path):
    argv = [sys.executable, "-c", FORKED, str(tmp_path / "lock")]
    assert subprocess.run(argv, timeout=60).returncode == 0


def test_what_it_keeps_is_replaced_whole(tmp_path):
    with FileLock(tmp_path / "lock") as lock:
        lock.write(b"a long text\r\n")
        lock.write(b"short\n")
        assert lock.read() == lock.read() == b"short\n"
    assert (tmp_path / "lock").read_bytes() == b"short\n"


def test_where_nothing_can_be_opened(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "no" / "lock", tmp_path / "file" / "lock"):
        with pytest.raises(OSError, match="lock"):
            FileLock(path)
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "lock", make=False)
    assert not (tmp_path / "lock").exists()


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs links that can be refused")
def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "mine").write_text("text")
    (tmp_path / "lock").symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="lock"):
        FileLock(tmp_path / "lock")


@pytest.fixture
def no_locks(monkeypatch):
    """A disk of another machine that knows no locks."""

    def refused(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", refused)


def users(folder):
    return {
        "thread": ThreadLock(folder / "lock", "a", "now"),
        "search": Pace(folder, CLOCK).turn(),
        "build": turn(folder / "lock"),
    }


@pytest.mark.parametrize("user", ["thread", "search", "build"])
def test_control_each_user_takes_it(tmp_path, user):
    with users(tmp_path)[user]:
        pass


@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize(("user", "fault"), [("thread", StoreFault), ("search", SearchUnavailable)])
def test_nobody_else_is_blamed_where_files_cannot_be_locked(tmp_path, user, fault):
    with pytest.raises(fault, match=r"cannot be locked \(No locks available\)"):
        users(tmp_path)[user].__enter__()


@pytest.mark.usefixtures("no_locks")
def test_a_build_goes_on_at_once_and_a_folder_counts_as_held(tmp_path):
    began = time.monotonic()
    with users(tmp_path)["build"]:
        pass
    assert time.monotonic() - began < 5
    assert lock_holder(tmp_path / "lock") == "another process"
    assert lock_holder(tmp_path / "none") is None
