"""`runs/`: a folder and a record for each thread."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from agent_loop.errors import StoreFault, ThreadError
from agent_loop.paths import atomic_write, thread_name
from agent_loop.ports import Clock, Json, SystemClock
from agent_loop.store.lock import ThreadLock, lock_holder
from agent_loop.store.mailbox import Mailbox
from agent_loop.store.record import VERSION, Summary, encode, read_summary
from agent_loop.store.trace import Trace, clean

MAX_JSON_BYTES = 64 << 20


class RunStore:
    """Everything a run leaves behind but its checkpoints.

    Every method that takes a thread raises ThreadError for a name that is none, and every one that
    writes raises StoreFault when the disk refuses.
    """

    def __init__(self, root: Path, *, database: str | None = None) -> None:
        """`database`: the PostgreSQL server that has the checkpoints instead of a file here."""
        self.root = root
        self.database = database
        self._listed: dict[str, tuple[tuple[int, int, int], Summary | None]] = {}

    @property
    def checkpoints(self) -> Path:
        """Where the graph keeps its states; nobody else opens it."""
        return self.root / "checkpoints.sqlite"

    def folder(self, thread: str) -> Path:
        """`runs/<thread>/`; it need not exist yet."""
        return self.root / thread_name(thread)

    def lock(self, thread: str, clock: Clock | None = None) -> ThreadLock:
        """The right to drive the thread, as a context manager.

        Raises:
            ThreadError: on entry, if another process (or another part of this one) drives it.
        """
        since = (clock or SystemClock()).now_iso()
        return ThreadLock(self.folder(thread) / "lock", thread, since)

    def driver(self, thread: str) -> str | None:
        """Who drives the thread now, in words; `None` for nobody."""
        return lock_holder(self.folder(thread) / "lock")

    def trace_path(self, thread: str) -> Path:
        return self.folder(thread) / "trace.jsonl"

    def trace(self, thread: str, clock: Clock) -> Trace:
        """The thread's `trace.jsonl`, to be written on; only its driver may."""
        return Trace(self.trace_path(thread), thread, clock)

    def mailbox(self, thread: str) -> Mailbox:
        return Mailbox(self.folder(thread))

    def record_path(self, thread: str) -> Path:
        return self.root / f"{thread_name(thread)}.json"

    def write_record(
        self,
        thread: str,
        record: Mapping[str, Json],
        summary: Summary,
        *,
        lasting: bool = True,
    ) -> None:
        """Replace the record, whole or not at all; keys are redacted. `lasting`: as in `paths`."""
        self._write(self.record_path(thread), encode(clean(record), summary), lasting=lasting)

    def read_record(self, thread: str) -> Mapping[str, Json]:
        """The record as it was written.

        Raises:
            ThreadError: there is none, or it cannot be read.
        """
        record = self._read(self.record_path(thread))
        if record is None:
            raise ThreadError(f"thread '{thread}' is unknown. Say --list to see which there are.")
        if record.get("version") != VERSION:
            raise ThreadError(f"{self.record_path(thread)}: not a record of version {VERSION}.")
        return record

    def write_file(self, thread: str, name: str, fields: Mapping[str, Json]) -> None:
        """A JSON file in the thread's folder: `job.json`, `certificate.json`. Not redacted."""
        raw = json.dumps(fields, indent=1, allow_nan=False)
        self._write(self.folder(thread) / name, raw.encode())

    def read_file(self, thread: str, name: str) -> Mapping[str, Json] | None:
        """A JSON file of the thread's folder; `None` where there is none.

        Raises:
            ThreadError: it is there and cannot be read.
        """
        return self._read(self.folder(thread) / name)

    def list(self) -> list[Summary]:
        """Every run, newest first. Reads 4 kB of each record that changed since the last list."""
        try:
            with os.scandir(self.root) as entries:
                found = [self._summary(e) for e in entries if e.name.endswith(".json")]
        except FileNotFoundError:
            return []
        return sorted((s for s in found if s), key=lambda s: (s.started, s.thread), reverse=True)

    def _summary(self, entry: "os.DirEntry[str]") -> Summary | None:
        if entry.name.startswith("."):
            return None  # half written
        try:
            stat = entry.stat()
        except OSError:
            return None
        # Records are replaced, never changed in place: another record is another file.
        mark = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        known = self._listed.get(entry.name)
        if known is None or known[0] != mark:
            known = self._listed[entry.name] = (mark, read_summary(entry.path))
        return known[1]

    def _write(self, path: Path, raw: bytes, *, lasting: bool = True) -> None:
        try:
            atomic_write(path, raw, lasting=lasting)
        except OSError as error:
            raise StoreFault(f"{path}: cannot be written: {error}.") from error

    def _read(self, path: Path) -> Mapping[str, Json] | None:
        try:
            about = path.stat()
            if not stat.S_ISREG(about.st_mode):
                raise ThreadError(f"{path}: not a file.")
            if about.st_size > MAX_JSON_BYTES:
                raise ThreadError(f"{path}: larger than {MAX_JSON_BYTES >> 20} MiB.")
            fields = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise ThreadError(f"{path}: cannot be read: {error}.") from error
        if not isinstance(fields, dict):
            raise ThreadError(f"{path}: not a JSON object.")
        return fields
