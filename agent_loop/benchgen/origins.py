"""SOURCE -> a plain folder with the library in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_loop.errors import UserError
from agent_loop.workspace import copy_project, fetch_source, unpack

PYPI = "pypi:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The right version of what bugs are put into."""

    name: str
    """Plain, for task names."""
    source: str
    """As it was asked for, without this machine's paths."""
    root: Path


def library_of(source: str, work: Path, env: Mapping[str, str]) -> Library:
    """Bring the library into `work`.

    Raises:
        UserError: it cannot be had; the message says why.
    """
    root = work / "right"
    if source.startswith(PYPI):
        requirement = source.removeprefix(PYPI)
        archive = fetch_source(requirement, work / "archive", env)
        unpacked = unpack(archive, work / "unpacked")
        # A release holds generated files that its repository ignores.
        for ignore in unpacked.rglob(".gitignore"):
            ignore.unlink()
        copy_project(unpacked, root)
        return Library(name=_plain(requirement.partition("==")[0]), source=source, root=root)
    folder = Path(source)
    if not folder.is_dir():
        raise UserError(
            f"{source}: no such folder. SOURCE is a folder, a git checkout or pypi:NAME==VERSION"
        )
    copy_project(folder.resolve(), root)
    name = _plain(folder.resolve().name)
    return Library(name=name, source=name, root=root)


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:40] or "library"
