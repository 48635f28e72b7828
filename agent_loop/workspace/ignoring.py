"""What stays behind when a project is copied: what git ignores, caches, history."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from agent_loop import procs

LEFT_BEHIND = frozenset(
    {".git", ".hg", ".svn", ".bzr", "_darcs", "__pycache__", ".pytest_cache", ".mypy_cache",
     ".ruff_cache", ".tox", ".nox", ".hypothesis", ".eggs", "node_modules", ".DS_Store",
     "Thumbs.db"}
)  # fmt: skip
"""Names that never come along, at any depth."""
_MAX_IGNORE_BYTES = 1 << 20


@dataclass(slots=True)
class Ignored:
    """The `.gitignore` files of a tree, read on the way down, and what git tracks all the same."""

    root: Path
    tracked: frozenset[str]
    _rules: dict[str, GitIgnoreSpec] = field(default_factory=dict)
    _tracked_folders: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        folders: set[str] = set()
        for path in self.tracked:
            folder = path.rpartition("/")[0]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        self._tracked_folders = frozenset(folders)

    def enter(self, folder: str, names: Mapping[str, os.DirEntry[str]]) -> None:
        """Read the rules of a folder before its entries are asked about."""
        entry = names.get(".gitignore")
        if entry is None or not entry.is_file(follow_symlinks=False):
            return
        if entry.stat(follow_symlinks=False).st_size > _MAX_IGNORE_BYTES:
            return
        try:
            text = (self.root / folder / ".gitignore").read_bytes().decode("utf-8", "replace")
        except OSError:
            return
        lines = text.lstrip("\ufeff").split("\n")
        self._rules[folder] = GitIgnoreSpec.from_lines(_usable(lines))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Git would not see this path. A tracked file is never ignored."""
        name = path.rpartition("/")[2]
        if name in LEFT_BEHIND or name.endswith((".pyc", ".pyo")):
            return True
        if path in (self._tracked_folders if is_folder else self.tracked):
            return False
        verdict = False
        for folder, rules in self._rules.items():
            if folder and not path.startswith(folder + "/"):
                continue
            below = path[len(folder) + 1 :] if folder else path
            result = rules.check_file(below + "/" if is_folder else below)
            if result.include is not None:
                verdict = result.include
        return verdict


def _usable(lines: list[str]) -> list[str]:
    """Without the lines that the matcher refuses; git skips them silently as well."""
    usable: list[str] = []
    for line in lines:
        plain = line.rstrip("\r")
        try:
            GitIgnoreSpec.from_lines([plain])
        except ValueError:
            continue
        usable.append(plain)
    return usable


def tracked_files(root: Path) -> frozenset[str]:
    """What the project's git index names; empty without git or index.

    Git runs on an empty repository of its own with only the index lent to it, so that neither the
    configuration nor a hook of the project is read.
    """
    index = git_folder(root) / "index"
    if not index.is_file():
        return frozenset()
    with tempfile.TemporaryDirectory(prefix="agent-loop-") as scratch:
        env = _bare_environment(Path(scratch), index)
        try:
            made = procs.run(["git", "init", "-q", "--template=", scratch], timeout_s=20, env=env)
            listed = procs.run(
                ["git", "--git-dir", f"{scratch}/.git", "ls-files", "-z", "--cached"],
                timeout_s=60,
                env={**env, "GIT_INDEX_FILE": str(index)},
                cwd=Path(scratch),
            )
        except OSError:
            return frozenset()
    if made.code != 0 or listed.code != 0:
        return frozenset()
    names = listed.out.decode("utf-8", "surrogateescape").split("\0")
    return frozenset(name for name in names if name)


def git_folder(root: Path) -> Path:
    """`.git`, or the folder that a `.git` file of a linked work tree or submodule names."""
    place = root / ".git"
    if place.is_file() and place.stat().st_size < 4096:
        text = place.read_text(encoding="utf-8", errors="replace").strip()
        if text.startswith("gitdir:"):
            return root / text.removeprefix("gitdir:").strip()
    return place


def _bare_environment(home: Path, index: Path) -> dict[str, str]:
    return {
        "PATH": os.defpath + os.pathsep + "/usr/local/bin",
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CEILING_DIRECTORIES": str(index.parent.parent),
    }
