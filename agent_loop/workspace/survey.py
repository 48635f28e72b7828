"""What of a project comes along, and what does not and why. Reads, never writes."""

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop.errors import UserError
from agent_loop.redact import looks_secret_name
from agent_loop.workspace.ignoring import Ignored, tracked_files


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyLimits:
    """What a project may be."""

    files: int = 100_000
    file_bytes: int = 50 << 20
    """A larger file stays behind and is reported."""
    total_bytes: int = 2 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One path that was not copied."""

    path: str
    reason: str


@dataclass(slots=True)
class Survey:
    """The files and links of a project that will be copied."""

    files: dict[str, os.stat_result] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    ignored: int = 0
    """Paths that git ignores, caches and history: counted, not listed."""
    total_bytes: int = 0


def survey(source: Path, limits: CopyLimits) -> Survey:
    """Walk a project.

    Raises:
        UserError: no folder, or more files or bytes than the limits allow.
    """
    if not source.is_dir():
        raise UserError(f"{source}: this is no folder. Give the path of the project's folder.")
    found = Survey()
    ignored = Ignored(source, tracked_files(source))
    for path, entry in _entries(source, ignored, found):
        _look(path, entry, found, limits)
        if len(found.files) > limits.files or found.total_bytes > limits.total_bytes:
            raise UserError(
                f"{source}: more than {limits.files} files or {limits.total_bytes >> 20} MiB. "
                "Point the task at a smaller folder, or name what is not needed in .gitignore."
            )
    _keep_inner_links(source, found)
    _note_collisions(found)
    return found


def _entries(
    source: Path, ignored: Ignored, found: Survey
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything that is not ignored, in sorted order, folders gone into."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(source / folder) as listing:
                names = {entry.name: entry for entry in listing}
        except OSError as problem:
            found.left_out.append(LeftOut(path=folder, reason=f"unreadable: {problem.strerror}"))
            continue
        if folder and "pyvenv.cfg" in names:
            found.ignored += 1
            continue
        ignored.enter(folder, names)
        for name in sorted(names):
            path = f"{folder}/{name}" if folder else name
            is_folder = names[name].is_dir(follow_symlinks=False)
            if ignored.ignores(path, is_folder=is_folder):
                found.ignored += 1
            elif looks_secret_name(name):
                found.left_out.append(LeftOut(path=path, reason="its name says credentials"))
            elif is_folder:
                waiting.append(path)
            else:
                yield path, names[name]


def _look(path: str, entry: os.DirEntry[str], found: Survey, limits: CopyLimits) -> None:
    status = entry.stat(follow_symlinks=False)
    reason = _why_not(path, status, limits)
    if reason:
        found.left_out.append(LeftOut(path=_printable(path), reason=reason))
    elif stat.S_ISLNK(status.st_mode):
        found.links[path] = str(Path(entry.path).readlink())
    else:
        found.files[path] = status
        found.total_bytes += status.st_size


def _why_not(path: str, status: os.stat_result, limits: CopyLimits) -> str:
    if _printable(path) != path:
        return "its name is not valid UTF-8"
    if stat.S_ISLNK(status.st_mode):
        return ""
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_size > limits.file_bytes:
        return f"larger than {limits.file_bytes >> 20} MiB"
    return ""


def _printable(path: str) -> str:
    return path.encode("utf-8", "replace").decode("utf-8")


def _keep_inner_links(source: Path, found: Survey) -> None:
    """A link stays if it is relative and leads to something that comes along."""
    folders = folders_of(found.files)
    real_root = os.path.realpath(source)
    for path, target in list(found.links.items()):
        reason = ""
        real = os.path.realpath(source / path)
        inside = os.path.relpath(real, real_root).replace(os.sep, "/")
        if Path(target).is_absolute():
            reason = "it is a link with an absolute target"
        elif inside.startswith("../") or inside in {".", ".."}:
            reason = "it is a link that leads out of the project"
        elif inside not in found.files and inside not in folders:
            reason = "it is a link to something that is not copied"
        if reason:
            del found.links[path]
            found.left_out.append(LeftOut(path=path, reason=reason))


def folders_of(paths: Iterable[str]) -> set[str]:
    """Every folder on the way to some paths."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _note_collisions(found: Survey) -> None:
    seen: dict[str, str] = {}
    for path in [*found.files, *found.links]:
        folded = unicodedata.normalize("NFC", path).casefold()
        other = seen.setdefault(folded, path)
        if other != path:
            reason = f"copied, but some systems cannot tell it from {other}"
            found.left_out.append(LeftOut(path=path, reason=reason))
