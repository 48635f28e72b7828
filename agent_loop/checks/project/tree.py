"""The copy that containers see: the untouched project plus what one run lays over it.

It is mounted read-only and outlives the containers, so that a run writes only the files that
differ from the run before: an unchanged tree is never copied again.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from agent_loop.errors import StoreFault


class Base:
    """The untouched project, read once; nothing of it is kept in memory but names and digests."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.links: dict[str, str] = {}
        self.digests: dict[str, str] = {}
        for path in walk(root):
            name = path.relative_to(root).as_posix()
            if path.is_symlink():
                self.links[name] = str(path.readlink())
            else:
                self.digests[name] = digest(path.read_bytes())

    def __contains__(self, name: str) -> bool:
        return name in self.digests or name in self.links

    def hash(self, chosen: Callable[[str], bool] = lambda _: True) -> str:
        """SHA-256 over the names and contents of some files, or of all."""
        lines = [f"{one}\n{what}\n" for one, what in sorted(self.digests.items()) if chosen(one)]
        lines += [f"{one} -> {what}\n" for one, what in sorted(self.links.items()) if chosen(one)]
        return digest("".join(lines).encode("utf-8", "surrogateescape"))

    def read(self, name: str) -> bytes | None:
        """`None` where there is no such file."""
        return (self.root / name).read_bytes() if name in self.digests else None


class Mounted:
    """One mounted copy. Not for two runs at a time."""

    def __init__(self, base: Base, root: Path, *, like: "Mounted | None" = None) -> None:
        """`like`: a fresh copy of the same base; files are shared by links, never written to."""
        self._base = base
        self.root = root
        self._laid: dict[str, str | None] = {}
        """What differs from the base: digest by name, `None` for a file that is gone."""
        if root.exists():
            shutil.rmtree(root)
        if like is None:
            _copy(base.root, root, _fresh)
        else:
            _copy(like.root, root, _linked)

    def show(self, overlay: Mapping[str, bytes | None]) -> None:
        """Make the tree the base plus `overlay`; `None` takes a file away.

        Raises:
            StoreFault: the disk refused.
        """
        try:
            for name in set(self._laid) - set(overlay):
                self._put(name, self._base.read(name))
            for name, data in overlay.items():
                if self._laid.get(name, "") != (None if data is None else digest(data)):
                    self._put(name, data)
        except OSError as error:
            raise StoreFault(f"{self.root}: the project copy cannot be written: {error}") from error

    def tampered(self, names: Callable[[str], bool]) -> list[str]:
        """Files chosen by `names` that are not what was last laid there, looked at on disk."""
        return [
            name
            for name, known in self._base.digests.items()
            if names(name) and _digest_of(self.root / name) != (self._laid.get(name, known) or "")
        ]

    def _put(self, name: str, data: bytes | None) -> None:
        path = self._inside(name)
        if data is None:
            path.unlink(missing_ok=True)
            _prune(path.parent, self.root)
        else:
            _replace(path, data, executable=_executable(self._base.root / name))
        now = None if data is None else digest(data)
        if now == self._base.digests.get(name):
            self._laid.pop(name, None)
        else:
            self._laid[name] = now

    def _inside(self, name: str) -> Path:
        parts = PurePosixPath(name).parts
        places = [self.root.joinpath(*parts[: count + 1]) for count in range(len(parts))]
        odd = not parts or ".." in parts or PurePosixPath(name).is_absolute()
        if odd or any(place.is_symlink() for place in places):
            raise StoreFault(f"{name}: not a plain path inside the project copy")
        return places[-1]


def walk(root: Path) -> Iterator[Path]:
    """Every file and link below `root`, sorted, compiled leftovers left out."""
    for folder, folders, files in os.walk(root):
        place = Path(folder)
        linked = [name for name in folders if (place / name).is_symlink()]
        folders[:] = sorted(
            name for name in folders if name not in linked and name != "__pycache__"
        )
        for name in sorted([*files, *linked]):
            if not name.endswith((".pyc", ".pyo")):
                yield place / name


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(path: Path) -> str:
    try:
        return digest(path.read_bytes())
    except OSError:
        return ""


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _copy(source: Path, target: Path, put: Callable[[Path, Path], None]) -> None:
    target.mkdir(parents=True)
    target.chmod(0o755)
    for path in walk(source):
        goal = target / path.relative_to(source)
        if not goal.parent.is_dir():
            goal.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            goal.symlink_to(path.readlink())
        else:
            put(path, goal)


def _fresh(path: Path, goal: Path) -> None:
    """Readable for the container's user, whatever the owner's modes are."""
    shutil.copyfile(path, goal)
    goal.chmod(0o755 if _executable(path) else 0o644)


def _linked(path: Path, goal: Path) -> None:
    try:
        goal.hardlink_to(path)
    except OSError:
        _fresh(path, goal)


def _replace(path: Path, data: bytes, *, executable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(number, "wb") as file:
        file.write(data)
    Path(name).chmod(0o755 if executable else 0o644)
    Path(name).replace(path)


def _prune(folder: Path, root: Path) -> None:
    """Remove folders that an overlay had made."""
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
