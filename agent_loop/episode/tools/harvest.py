"""The files of a workspace, taken over the pipe from a folder in which anything may stand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent_loop.episode.tools.shown import one_line
from agent_loop.episode.tools.talk import Ended, Talk
from agent_loop.workspace import Tree

FILE_BYTES = 16 << 20
"""A new or changed file may be so large, or as large as the project's largest."""
TOTAL_BYTES = 1 << 30
NEW_FILES = 60_000
PATH_CHARS = 500
LEFT_MOST = 200
SKIPPED = (
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".git",
    "node_modules",
)
"""Folders that tools leave behind; looked into only where the project has files in one."""
GONE = ("a symbolic link", "neither a file nor a folder")
"""Said by the keeper of what stands where a file was."""
_LEFTOVERS = (".pyc", ".pyo", ".coverage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """The working copy."""

    files: Mapping[str, bytes]
    executable: frozenset[str]
    left_out: tuple[str, ...]
    """What was not taken and why, one line each."""


def harvest(
    keeper: Talk,
    project: Tree,
    protected: Callable[[str], bool],
    *,
    deadline: float,
) -> Harvest:
    """Read the workspace; protected files are the project's own, whatever stands there.

    Raises:
        Ended: the keeper is gone.
        DeadlinePassed: it did not answer in time.
    """
    used = {part for path in project for part in path.split("/")[:-1]}
    request = {
        "op": "tree",
        "skip": [name for name in SKIPPED if name not in used],
        "file_bytes": max([FILE_BYTES, *(project.size(path) for path in project)]),
        "total_bytes": TOTAL_BYTES,
    }
    files: dict[str, bytes] = {path: project[path] for path in project if protected(path)}
    executable: set[str] = set()
    left: list[str] = []
    header, data = keeper.ask(request, deadline=deadline)
    while not header.get("end"):
        path = str(header.get("path"))
        if len(files) > len(project) + NEW_FILES:
            raise Ended(f"more than {NEW_FILES} new files")
        if why := _problem(path, project, protected):
            left.append(f"{one_line(path)}: {why}")
        elif not _leftover(path, project) and not protected(path):
            files[path] = data
            if header.get("executable"):
                executable.add(path)
        header, data = keeper.take(deadline=deadline)
    for path, why in header.get("left", ()):
        # Not taken is not taken away: only what is no file any more is gone.
        if path in project and why not in GONE:
            files[path] = project[path]
            if project.executable(path):
                executable.add(path)
    left += [
        f"{one_line(str(path))}: {one_line(str(why))}"
        for path, why in header.get("left", ())
        if path not in project.symlinks
    ]
    return Harvest(
        files=dict(sorted(files.items())),
        executable=frozenset(executable),
        left_out=tuple(left[:LEFT_MOST]),
    )


def _problem(path: str, project: Mapping[str, bytes], protected: Callable[[str], bool]) -> str:
    """Why a file is not taken; empty when it is, and for what nobody misses."""
    if path in project or _leftover(path, project):
        return ""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    parts = path.split("/")
    if not path or len(path) > PATH_CHARS or {"", ".", ".."} & set(parts):
        return "no plain path"
    if any(ord(char) < 32 or ord(char) == 127 for char in path) or "\\" in path:
        return "its name holds a control character or a backslash"
    return "a new file where only the owner writes" if protected(path) else ""


def _leftover(path: str, project: Mapping[str, bytes]) -> bool:
    return path not in project and path.endswith(_LEFTOVERS)
