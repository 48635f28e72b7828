"""A folder as a mapping from relative path to content, read when asked for."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

_CHUNK_BYTES = 1 << 20


class Tree(Mapping[str, bytes]):
    """The regular files under a folder, by their path with `/`, in sorted order.

    The list of files is taken once; contents are read each time. Symbolic links are not followed.

    Raises:
        OSError: the folder cannot be listed, or a file is gone when it is read.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, os.stat_result] = {}
        links: list[str] = []
        for path, status in sorted(_walk(root)):
            if stat.S_ISREG(status.st_mode):
                self._files[path] = status
            elif stat.S_ISLNK(status.st_mode):
                links.append(path)
        self.symlinks = frozenset(links)

    def __getitem__(self, path: str) -> bytes:
        if path not in self._files:
            raise KeyError(path)
        return (self.root / path).read_bytes()

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def size(self, path: str) -> int:
        """Bytes."""
        return self._files[path].st_size

    def status(self, path: str) -> os.stat_result:
        return self._files[path]

    def executable(self, path: str) -> bool:
        return bool(self._files[path].st_mode & stat.S_IXUSR)

    def link(self, path: str) -> str:
        """Where a symbolic link points."""
        return str((self.root / path).readlink())

    def digest(self) -> str:
        """SHA-256 over paths and contents; times, owners and modes make no difference."""
        total = hashlib.sha256()
        for path in self._files:
            total.update(f"{len(path)}:{path}:{file_digest(self.root / path)};".encode())
        for path in sorted(self.symlinks):
            total.update(f"{len(path)}:{path}->{self.link(path)};".encode())
        return total.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content, read in pieces."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK_BYTES):
            total.update(piece)
    return total.hexdigest()


def _walk(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        with os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                else:
                    yield path, entry.stat(follow_symlinks=False)
