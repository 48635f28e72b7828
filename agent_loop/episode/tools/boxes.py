"""The two containers of an episode: one keeps the files, in the other the commands run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath

from agent_loop.episode.tools.inside import source
from agent_loop.ports import Box, Limits, Mount, Program, Workspace

ROOT = "/project"
"""The project stands where the check has it, so that what a test says names the same paths."""
PLACE = "agent_loop.episode.tools.inside"
FLAGS = ("-I", "-S", "-B", "-u")
KEEPER_SPARE_MIB = 128
MOUNTS_MOST = 200
_OUTPUT_BYTES = 1 << 40
"""What an episode says in all is no sign of anything; each answer has a bound of its own."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "TMPDIR": "/tmp",  # noqa: S108 - inside the container
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "PAGER": "cat",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What an episode stands on."""

    image: str | None = None
    """Image id; `None` is the base image."""
    python: str = "python3"
    """The image's interpreter."""
    limits: Limits = field(default_factory=Limits)
    """Of the container where commands run; the workspace comes on top of its memory."""
    workspace_mib: int = 64
    workspace_files: int = 50_000
    env: dict[str, str] = field(default_factory=dict)
    """Over `ENVIRONMENT`, for every command."""


@cache
def _program(name: str) -> Program:
    return Program(
        name=f"episode-{name}",
        modules=(
            ("agent_loop_settings", f"ROOT = {ROOT!r}\n"),
            (f"{PLACE}.frames", source("frames")),
            (f"{PLACE}.{name}", source(name)),
        ),
        entry=f"{PLACE}.{name}:main",
    )


def keeper_box(ground: Ground) -> Box:
    """Holds the files and reads them back; no command ever runs in it."""
    size_mib = ground.workspace_mib
    return Box(
        program=_program("keeper"),
        limits=replace(
            ground.limits,
            memory_mib=size_mib + KEEPER_SPARE_MIB,
            output_bytes=_OUTPUT_BYTES,
        ),
        image=ground.image,
        python=(ground.python, *FLAGS),
        workspace=Workspace(target=ROOT, size_mib=size_mib, files=ground.workspace_files),
    )


def hands_box(ground: Ground, keeper: str, mounts: tuple[Mount, ...]) -> Box:
    """Where the commands run, over the keeper's files."""
    size_mib = ground.workspace_mib
    limits = ground.limits
    return Box(
        program=_program("hands"),
        limits=replace(limits, memory_mib=limits.memory_mib + size_mib, output_bytes=_OUTPUT_BYTES),
        mounts=mounts,
        image=ground.image,
        python=(ground.python, *FLAGS),
        workspace=Workspace(
            target=ROOT, size_mib=size_mib, files=ground.workspace_files, of=keeper
        ),
        init=False,
    )


def read_only(
    root: Path, files: Iterable[str], protected: Callable[[str], bool]
) -> tuple[tuple[Mount, ...], tuple[str, ...]]:
    """Mounts that make the protected files what nothing inside can write, and what they cover.

    A folder in which everything is protected, a new file too, is mounted as a whole.
    """
    known = list(files)
    guarded = {path for path in known if protected(path)}
    open_folders = {str(up) for one in known if one not in guarded for up in _parents(one)}
    whole: dict[str, None] = {}
    for path in sorted(guarded):
        tops = [str(up) for up in _parents(path) if str(up) not in open_folders]
        shut = next((top for top in reversed(tops) if protected(f"{top}/new_file.txt")), None)
        whole[shut or path] = None
    chosen = tuple(whole)[:MOUNTS_MOST]
    mounts = tuple(Mount(source=str(root / one), target=f"{ROOT}/{one}") for one in chosen)
    return mounts, chosen


def _parents(path: str) -> list[PurePosixPath]:
    """The folders a file is in, the nearest first, without the project itself."""
    return [up for up in PurePosixPath(path).parents if str(up) != "."]
