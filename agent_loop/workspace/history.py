"""Reads a checkout's commits without running anything that its configuration or hooks name.

Git runs on an empty repository of its own that borrows the objects of the checkout, and only
commands that print objects as they are: no filter, no attribute, no diff driver takes part.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_loop import procs
from agent_loop.errors import UserError
from agent_loop.workspace.ignoring import git_folder

GIT_S = 120.0
MOST_BYTES = 512 << 20
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit and the one before it."""

    id: str
    parent: str
    modified: tuple[str, ...]
    """Regular files that both have, with different content."""
    added: tuple[str, ...]


class History:
    """The commits reachable from a checkout's HEAD. Made by `opened`."""

    def __init__(self, git_dir: str, env: Mapping[str, str], head: str) -> None:
        self._git_dir = git_dir
        self._env = env
        self.head = head

    def commits(self, most: int) -> Iterator[Commit]:
        """The newest first, along first parents; those with one parent only.

        Raises:
            UserError: git cannot read them.
        """
        listed = self._git(["rev-list", "--first-parent", "--parents", f"-n{most}", self.head])
        for line in listed.decode("ascii").splitlines():
            names = line.split()
            if len(names) == 2:
                yield self._commit(names[0], names[1])

    def files(self, commit: str) -> dict[str, bytes]:
        """Every regular file of a commit."""
        entries = [
            (path, name)
            for mode, name, path in self._tree(commit)
            if mode in _REGULAR and _is_plain(path)
        ]
        return dict(
            zip([path for path, _ in entries], self._blobs([n for _, n in entries]), strict=True)
        )

    def _commit(self, name: str, parent: str) -> Commit:
        now = {path: (mode, blob) for mode, blob, path in self._tree(name) if mode in _REGULAR}
        before = {path: (mode, blob) for mode, blob, path in self._tree(parent)}
        return Commit(
            id=name,
            parent=parent,
            modified=tuple(
                path
                for path, (_, blob) in now.items()
                if path in before and before[path][0] in _REGULAR and before[path][1] != blob
            ),
            added=tuple(path for path in now if path not in before),
        )

    def _tree(self, commit: str) -> Iterator[tuple[str, str, str]]:
        listed = self._git(["ls-tree", "-r", "-z", "--full-tree", commit])
        for entry in listed.split(b"\0"):
            if entry:
                head, _, path = entry.partition(b"\t")
                mode, _, name = head.decode("ascii").split(" ")
                yield mode, name, path.decode("utf-8", "surrogateescape")

    def _blobs(self, names: Sequence[str]) -> Iterator[bytes]:
        asked = "".join(f"{one}\n" for one in names).encode("ascii")
        data = self._git(["cat-file", "--batch"], asked)
        at = 0
        for _ in names:
            end = data.index(b"\n", at)
            size = int(data[at:end].split(b" ")[2])
            yield data[end + 1 : end + 1 + size]
            at = end + size + 2

    def _git(self, arguments: Sequence[str], given: bytes | None = None) -> bytes:
        argv = ["git", "--git-dir", self._git_dir, *arguments]
        done = procs.run(
            argv, timeout_s=GIT_S, env=self._env, input=given, max_output_bytes=MOST_BYTES
        )
        if done.code != 0 or done.overflowed:
            said = done.err.decode("utf-8", "replace")[-400:].strip()
            raise UserError(f"git {arguments[0]}: {said or 'too much output'}")
        return done.out


@contextmanager
def opened(root: Path) -> Iterator[History]:
    """The history of a checkout.

    Raises:
        UserError: no checkout with commits, or no git on this machine.
    """
    place = _common(git_folder(root))
    head = _head(git_folder(root), place)
    if not head:
        raise UserError(f"{root}: no git checkout with commits. --strategy history needs one")
    with tempfile.TemporaryDirectory(prefix="agent-loop-") as scratch:
        env = {
            "PATH": os.defpath + os.pathsep + "/usr/local/bin",
            "HOME": scratch,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str((place / "objects").resolve()),
            "GIT_NO_LAZY_FETCH": "1",
        }
        try:
            procs.run(["git", "init", "-q", "--template=", scratch], timeout_s=20, env=env)
        except OSError as error:
            raise UserError(f"git cannot be started: {error.strerror}") from error
        yield History(f"{scratch}/.git", env, head)


def _is_plain(path: str) -> bool:
    parts = path.split("/")
    return not path.startswith("/") and not {"..", "", ".git"} & set(parts)


def _common(place: Path) -> Path:
    """Where a linked work tree keeps its objects."""
    link = place / "commondir"
    if link.is_file() and link.stat().st_size < 4096:
        return place / link.read_text(encoding="utf-8", errors="replace").strip()
    return place


def _head(own: Path, common: Path) -> str:
    """The commit of HEAD; empty where there is none."""
    text = _small(own / "HEAD")
    if not text.startswith("ref: "):
        return _hash(text)
    name = text.removeprefix("ref: ").strip()
    if not _is_plain(name):
        return ""
    if found := _hash(_small(common / name)):
        return found
    for line in _small(common / "packed-refs", 16 << 20).splitlines():
        value, _, ref = line.partition(" ")
        if ref.strip() == name:
            return _hash(value)
    return ""


def _small(path: Path, most: int = 4096) -> str:
    if not path.is_file() or path.stat().st_size > most:
        return ""
    return path.read_text(encoding="utf-8", errors="replace").strip()


def _hash(text: str) -> str:
    good = len(text) in (40, 64) and all(one in "0123456789abcdef" for one in text)
    return text if good else ""
