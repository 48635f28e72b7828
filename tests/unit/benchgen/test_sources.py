"""Where bugs come from: seeds, models, history; and archives that mean harm."""

import contextlib
import io
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from agent_loop.benchgen.ground import suite_order
from agent_loop.benchgen.history import line_edits
from agent_loop.benchgen.journal import Journal
from agent_loop.benchgen.layout import command_for, declared, named_like, wanted_python
from agent_loop.benchgen.model_bugs import read_bug, targets
from agent_loop.benchgen.mutators import bugs_of
from agent_loop.benchgen.order import grouped, ordered, split
from agent_loop.checks.project.tree import Base
from agent_loop.errors import ReplyError, UserError
from agent_loop.workspace import fetch_source, open_history, unpack

TEXT = b"""def one(a, b):
    if a < b:
        return a
    return b


class Box:
    def two(self, items, step=2):
        found = []
        for item in items:
            found.append(item + step)
        return found
"""


# --- order and split ---


def test_the_seed_alone_decides_the_order() -> None:
    bugs = bugs_of("m.py", TEXT)
    first = [bug.id for bug in ordered(bugs, 3)]
    assert first == [bug.id for bug in ordered(bugs, 3)]
    assert first != [bug.id for bug in ordered(bugs, 4)]
    assert Counter(first) == Counter(bug.id for bug in bugs)


def test_functions_take_turns() -> None:
    functions = [bug.functions[0] for bug in ordered(bugs_of("m.py", TEXT), 1)]
    assert set(functions[:2]) == {"m.py::one", "m.py::Box.two"}


FUNCTIONS = [(f"m.py::f{number}",) for number in range(30)]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("count", [2, 3, 4, 12, 30])
def test_both_sides_of_a_split_have_tasks(seed: int, count: int) -> None:
    sides = split(FUNCTIONS[:count], seed)
    assert sides == split(FUNCTIONS[:count], seed)
    assert sides.count("held_out") == max(1, count // 4)


@pytest.mark.parametrize("seed", range(20))
def test_a_function_is_on_one_side_of_a_split(seed: int) -> None:
    tasks = [("a",), ("b", "c"), ("c",), ("d", "a"), ("e",), ("f",), ("f", "g"), ("h",)]
    sides = split(tasks, seed)
    for name in "abcdefgh":
        assert len({side for one, side in zip(tasks, sides, strict=True) if name in one}) == 1
    assert set(sides) == {"dev", "held_out"}


def test_one_function_cannot_be_split() -> None:
    assert split([("a",), ("a",)], 1) == ["dev", "dev"]
    assert split([], 1) == []


def test_the_seed_chooses_what_is_held_out() -> None:
    assert len({tuple(split(FUNCTIONS, seed)) for seed in range(10)}) == 10


def test_combined_bugs_are_of_different_bugs_and_of_one_file_where_they_can() -> None:
    bugs = [*bugs_of("m.py", TEXT)[::4], *bugs_of("n.py", TEXT)[::4]]
    found = grouped(bugs, "x")
    assert found == grouped(bugs, "x")
    parts = [part.id for _, group in found for part in group]
    assert len(parts) == len(set(parts)) >= len(bugs) // 2
    for both, group in found:
        assert len(both.edits) == len(group) in (2, 3)
        assert both.parts == tuple(sorted(part.kind for part in group))
    assert sum(len(both.paths) > 1 for both, _ in found) <= 1


def test_the_journal_counts_by_kind_and_site() -> None:
    journal = Journal()
    for number, bug in enumerate(bugs_of("m.py", TEXT)):
        journal.add(bug, "accepted" if number % 2 else "equivalent")
    record = journal.as_record()
    assert set(record["by_site"]) == {"function", "import"}
    assert "| kind | tried | accepted | equivalent |" in journal.markdown()


# --- models ---


def test_a_model_rewrites_one_method_and_keeps_its_place() -> None:
    target = next(one for one in targets("m.py", TEXT) if one.name == "Box.two")
    reply = "Sure:\n```python\ndef two(self, items, step=2):\n    found = []\n"
    reply += "    for item in items:\n        found.append(item - step)\n    return found\n```\n"
    bug = read_bug(reply, target)
    wrong = bug.files(lambda _: TEXT)["m.py"]
    assert wrong == TEXT.replace(b"item + step", b"item - step")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("def other(a, b):\n    return a\n", "another name"),
        ("def one(a, b, c=1):\n    return a\n", "other parameters"),
        ("def one(a, b):\n    if a < b:\n        return a\n    return b\n", "nothing changed"),
        ("def one(a, b):\n    return a\n\ndef more():\n    return 1\n", "not exactly one"),
    ],
)
def test_other_answers_of_a_model_are_no_bugs(code: str, why: str) -> None:
    target = next(one for one in targets("m.py", TEXT) if one.name == "one")
    with pytest.raises(ReplyError, match=why):
        read_bug(f"```python\n{code}```", target)


# --- history ---


def test_line_edits_make_the_one_file_out_of_the_other() -> None:
    right, wrong = b"a\nb\nc\nd\ne", b"a\nB\nc\ne\nf\n"
    text = right
    for edit in sorted(line_edits("m.py", right, wrong), key=lambda one: -one.start):
        text = edit.applied(text)
    assert text == wrong


def git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=root, check=True,
        capture_output=True,
    )  # fmt: skip


def test_history_is_read_without_running_what_a_checkout_names(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    root = tmp_path / "lib"
    root.mkdir()
    git(root, "init", "-q")
    (root / "lib.py").write_text("x = 1\n")
    (root / "test_lib.py").write_text("1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    (root / "lib.py").write_text("x = 2\n")
    (root / "new.py").write_text("y = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "two")
    program = f"touch {mark}; cat"
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "core.fsmonitor"):
        git(root, "config", key, program)
    with open_history(root) as history:
        (commit,) = history.commits(10)
        assert commit.modified == ("lib.py",)
        assert commit.added == ("new.py",)
        assert history.files(commit.parent)["lib.py"] == b"x = 1\n"
        assert history.files(commit.id)["lib.py"] == b"x = 2\n"
    assert not mark.exists()


def test_a_folder_without_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no git checkout"), open_history(tmp_path):
        pass


# --- archives ---


def archive(tmp_path: Path, *members: tuple[str, str, bytes]) -> Path:
    path = tmp_path / "lib-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for kind, name, data in members:
            info = tarfile.TarInfo(name)
            if kind == "link":
                info.type, info.linkname = tarfile.SYMTYPE, data.decode()
                tar.addfile(info)
            else:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("name", ["../out.py", "/tmp/benchgen-out.py", "lib-1.0/../../out.py"])
def test_an_archive_cannot_leave_its_folder(tmp_path: Path, name: str) -> None:
    made = archive(tmp_path, ("file", "lib-1.0/a.py", b"1"), ("file", name, b"bad"))
    with pytest.raises(UserError, match="cannot be unpacked safely"):
        unpack(made, tmp_path / "into")
    assert not (tmp_path / "out.py").exists()


def test_links_of_an_archive_are_left_out(tmp_path: Path) -> None:
    made = archive(tmp_path, ("file", "lib-1.0/a.py", b"1"), ("link", "lib-1.0/b", b"/etc/passwd"))
    top = unpack(made, tmp_path / "into")
    assert [one.name for one in top.iterdir()] == ["a.py"]


def test_an_archive_is_unpacked_where_python_knows_no_filters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Debian 12 has Python 3.11.2; `filter=` came with 3.11.4."""
    monkeypatch.delattr(tarfile.TarFile, "extract")
    monkeypatch.delattr(tarfile.TarFile, "extractall")
    made = archive(tmp_path, ("file", "lib-1.0/a.py", b"1"), ("file", "lib-1.0/sub/b.py", b"2"))
    top = unpack(made, tmp_path / "into")
    assert (top / "a.py").read_bytes() == b"1"
    assert (top / "sub/b.py").read_bytes() == b"2"


def test_a_damaged_archive_is_a_message(tmp_path: Path) -> None:
    made = archive(tmp_path, ("file", "lib-1.0/a.py", bytes(range(256)) * 400))
    whole = made.read_bytes()
    for place in range(10, len(whole), 23):
        made.write_bytes(whole[:place] + b"\xff\x00" + whole[place + 2 :])
        with contextlib.suppress(UserError):
            unpack(made, tmp_path / f"into-{place}")
        made.write_bytes(whole[:place])
        with contextlib.suppress(UserError):
            unpack(made, tmp_path / f"cut-{place}")


@pytest.mark.parametrize("name", ["toolz", "toolz>=1", "--index-url=x==1", "a b==1", "../x==1"])
def test_only_a_pinned_name_is_fetched(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="name one version"):
        fetch_source(name, tmp_path, {})


# --- layout ---


def base(tmp_path: Path, files: dict[str, str]) -> Base:
    for name, text in files.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return Base(tmp_path)


def test_the_layout_is_found(tmp_path: Path) -> None:
    found = base(
        tmp_path,
        {
            "src/lib/a.py": "",
            "tests/test_a.py": "",
            "tests/deep/test_b.py": "",
            "docs/test_conf.py": "",
            "test_root.py": "",
            "PKG-INFO": "Name: lib\nRequires-Python: >=3.8\nRequires-Dist: six>=1.0\n"
            'Requires-Dist: colorama; sys_platform == "win32"\n'
            'Requires-Dist: pytest; extra == "test"\n\nText: Requires-Dist: no\n',
        },
    )
    assert command_for(found) == "pytest -q test_root.py tests"
    assert declared(found) == ("six>=1.0",)
    assert wanted_python(found) == ">=3.8"


def test_a_missing_module_is_looked_for_among_what_is_declared() -> None:
    assert named_like("dateutil", ["python-dateutil>=2", "six"]) == "python-dateutil>=2"
    assert named_like("freezegun", ["freezegun==1.0"]) == "freezegun==1.0"
    assert named_like("other", ["six"]) == "other"


def test_cases_out_of_a_set_have_one_order():
    """Such cases are collected in another order by every process."""
    names = ["t.py::test_b[rice]", "t.py::test_b[fish]", "t.py::test_a", "t.py::test_b[x[1]]"]
    wanted = ["t.py::test_b[fish]", "t.py::test_b[rice]", "t.py::test_b[x[1]]", "t.py::test_a"]
    assert suite_order(names) == wanted
    assert suite_order([names[1], names[3], names[0], names[2]]) == wanted
