"""The host's side of the pipe against programs that say anything at all."""

import contextlib
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_loop.episode.tools.container import ran
from agent_loop.episode.tools.harvest import harvest
from agent_loop.episode.tools.inside.frames import LENGTHS, lengths, packed
from agent_loop.episode.tools.talk import Ended, Talk
from agent_loop.errors import Cancelled, DeadlinePassed
from agent_loop.ports import SystemClock
from agent_loop.workspace import Tree

FAR = SystemClock().monotonic() + 3600


class Said:
    """A session that says what it was made with, and then ends or is silent."""

    name = ""

    def __init__(self, *pieces, ends=True):
        self.pieces = list(pieces)
        self.ends = ends
        self.sent = b""

    def send(self, data, *, deadline):
        self.sent += data

    def receive(self, *, deadline):
        if self.pieces:
            return self.pieces.pop(0)
        if self.ends:
            return b""
        raise DeadlinePassed("nothing")


def talk(*pieces, ends=True):
    return Talk(Said(*pieces, ends=ends), SystemClock())


@given(st.dictionaries(st.text(max_size=5), st.integers()), st.binary(max_size=50), st.data())
def test_a_frame_comes_whole_however_it_is_cut(header, body, data):
    whole = packed(header, body) * 2
    at = data.draw(st.integers(0, len(whole)))
    pieces = [piece for piece in (whole[:at], whole[at:]) if piece]
    one = talk(*pieces)
    assert one.take(deadline=FAR) == (header, body)
    assert one.take(deadline=FAR) == (header, body)


@given(st.binary(max_size=200))
def test_anything_else_is_an_end_and_nothing_worse(data):
    with contextlib.suppress(Ended):
        talk(data).take(deadline=FAR)


@pytest.mark.parametrize(
    "frame",
    [
        b"\xff" * LENGTHS,
        (4).to_bytes(4, "big") + (1 << 60).to_bytes(8, "big") + b"null",
        packed({})[:LENGTHS] + b"[]",
        (4).to_bytes(4, "big") + bytes(8) + b"null",
        (6).to_bytes(4, "big") + bytes(8) + b"\xff\xfe\xff\xfe\xff\xfe",
        (4000).to_bytes(4, "big") + bytes(8) + b"[" * 4000,
        (5000).to_bytes(4, "big") + bytes(8) + b"1" * 5000,
    ],
)
def test_no_answer_of_ours(frame):
    with pytest.raises(Ended):
        talk(frame).take(deadline=FAR)


def test_lengths_are_what_was_packed():
    assert lengths(packed({"a": 1}, b"xyz")) == (len(json.dumps({"a": 1})), 3)


def test_a_cancelled_question_tells_the_program_to_stop():
    cancel = threading.Event()
    cancel.set()
    one = talk(packed({"code": None}))
    with pytest.raises(Cancelled):
        one.ask({"op": "run"}, deadline=FAR, cancel=cancel)
    assert b'"stop"' in one.session.sent


def test_a_silent_program_passes_its_deadline():
    with pytest.raises(DeadlinePassed):
        talk(ends=False).ask({}, deadline=SystemClock().monotonic(), cancel=threading.Event())


FINE = {"code": 0, "signal": None, "why": "", "seconds": 0.5, "total": 3, "start": 1}


def test_an_answer_about_a_command_is_read():
    found = ran(FINE, b"abc")
    assert (found.start, found.end, found.code, found.total) == (b"a", b"bc", 0, 3)


@pytest.mark.parametrize(
    "forged",
    [
        {"seconds": 10**400}, {"total": "x"}, {"start": None}, {"code": []}, {"signal": {}},
        {"total": float("inf")}, {"code": float("nan")},
    ],
)  # fmt: skip
def test_a_forged_answer_is_none(forged):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        ran(FINE | forged, b"abc")
    for name in FINE:
        with pytest.raises(KeyError):
            ran({key: value for key, value in FINE.items() if key != name}, b"")


# --- the tree ---


def project(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "tests" / "test_a.py").write_text("the owner's\n")
    return Tree(tmp_path)


def taken(tmp_path, *frames, left=()):
    pieces = [packed({"path": path}, data) for path, data in frames]
    keeper = talk(*pieces, packed({"end": True, "left": left}))
    return harvest(keeper, project(tmp_path), lambda p: p.startswith("tests/"), deadline=FAR)


def test_protected_files_are_the_projects_own_whatever_stands_there(tmp_path):
    found = taken(tmp_path, ("a.py", b"b = 2\n"), ("tests/test_a.py", b"forged"))
    assert found.files == {"a.py": b"b = 2\n", "tests/test_a.py": b"the owner's\n"}


@pytest.mark.parametrize(
    "path",
    [
        "../a.py", "/etc/passwd", "a/../b.py", "a//b.py", "./a.py", "", "a\nb", "a\\b", "a\x1b[2J",
        "x" * 600, "\udcff", "tests/new.py",
    ],
)  # fmt: skip
def test_a_path_that_is_none_is_left_out_and_named(tmp_path, path):
    found = taken(tmp_path, (path, b"x"))
    assert set(found.files) == {"tests/test_a.py"}
    (line,) = found.left_out
    assert line.isprintable()


def test_leftovers_of_tools_are_no_news(tmp_path):
    found = taken(tmp_path, ("a.pyc", b"x"), (".coverage", b"x"))
    assert found.left_out == ()
    assert set(found.files) == {"tests/test_a.py"}


def test_what_the_keeper_left_out_is_named_without_escapes(tmp_path):
    found = taken(tmp_path, left=[["l\x1bink", "a symbolic link"]])
    assert found.left_out == ("l\\x1bink: a symbolic link",)


@pytest.mark.parametrize(
    ("why", "stays"),
    [
        ("larger than 5 bytes", True),
        ("cannot be read: Input/output error", True),
        ("the files are too large together", True),
        ("a symbolic link", False),
        ("neither a file nor a folder", False),
    ],
)
def test_a_project_file_that_is_not_taken_is_not_deleted(tmp_path, why, stays):
    """Otherwise the patch would take away a file that only could not be read."""
    found = taken(tmp_path, left=[["a.py", why]])
    assert ("a.py" in found.files) == stays
    assert found.left_out == (f"a.py: {why}",)


def test_a_large_file_of_the_project_is_asked_for(tmp_path):
    (tmp_path / "big.bin").write_bytes(b"x" * ((16 << 20) + 1))
    keeper = talk(packed({"end": True, "left": []}))
    harvest(keeper, project(tmp_path), lambda _: False, deadline=FAR)
    assert f'"file_bytes": {(16 << 20) + 1}'.encode() in keeper.session.sent
