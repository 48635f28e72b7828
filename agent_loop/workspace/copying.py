"""A copy of a project to work in. The source is never written to."""

import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_loop.errors import StoreFault, UserError
from agent_loop.paths import atomic_write
from agent_loop.redact import holds_key
from agent_loop.workspace.survey import CopyLimits, LeftOut, Survey, folders_of, survey

_MANIFEST_VERSION = 1
# A file written within this time of the copy may change again without its time stamp changing.
_RACY_NS = 2_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """What became of one copy."""

    files: int
    """Files and links in the copy now."""
    total_bytes: int
    written: int
    """Files written this time; 0 for an unchanged tree."""
    removed: int
    left_out: tuple[LeftOut, ...]
    ignored: int
    """Paths left behind because git ignores them, or caches and history."""
    seconds: float


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was when it was copied: source and copy by their stamps, and the content."""

    source: tuple[int, ...]
    copy: tuple[int, ...]
    digest: str


def copy_project(source: Path, target: Path, *, limits: CopyLimits | None = None) -> CopyReport:
    """Make `target` the same as the project at `source`, writing only what differs.

    Left behind: what git ignores, history, caches; credential-shaped files, links that lead out,
    special and very large files (these are listed in the report). A manifest beside `target`
    remembers what was copied, so that an unchanged tree is only looked at.

    Raises:
        UserError: no folder, too large, or a file holds a key: nothing was copied then.
        StoreFault: the disk refused.
    """
    began = time.monotonic()
    _refuse_overlap(source, target)
    found = survey(source, limits or CopyLimits())
    known = _read_manifest(target)
    existed = target.exists()
    try:
        report = _Copy(source, target, found, known).run()
    except UserError:
        if not existed:
            shutil.rmtree(target, ignore_errors=True)
        raise
    except OSError as problem:
        raise StoreFault(f"{target}: the copy of {source} failed: {problem}.") from problem
    return CopyReport(
        files=len(found.files) + len(found.links),
        total_bytes=found.total_bytes,
        written=report.written,
        removed=report.removed,
        left_out=tuple(sorted(found.left_out, key=lambda one: one.path)),
        ignored=found.ignored,
        seconds=time.monotonic() - began,
    )


def _refuse_overlap(source: Path, target: Path) -> None:
    real_source, real_target = source.resolve(), target.resolve()
    if real_target.is_relative_to(real_source) or real_source.is_relative_to(real_target):
        raise UserError(
            f"{source}: the copy would be made at {target}, inside the project or around it. "
            "Put runs_dir somewhere else."
        )


class _Copy:
    """One pass over the files of a survey."""

    def __init__(
        self, source: Path, target: Path, found: Survey, known: Mapping[str, _Seen]
    ) -> None:
        self.source = source
        self.target = target
        self.found = found
        self.known = known
        self.written = 0
        self.removed = 0
        self.now_ns = time.time_ns()
        self.seen: dict[str, _Seen] = {}
        self.folders: set[str] = set()

    def run(self) -> "_Copy":
        self.target.mkdir(parents=True, exist_ok=True)
        manifest_path(self.target).unlink(missing_ok=True)
        self._remove_others()
        for path, status in list(self.found.files.items()):
            self._file(path, status)
        for path, aim in self.found.links.items():
            self._link(path, aim)
        _write_manifest(self.target, self.seen)
        return self

    def _remove_others(self) -> None:
        """Take away what stands in the copy and not in the project."""
        needed = folders_of([*self.found.files, *self.found.links])
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            with os.scandir(self.target / folder) as entries:
                for entry in list(entries):
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if not entry.is_dir(follow_symlinks=False):
                        self._remove_if_foreign(path, entry)
                    elif path in needed:
                        waiting.append(path)
                    else:
                        shutil.rmtree(entry.path)
                        self.removed += 1

    def _remove_if_foreign(self, path: str, entry: os.DirEntry[str]) -> None:
        if entry.is_symlink():
            foreign = self.found.links.get(path) != str(Path(entry.path).readlink())
        else:
            foreign = path not in self.found.files
        if foreign:
            Path(entry.path).unlink()
            self.removed += 1

    def _file(self, path: str, status: os.stat_result) -> None:
        stamp, known = _stamp(status), self.known.get(path)
        place = self.target / path
        there = _status(place)
        if (
            known is not None
            and known.source == stamp
            and there is not None
            and known.copy == _stamp(there)
        ):
            self.seen[path] = known
            return
        try:
            data = (self.source / path).read_bytes()
        except OSError as problem:
            self._leave_out(path, place, f"unreadable: {problem.strerror}")
            return
        if known is None or known.digest != hashlib.sha256(data).hexdigest():
            _refuse_key(path, data)
        self._write(path, place, data, status)

    def _leave_out(self, path: str, place: Path, reason: str) -> None:
        self.found.left_out.append(LeftOut(path=path, reason=reason))
        del self.found.files[path]
        place.unlink(missing_ok=True)

    def _write(self, path: str, place: Path, data: bytes, status: os.stat_result) -> None:
        there = _status(place)
        mode = 0o755 if status.st_mode & stat.S_IXUSR else 0o644
        same = there is not None and there.st_size == len(data) and place.read_bytes() == data
        if not same:
            self._make_folder(path)
            if there is not None:
                # Never through a hard link that something else still reads.
                place.unlink()
            place.write_bytes(data)
            self.written += 1
        if there is None or not same or stat.S_IMODE(there.st_mode) != mode:
            place.chmod(mode)
        # Racy: stamps this young prove nothing, so they are not remembered.
        if self.now_ns - max(status.st_mtime_ns, status.st_ctime_ns) > _RACY_NS:
            copied = place.lstat()
            self.seen[path] = _Seen(
                _stamp(status), _stamp(copied), hashlib.sha256(data).hexdigest()
            )

    def _link(self, path: str, aim: str) -> None:
        place = self.target / path
        if not place.is_symlink():
            self._make_folder(path)
            place.symlink_to(aim)
            self.written += 1

    def _make_folder(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        if folder and folder not in self.folders:
            (self.target / folder).mkdir(parents=True, exist_ok=True)
            self.folders.add(folder)


def _refuse_key(path: str, data: bytes) -> None:
    """Raises UserError naming file and line; the key itself is never shown."""
    text = data.decode("latin-1")
    kind = holds_key(text)
    if kind is None:
        return
    line = _line_of_key(text)
    raise UserError(
        f"{path}:{line}: this file holds a {kind}. A project with keys in it is not copied: take "
        "the key out, or name the file in .gitignore."
    )


def _line_of_key(text: str) -> int:
    """The first line after which the text up to there holds a key."""
    lines = text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high) // 2
        if holds_key("\n".join(lines[: middle + 1])):
            high = middle
        else:
            low = middle + 1
    return low + 1


# --- what was copied before ---------------------------------------------------------------------


def manifest_path(target: Path) -> Path:
    """Beside the copy, so that it is no part of it."""
    return target.parent / f"{target.name}.manifest.json"


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        stat.S_IMODE(status.st_mode),
    )


def _status(path: Path) -> os.stat_result | None:
    """Of a regular file; anything else that stands there is taken away."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISREG(status.st_mode):
        return status
    if stat.S_ISDIR(status.st_mode):
        shutil.rmtree(path)
    else:
        path.unlink()
    return None


def _write_manifest(target: Path, seen: Mapping[str, _Seen]) -> None:
    files = {path: [one.source, one.copy, one.digest] for path, one in seen.items()}
    text = json.dumps({"version": _MANIFEST_VERSION, "files": files}, separators=(",", ":"))
    atomic_write(manifest_path(target), text)


def _read_manifest(target: Path) -> dict[str, _Seen]:
    """Empty when it is missing, torn or of another version: everything is compared then."""
    try:
        data = json.loads(manifest_path(target).read_text(encoding="utf-8"))
        if data["version"] != _MANIFEST_VERSION:
            return {}
        return {
            path: _Seen(tuple(source), tuple(copy), str(digest))
            for path, (source, copy, digest) in data["files"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
