"""The only way from a name in an address to a file under `runs/`."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agent_loop.errors import ThreadError
from agent_loop.paths import thread_name
from agent_loop.webguard import WebError

DOWNLOADS = (
    "changes.patch",
    "answer.md",
    "answer.bib",
    "answer.html",
    "certificate.json",
    "papers.json",
    "job.json",
)
"""Files of a run that a page may fetch; no other name is looked at."""
TRACE = "trace.jsonl"
MAILBOX = "owner_reply.json"
LOCK = "lock"
_INNER = (TRACE, MAILBOX, LOCK)
_PLAIN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_AT = os.open in os.supports_dir_fd


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A file of a run: how large it is."""

    name: str
    bytes: int


class Places:
    """Files of runs. Links are never followed, whichever moment one is put there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def thread(self, name: str) -> str:
        """The name, if it is one.

        Raises:
            WebError: it is no thread id (400).
        """
        try:
            return thread_name(name)
        except ThreadError as error:
            raise WebError(400, "name", str(error)) from error

    def is_thread(self, name: str) -> bool:
        """Whether the name is a thread id."""
        try:
            thread_name(name)
        except ThreadError:
            return False
        return True

    def there(self, thread: str) -> bool:
        """Whether the run has a folder that is really one."""
        try:
            return stat.S_ISDIR((self.root / self.thread(thread)).lstat().st_mode)
        except OSError:
            return False

    @contextmanager
    def opened(self, thread: str, name: str) -> Iterator[BinaryIO | None]:
        """The file for reading; `None` where there is none that is plain."""
        file = self._open(self.thread(thread), name)
        if file is None:
            yield None
            return
        with file:
            yield file

    def held(self, thread: str, names: tuple[str, ...] = DOWNLOADS) -> list[Held]:
        """Which of these plain files the run has."""
        found = []
        for name in names:
            with self.opened(thread, name) as file:
                if file is not None:
                    size = os.fstat(file.fileno()).st_size
                    found.append(Held(name=name, bytes=size))
        return found

    def read(self, thread: str, name: str, most_bytes: int) -> bytes | None:
        """At most this much of a file; `None` where there is none."""
        with self.opened(thread, name) as file:
            return None if file is None else file.read(most_bytes)

    def record(self, thread: str, most_bytes: int) -> bytes | None:
        """`runs/<thread>.json`, cut at `most_bytes`."""
        file = plain_file(self.root / f"{self.thread(thread)}.json")
        if file is None:
            return None
        with file:
            return file.read(most_bytes)

    def _open(self, thread: str, name: str) -> BinaryIO | None:
        if name not in DOWNLOADS and name not in _INNER:
            raise WebError(404, "file", "The page knows no such file.")
        folder = self.root / thread
        if not _AT:
            return plain_file(folder / name) if self.there(thread) else None
        try:
            at = os.open(folder, _FOLDER)
        except OSError:
            return None
        try:
            return plain_file(name, at)
        finally:
            os.close(at)


def plain_file(path: Path | str, at: int | None = None) -> BinaryIO | None:
    """Open a plain file: a pipe would hold us for ever, a device give no end."""
    try:
        if at is None and Path(path).is_symlink():  # where O_NOFOLLOW is unknown
            return None
        number = os.open(path, _PLAIN | _BINARY, dir_fd=at)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb")
