# ruff: noqa: E501 (tables read best on one line)
"""Any two trees: the patch applies with the real `git apply` and gives back the second."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop import procs
from agent_loop.workspace import FileState, PatchRefused, Tree, states_of, write_patch
from agent_loop.workspace.patchread import BadPatch, applied
from agent_loop.workspace.quoting import quoted, unquoted

NAMES = st.sampled_from(
    ["a.py", "b.py", "pkg/a.py", "pkg/sub/b.py", "name with blank.txt", "na\u00efve.py", "tab\there.txt",
     'quo"te.txt', "back\\slash.txt", "b/b/a.py", "a b", "\u4e2d\u6587/x.py", " lead.txt", "trail ", "-dash", "b"]
)  # fmt: skip
LINE = st.sampled_from(
    [b"one\n", b"two\n", b"three\r\n", b"\n", b"\r\n", b"+++ b/x\n", b"--- a/x\n", b"@@ -1 +1 @@\n", b"-- x\n",
     b"diff --git a/a b/a\n", b"\\ No newline at end of file\n", b"tab\tend\t\n", b"\xe9\n", b"\x0c\n", b"a\rb\n",
     b"\xe2\x80\xa8\n", b" lead\n", b"end"]
)  # fmt: skip
DATA = st.lists(LINE, max_size=14).map(b"".join)
STATE = st.builds(FileState, data=DATA, executable=st.booleans())
TREE = st.dictionaries(NAMES, STATE, max_size=5)


def possible(tree):
    """No path is a folder of another."""
    return not any(other.startswith(path + "/") for path in tree for other in tree)


def laid_out(root: Path, tree):
    for path, state in tree.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(state.data)
        place.chmod(0o755 if state.executable else 0o644)


def git_apply(folder: Path, patch: bytes):
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_CEILING_DIRECTORIES": str(folder.parent)}  # fmt: skip
    return procs.run(["git", "apply", "-"], timeout_s=30, input=patch, cwd=folder, env=env)


def check_with_git(before, after):
    patch = write_patch(before, after)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "copy"
        root.mkdir()
        laid_out(root, before)
        if patch:
            done = git_apply(root, patch)
            assert done.code == 0, done.err.decode() + patch.decode("utf-8", "replace")
        assert states_of(Tree(root)) == after


@settings(max_examples=120, deadline=None)
@given(TREE.filter(possible), TREE.filter(possible))
def test_git_applies_every_patch(before, after):
    check_with_git(before, after)


@settings(max_examples=200, deadline=None)
@given(STATE, st.lists(st.tuples(st.integers(0, 14), LINE), max_size=4))
def test_small_edits_of_one_file(state, edits):
    lines = state.data.splitlines(keepends=True)
    for at, line in edits:
        lines[at : at + 1] = [line]
    new = FileState(data=b"".join(lines), executable=state.executable)
    patch = write_patch({"a.py": state}, {"a.py": new})
    assert applied(patch, {"a.py": (state.data, state.executable)} if patch else {}) == (
        {"a.py": (new.data, new.executable)} if patch else {}
    )


CASE_B4 = (
    {"one.py": b"x = 1", "old.py": b"def old():\n    return 1\n", "gone.py": b"1\n", "na\u00efve file.txt": b"a\r\nb\r\n"},
    {"one.py": b"x = 2", "new.py": b"def old():\n    return 1\n", "na\u00efve file.txt": b"a\r\nc\r\n",
     "mod/__init__.py": b"", "mod/m.py": b"y = 1\n"},
)  # fmt: skip


def test_b4_everything_at_once():
    before = {path: FileState(data=data) for path, data in CASE_B4[0].items()}
    after = {path: FileState(data=data) for path, data in CASE_B4[1].items()}
    after["run.sh"] = FileState(data=b"#!/bin/sh\n", executable=True)
    check_with_git(before, after)


@pytest.mark.parametrize("ends", [(b"", b""), (b"\n", b""), (b"", b"\n")])
@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (1, 1), (9, 10), (10, 9)])
def test_final_newlines(sizes, ends):
    old, new = (
        b"\n".join([b"x"] * size) + (end if size else b"") for size, end in zip(sizes, ends)
    )
    check_with_git({"a": FileState(data=old)}, {"a": FileState(data=new)})


def test_modes_alone_and_empty_files():
    check_with_git(
        {"a": FileState(data=b"x\n"), "b": FileState(data=b"")},
        {"a": FileState(data=b"x\n", executable=True), "c": FileState(data=b"", executable=True)},
    )


def test_a_file_becomes_a_folder_and_back():
    check_with_git({"a": FileState(data=b"x\n")}, {"a/b": FileState(data=b"x\n")})
    check_with_git({"a/b": FileState(data=b"x\n")}, {"a": FileState(data=b"x\n")})


def test_one_changed_line_of_a_crlf_file_is_one_line_of_patch():
    old = b"def f():\r\n    return 1\r\n\r\ndef g():\r\n    return 2\r\n"
    patch = write_patch(
        {"a.py": FileState(data=old)}, {"a.py": FileState(data=old.replace(b"1", b"10"))}
    )
    signs = [
        line[:1]
        for line in patch.split(b"\n")
        if line[:1] in {b"-", b"+"} and line[:3] not in {b"---", b"+++"}
    ]
    assert sorted(signs) == [b"+", b"-"]


def test_a_large_file_and_a_large_rewrite():
    old = b"".join(b"line %d\n" % n for n in range(20_000))
    check_with_git(
        {"a": FileState(data=old)}, {"a": FileState(data=old.replace(b"line 77\n", b"x\n"))}
    )
    check_with_git({"a": FileState(data=old)}, {"a": FileState(data=old.replace(b"line", b"word"))})


def test_binary_files_are_refused_with_a_message():
    with pytest.raises(PatchRefused, match=r"logo.png is a binary file"):
        write_patch({}, {"logo.png": FileState(data=b"\x89PNG\0")})


def test_nothing_changed_is_an_empty_patch():
    assert write_patch({"a": FileState(data=b"x")}, {"a": FileState(data=b"x")}) == b""


def test_the_round_trip_notices_a_patch_that_lies():
    old = {"a": (b"x\ny\n", False)}
    good = write_patch({"a": FileState(data=b"x\ny\n")}, {"a": FileState(data=b"x\nz\n")})
    assert applied(good, old) == {"a": (b"x\nz\n", False)}
    for wrong in (good.replace(b"-y", b"-q"), good.replace(b"-1,2", b"-1,3"), good.replace(b"@@ -1", b"@@ -2"),
                  good.replace(b"b/a", b"b/c"), b"hello\n", good[:-1]):  # fmt: skip
        with pytest.raises(BadPatch):
            applied(wrong, old)


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_quoting_comes_back(name):
    assert unquoted(quoted(name)) == name or name.startswith('"')
