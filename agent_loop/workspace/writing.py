"""Puts changed files into the working copy, all of them or none."""

import secrets
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from agent_loop.errors import ReplyError, StoreFault
from agent_loop.paths import OutsidePath, inside


def apply(
    root: Path, files: Mapping[str, bytes | None], *, executable: Collection[str] = ()
) -> None:
    """Write new contents under `root`; `None` deletes. Modes of existing files are kept.

    Every path is checked and every content is on disk before the first file is replaced.

    Raises:
        ReplyError: a path leads outside, through a link, or onto a folder; nothing was written.
        StoreFault: the disk refused.
    """
    places = {path: _place(root, path) for path in files}
    staged: dict[Path, Path] = {}
    try:
        # A folder may have to take the place of a file that goes away in the same change.
        for path, data in files.items():
            if data is None:
                places[path].unlink(missing_ok=True)
        for path, data in files.items():
            if data is not None:
                staged[places[path]] = _stage(places[path], data, run=path in executable)
        for place, temporary in staged.items():
            temporary.replace(place)
        for path, data in files.items():
            if data is None:
                _remove_empty_folders(root, places[path].parent)
    except OSError as problem:
        raise StoreFault(f"{root}: the changes could not be written: {problem}.") from problem
    finally:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)


def _place(root: Path, path: str) -> Path:
    try:
        inside(root, path)
    except OutsidePath as problem:
        raise ReplyError(f"Bad path: {problem}.") from problem
    place = root
    for part in path.split("/"):
        place = place / part
        if place.is_symlink():
            raise ReplyError(f"Bad path {path!r}: {place.relative_to(root)} is a symbolic link.")
    if place.is_dir():
        raise ReplyError(f"Bad path {path!r}: it is a folder.")
    return place


def _stage(place: Path, data: bytes, *, run: bool) -> Path:
    mode = 0o755 if run else 0o644
    if place.exists():
        mode = stat.S_IMODE(place.stat().st_mode)
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.parent / f".{secrets.token_hex(8)}.tmp"
    with temporary.open("xb") as file:
        file.write(data)
    temporary.chmod(mode)
    return temporary


def _remove_empty_folders(root: Path, folder: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
