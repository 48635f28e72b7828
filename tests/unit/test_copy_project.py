# ruff: noqa: E501 (tables read best on one line)
"""The copy of a project: what comes along, what does not, and what a second copy costs."""

import os
import socket
import time
from pathlib import Path

import pytest

from agent_loop import procs
from agent_loop.errors import UserError
from agent_loop.workspace import CopyLimits, Tree, copy_project, manifest_path

OLD = 1_700_000_000


def make(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


@pytest.fixture
def project(tmp_path):
    return make(
        tmp_path / "project",
        {
            "pkg/a.py": "x = 1\n",
            "tests/test_a.py": "assert True\n",
            "run.sh": "true\n",
            "empty.txt": "",
        },
    )


def copied(source, target=None, **limits):
    target = target or source.parent / "runs" / "copy"
    report = copy_project(source, target, limits=CopyLimits(**limits) if limits else None)
    return sorted(Tree(target)), report, target


def reasons(report):
    return {one.path: one.reason for one in report.left_out}


def snapshot(root):
    return {
        str(path.relative_to(root)): (path.lstat().st_mtime_ns, path.lstat().st_mode, path.is_file() and path.read_bytes())
        for path in sorted(root.rglob("*"))
    }  # fmt: skip


def test_contents_and_modes_come_along_and_the_source_is_not_touched(project):
    (project / "run.sh").chmod(0o755)
    before = snapshot(project)
    names, report, target = copied(project)
    assert names == ["empty.txt", "pkg/a.py", "run.sh", "tests/test_a.py"]
    assert (target / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (target / "pkg/a.py").stat().st_mode & 0o777 == 0o644
    assert report.left_out == ()
    assert snapshot(project) == before


def test_git_ignore_rules_of_every_folder(project):
    make(project, {
        ".gitignore": "*.log\n/build/\n!keep.log\n# comment\n\nsub/*.tmp\r\n[bad\n",
        "x.log": "", "keep.log": "", "build/x": "", "pkg/build/x": "", "sub/x.tmp": "", "sub/deep/x.tmp": "",
        "pkg/.gitignore": "!y.log\nsecret/\n", "pkg/y.log": "", "pkg/z.log": "", "pkg/secret/x": "",
        "pkg/__pycache__/a.pyc": "", "node_modules/x/i.js": "", ".venv/pyvenv.cfg": "", ".venv/lib/x.py": "",
    })  # fmt: skip
    names, report, _ = copied(project)
    assert names == [
        ".gitignore", "empty.txt", "keep.log", "pkg/.gitignore", "pkg/a.py", "pkg/build/x", "pkg/y.log",
        "run.sh", "sub/deep/x.tmp", "tests/test_a.py",
    ]  # fmt: skip
    assert report.ignored >= 6


def test_rules_agree_with_git(project):
    make(project, {
        ".gitignore": "*.o\n!important.o\nout\n/top.txt\nlib/**/gen\na?b.txt\n\\#hash\ndoc/*.txt\n[0-9].dat\n",
        **dict.fromkeys(
            ["x.o", "important.o", "out/x", "pkg/out", "top.txt", "pkg/top.txt", "lib/a/gen/x", "lib/gen",
             "acb.txt", "#hash", "doc/x.txt", "doc/s/x.txt", "1.dat", "a.dat", "pkg/x.o"], "."),
    })  # fmt: skip
    names, _, _ = copied(project)
    procs.run(["git", "init", "-q", str(project)], timeout_s=20)
    listed = procs.run(
        ["git", "-C", str(project), "ls-files", "-o", "--exclude-standard", "-z"], timeout_s=20
    )
    assert names == sorted(name for name in listed.out.decode().split("\0") if name)


def test_a_tracked_file_comes_along_though_it_is_ignored(project):
    make(
        project,
        {".gitignore": "*.log\nlib/\n", "x.log": "1", "y.log": "2", "lib/z.py": "", "lib/w.py": ""},
    )
    git = ["git", "-C", str(project)]
    procs.run([*git, "init", "-q"], timeout_s=20)
    procs.run([*git, "add", "-f", "x.log", "lib/z.py"], timeout_s=20)
    names, _, _ = copied(project)
    assert "x.log" in names
    assert "lib/z.py" in names
    assert "y.log" not in names
    assert "lib/w.py" not in names
    assert not any(name.startswith(".git/") for name in names)


def test_a_linked_work_tree_knows_what_is_tracked(project, tmp_path):
    make(project, {".gitignore": "*.log\n", "x.log": "1"})
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "-f", "."], ["commit", "-qm", "x"]):
        procs.run([*git, *command], timeout_s=20)
    procs.run([*git, "worktree", "add", "-q", str(tmp_path / "linked")], timeout_s=20)
    assert (tmp_path / "linked/.git").is_file()
    assert "x.log" in copied(tmp_path / "linked")[0]


def test_the_git_configuration_of_a_project_runs_nothing(project, tmp_path):
    mark = tmp_path / "ran"
    git = ["git", "-C", str(project)]
    procs.run([*git, "init", "-q"], timeout_s=20)
    procs.run([*git, "add", "."], timeout_s=20)
    procs.run([*git, "config", "core.fsmonitor", f"touch {mark}; false"], timeout_s=20)
    copied(project)
    assert not mark.exists()
    # Control: plain git in that folder runs it.
    procs.run([*git, "status"], timeout_s=20)
    assert mark.exists()


def test_files_with_credential_names_stay_behind_and_are_named(project):
    make(project, {".env": "A=1", "deploy/id_rsa": "x", ".aws/config": "x", ".env.example": "A="})
    names, report, _ = copied(project)
    assert set(reasons(report)) == {".env", "deploy/id_rsa", ".aws"}
    assert ".env.example" in names


KEYS = {
    "an API key": "x = 1\nKEY = '" + "sk-" + "proj-" + "a1B2" * 10 + "'\n",
    "a private key block": "x = 1\n-----BEGIN "
    + "RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----\n",
    "a key in a binary file": b"\0\1\n" + b"AKIA" + b"ABCDEFGHIJKLMNOP" + b"\0",
}


@pytest.mark.parametrize("content", KEYS.values(), ids=KEYS.keys())
def test_a_key_refuses_the_tree_and_is_not_shown(project, content):
    make(project, {"pkg/settings.py": content})
    with pytest.raises(UserError, match=r"pkg/settings.py:2: this file holds a ") as raised:
        copied(project)
    assert "a1B2" not in str(raised.value)
    assert "MIIE" not in str(raised.value)
    assert not (project.parent / "runs" / "copy").exists()


def test_links_stay_only_if_they_lead_to_something_that_is_copied(project, tmp_path):
    make(project, {".env": "A=1", "data/x.txt": "1"})
    outside = make(tmp_path / "outside", {"secret.txt": "s"})
    for name, aim in {
        "inner": "pkg/a.py", "inner_folder": "pkg", "pkg/up": "../data/x.txt", "absolute": str(project / "pkg/a.py"),
        "outer": "../outside/secret.txt", "outer_folder": "../outside", "dangling": "nowhere", "loop": "loop",
        "to_env": ".env", "chain": "outer", "etc": "/etc/passwd", "self": ".",
    }.items():  # fmt: skip
        (project / name).symlink_to(aim)
    _, report, target = copied(project)
    assert {p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_symlink()} == {
        "inner", "inner_folder", "pkg/up"
    }  # fmt: skip
    assert set(reasons(report)) == {
        ".env", "absolute", "outer", "outer_folder", "dangling", "loop", "to_env", "chain", "etc", "self"
    }  # fmt: skip
    assert "secret" not in "".join((target / n).read_text() for n in Tree(target))
    assert outside.exists()


def test_special_and_large_files_are_left_out(project):
    os.mkfifo(project / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(project)
        try:
            server.bind("sock")
        finally:
            os.chdir(here)
    make(project, {"big.bin": b"x" * 2000})
    names, report, _ = copied(project, file_bytes=1000)
    assert set(reasons(report)) == {"pipe", "sock", "big.bin"}
    assert "big.bin" not in names


def test_too_many_files_or_bytes_are_refused(project):
    with pytest.raises(UserError, match="more than 3 files"):
        copied(project, files=3)
    with pytest.raises(UserError, match="more than"):
        copied(project, total_bytes=5)


def test_names_that_other_systems_cannot_tell_apart(project):
    make(project, {"README": "1", "readme": "2"})
    names, report, _ = copied(project)
    assert {"README", "readme"} <= set(names)
    assert "cannot tell it from README" in reasons(report)["readme"]


def test_a_name_that_is_no_text_is_left_out(project):
    Path(os.fsdecode(os.fsencode(project) + b"/bad\xff.py")).write_text("x")
    names, report, _ = copied(project)
    assert names == ["empty.txt", "pkg/a.py", "run.sh", "tests/test_a.py"]
    assert len(report.left_out) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_are_left_out(project):
    (project / "pkg/a.py").chmod(0)
    assert "unreadable" in reasons(copied(project)[1])["pkg/a.py"]


def test_not_a_folder_and_overlap(project, tmp_path):
    with pytest.raises(UserError, match="is no folder"):
        copy_project(tmp_path / "nothing", tmp_path / "copy")
    with pytest.raises(UserError, match="is no folder"):
        copy_project(project / "run.sh", tmp_path / "copy")
    for target in (project, project / "runs" / "copy", tmp_path):
        with pytest.raises(UserError, match="inside the project or around it"):
            copy_project(project, target)


# --- the second copy ------------------------------------------------------------------------------


def age(root):
    """As if the project had not been touched for years; change times cannot be set, so wait."""
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (OLD, OLD))
    time.sleep(2.1)


def test_an_unchanged_tree_is_only_looked_at(project):
    age(project)
    _, first, target = copied(project)
    stamp = (target / "pkg/a.py").stat().st_mtime_ns
    _, second, _ = copied(project)
    assert (first.written, second.written, second.removed) == (4, 0, 0)
    assert (target / "pkg/a.py").stat().st_mtime_ns == stamp
    # A change of the source that keeps size and time is seen by its change time.
    (project / "pkg/a.py").write_text("x = 2\n")
    os.utime(project / "pkg/a.py", (OLD, OLD))
    assert copied(project)[1].written == 1
    assert (target / "pkg/a.py").read_text() == "x = 2\n"


def test_young_files_are_compared_by_content(project):
    _, _, target = copied(project)
    (project / "pkg/a.py").write_text("x = 2\n")
    assert copied(project)[1].written == 1
    assert (target / "pkg/a.py").read_text() == "x = 2\n"


def test_what_happened_in_the_copy_is_undone(project):
    _, _, target = copied(project)
    clean = Tree(target).digest()
    (target / "pkg/a.py").write_text("y = 1\n")
    (target / "tests/test_a.py").unlink()
    (target / "run.sh").unlink()
    (target / "run.sh").mkdir()
    (target / "run.sh/inner").write_text("")
    (target / "empty.txt").unlink()
    (target / "empty.txt").symlink_to("/etc/passwd")
    make(target, {"new/deep/x.py": "", "pkg/__pycache__/a.pyc": ""})
    _, report, _ = copied(project)
    assert Tree(target).digest() == clean
    assert report.written == 4
    assert not (target / "new").exists()


def test_what_left_the_project_leaves_the_copy(project):
    copied(project)
    (project / "pkg/a.py").unlink()
    (project / "run.sh").unlink()
    make(project, {"run.sh/now_a_folder.py": ""})
    names, _, target = copied(project)
    assert names == ["empty.txt", "run.sh/now_a_folder.py", "tests/test_a.py"]
    assert not (target / "pkg").exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 9}', '{"version": 1, "files": {"a": 1}}', "\xff"]
)
def test_a_broken_manifest_means_comparing_everything(project, text):
    _, _, target = copied(project)
    manifest_path(target).write_bytes(text.encode("latin-1"))
    _, report, _ = copied(project)
    assert report.written == 0
