"""The tools' own texts and edits, without a container."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_loop.episode.tools.bash import said
from agent_loop.episode.tools.boxes import ROOT, read_only
from agent_loop.episode.tools.container import Ran
from agent_loop.episode.tools.replacing import fitted, replaced
from agent_loop.episode.tools.shown import cut, decoded, visible
from agent_loop.episode.tools.specs import BASH, STRUCTURED, BadCall, arguments
from agent_loop.ports import ToolCall


def call(name, **given):
    return ToolCall(id="1", name=name, arguments=given)


# --- str_replace ---


def test_one_exact_match_is_replaced_and_shown():
    data, shown = replaced("a.py", b"a = 1\nb = 2\nc = 3\n", "b = 2", "b = 20\nd = 4")
    assert data == b"a = 1\nb = 20\nd = 4\nc = 3\n"
    assert "    2 | b = 20" in shown


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n"),
        (b"\xef\xbb\xbfa\nb\n", "b", "c", b"\xef\xbb\xbfa\nc\n"),
        (b"caf\xe9\nb\n", "b", "\xe9", b"caf\xe9\n\xe9\n".replace(b"\xc3\xa9", b"\xe9")),
        (b"# coding: latin-1\n\xe9\ny\n", "y", "\xfc", b"# coding: latin-1\n\xe9\n\xfc\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\nb\n", "b\n", "", b"a\n"),
        (b"a\nb", "a\n", "", b"b"),
        (b"a\n", "a\n", "b", b"b"),
        (b"\talpha\n", "\talpha", "\tbeta", b"\tbeta\n"),
        ("α → β\n".encode(), "→", "⇒", "α ⇒ β\n".encode()),
    ],
)  # fmt: skip
def test_every_other_byte_stays(before, old, new, after):
    assert replaced("a.txt", before, old, new)[0] == after


def test_a_miss_shows_the_nearest_lines_to_copy():
    text = b"def f(x):\n    return x + 1\n\n\ndef g(y):\n    return y * 2\n"
    with pytest.raises(BadCall) as missed:
        replaced("a.py", text, "def g(y):\n  return y*2", "pass")
    said_ = str(missed.value)
    assert "    5 | def g(y):" in said_
    assert "    6 |     return y * 2" in said_
    assert "without the numbers" in said_
    assert "SEARCH" not in said_


def test_several_matches_name_their_lines():
    with pytest.raises(BadCall, match=r"3 times \(lines 1, 2, 4\)"):
        replaced("a.py", b"x\nx\ny\nx\n", "x", "z")


@pytest.mark.parametrize(
    ("old", "new", "why"), [("", "x", "empty"), ("a", "a", "the same"), ("\u20ac", "x", "not in")]
)
def test_what_changes_nothing_is_refused(old, new, why):
    with pytest.raises(BadCall, match=why):
        replaced("a.py", b"a\n", old, new)


def test_a_binary_file_and_a_character_that_does_not_fit():
    with pytest.raises(BadCall, match="binary"):
        replaced("a.bin", b"a\0b", "a", "c")
    with pytest.raises(BadCall, match="encoding"):
        replaced("a.py", b"caf\xe9\nb\n", "b", "\u20ac")


def test_a_broken_python_file_is_told():
    assert "line 1" in replaced("a.py", b"x = 1\n", "1", "(")[1]
    assert "valid" not in replaced("a.txt", b"x = 1\n", "1", "(")[1]


@given(
    st.lists(st.sampled_from(["a", "bb", "", "  c"]), max_size=8),
    st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8),
    st.text(alphabet="xyz\n", min_size=1, max_size=6),
)
def test_replacing_equals_plain_replacing_where_line_ends_are_plain(lines, ends, new):
    """The text reads as a plain replacement would; lines around it keep their bytes."""
    head = "".join(line + end for line, end in zip(lines, ends, strict=False))
    data = f"{head}UNIQUE\r\ntail\n".encode()
    after, _ = replaced("a.txt", data, "UNIQUE", new)
    plain = data.decode().replace("UNIQUE", new).replace("\r\n", "\n")
    assert after.decode().replace("\r\n", "\n") == plain
    assert after.startswith(head.encode())
    assert after.endswith(b"tail\n")


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (None, "a\nb\n", b"a\nb\n"),
        (b"x\r\ny\r\n", "a\nb\n", b"a\r\nb\r\n"),
        (b"x\r\n", "a\nb", b"a\r\nb"),
        (b"\xef\xbb\xbfx\n", "a\n", b"\xef\xbb\xbfa\n"),
        (b"\0", "a\n", b"a\n"),
        (b"", "a\r\n", b"a\r\n"),
    ],
)
def test_a_whole_file_keeps_the_line_ends_of_the_old_one(before, content, after):
    assert fitted(before, content) == after


# --- calls (E4: nothing but a valid call to an offered tool is executed) ---


def test_an_unknown_tool_gets_the_list():
    with pytest.raises(BadCall, match=r"no tool 'rm'.*view, search, str_replace"):
        arguments(call("rm", path="x"), STRUCTURED)
    with pytest.raises(BadCall, match="The tools are: bash"):
        arguments(call("view", path="x"), (BASH,))


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ({}, "needs the argument 'path'"),
        ({"path": None}, "needs the argument 'path'"),
        ({"path": 1}, "must be string, not int"),
        ({"path": ["a"]}, "must be string, not list"),
        ({"path": "a", "file": "b"}, "no argument 'file'"),
        ({"path": "a", "start": "x"}, "must be integer"),
        ({"path": "a", "start": True}, "must be integer"),
        ({"path": "a\0b"}, "NUL"),
    ],
)
def test_wrong_arguments_are_told(given_, why):
    with pytest.raises(BadCall, match=why):
        arguments(ToolCall(id="1", name="view", arguments=given_), STRUCTURED)


def test_numbers_as_text_and_nothings_are_taken():
    found = arguments(call("view", path="a", start="3", end=None), STRUCTURED)
    assert found == {"path": "a", "start": 3}


@given(
    st.dictionaries(
        st.text(max_size=8), st.none() | st.text() | st.integers() | st.lists(st.text())
    )
)
def test_no_arguments_raise_anything_else(given_):
    for spec in STRUCTURED:
        try:
            arguments(ToolCall(id="1", name=spec.name, arguments=given_), STRUCTURED)
        except BadCall:
            continue


# --- what is shown ---


@given(st.binary(max_size=300))
def test_nothing_that_is_shown_acts_on_a_terminal(data):
    shown = decoded(data)
    assert not any(
        (ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in shown
    )
    shown.encode("utf-8")


@given(st.text(max_size=400), st.integers(50, 200))
def test_a_cut_text_is_bounded_and_marked(text, most):
    shown, missing = cut(text, most)
    assert len(shown) <= max(most, 50)
    assert missing == (len(text) > most)
    assert ("left out" in shown) or not missing


def test_lone_surrogates_do_not_survive():
    visible("\ud800a").encode("utf-8")


def ran(start, end=b"", total=None, code=0, why="", signal=None):
    size = len(start) + len(end) if total is None else total
    return Ran(code=code, signal=signal, why=why, start=start, end=end, total=size, seconds=2.0)


@pytest.mark.parametrize(
    ("how", "ok", "text"),
    [
        (ran(b""), True, "[no output]"),
        (ran(b"a\n"), True, "a"),
        (ran(b"a\n", code=3), False, "a\n[exit code 3]"),
        (ran(b"", code=None, signal=9), False, "[killed by signal 9; perhaps the memory ran out]"),
        (ran(b"a", code=None, why="time"), False, "a\n[stopped after 2 s: its time was over]"),
    ],
)
def test_how_a_command_ended_is_said(how, ok, text):
    done = said(how, 1000)
    assert (done.ok, done.text) == (ok, text)


def test_what_is_left_out_of_long_output_is_counted_in_bytes():
    done = said(ran(b"a" * 500, b"z" * 500, total=10_000), 400)
    assert done.cut
    assert len(done.text) <= 400
    assert f"[... {10_000 - 2 * done.text.count('z')} bytes left out ...]" in done.text


# --- what is mounted read-only ---


def protect(path):
    parts = path.split("/")
    return "tests" in parts[:-1] or parts[-1] == "conftest.py" or parts[-1].endswith(".toml")


def test_whole_folders_are_mounted_where_everything_in_them_is_protected(tmp_path):
    files = ["a.py", "pyproject.toml", "tests/test_a.py", "tests/deep/test_b.py", "pkg/m.py"]
    files += ["pkg/tests/test_m.py", "pkg/conftest.py"]
    mounts, covered = read_only(tmp_path, files, protect)
    assert covered == ("pkg/conftest.py", "pkg/tests", "pyproject.toml", "tests")
    assert [mount.target for mount in mounts] == [f"{ROOT}/{one}" for one in covered]
    assert mounts[-1].source == str(tmp_path / "tests")


def test_a_folder_in_which_new_files_are_allowed_is_mounted_file_by_file(tmp_path):
    _, covered = read_only(tmp_path, ["cfg/a.toml", "cfg/b.toml"], protect)
    assert covered == ("cfg/a.toml", "cfg/b.toml")
