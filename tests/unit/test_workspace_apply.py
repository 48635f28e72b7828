"""Changes written into the working copy: all or none, and never anywhere else."""

import pytest

from agent_loop.errors import ReplyError
from agent_loop.workspace import Tree, apply


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "copy"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/a.py").write_text("x = 1\n")
    (root / "run.sh").write_text("true\n")
    (root / "run.sh").chmod(0o755)
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to("../outside")
    (root / "file_link").symlink_to("pkg/a.py")
    return root


def test_written_deleted_and_modes_kept(copy):
    apply(
        copy,
        {"pkg/a.py": None, "run.sh": b"false\n", "new/x.sh": b"1", "new/y.py": b"2"},
        executable={"new/x.sh"},
    )
    tree = Tree(copy)
    assert dict(tree) == {"run.sh": b"false\n", "new/x.sh": b"1", "new/y.py": b"2"}
    assert [path for path in tree if tree.executable(path)] == ["new/x.sh", "run.sh"]
    assert not (copy / "pkg").exists()


def test_a_folder_takes_the_place_of_a_file(copy):
    apply(copy, {"run.sh": None, "run.sh/inner.py": b"1"})
    assert Tree(copy)["run.sh/inner.py"] == b"1"


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "/x",
        "link/x",
        "link",
        "file_link",
        "pkg",
        "a\0b",
        "",
        "pkg/../../x",
        "C:\\x",
        "run.sh/../../x",
    ],
)
def test_a_bad_path_writes_nothing_at_all(copy, tmp_path, path):
    before = dict(Tree(copy))
    for files in (
        {"new.py": b"1", path: b"2"},
        {path: b"2", "new.py": b"1"},
        {path: None, "new.py": b"1"},
    ):
        with pytest.raises(ReplyError, match="Bad path"):
            apply(copy, files)
    assert dict(Tree(copy)) == before
    assert list((tmp_path / "outside").iterdir()) == []
    assert (copy / "link").is_symlink()


def test_a_digest_says_nothing_about_times_and_modes(copy):
    before = Tree(copy).digest()
    (copy / "run.sh").chmod(0o644)
    (copy / "pkg/a.py").write_text("x = 1\n")
    assert Tree(copy).digest() == before
    (copy / "pkg/a.py").write_text("x = 2\n")
    assert Tree(copy).digest() != before


def test_a_tree_is_a_mapping_without_its_links(copy):
    tree = Tree(copy)
    assert tree.symlinks == {"link", "file_link"}
    assert "link/x" not in tree
    with pytest.raises(KeyError):
        tree["../outside"]
