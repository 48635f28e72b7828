"""The command line of the MCP server."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from agent_loop import __version__, tasks
from agent_loop.errors import UserError
from agent_loop.paths import named
from agent_loop.tasks import ProjectTask

IDLE_S = 300.0
COPIES = 8
TOKEN = "AGENT_LOOP_MCP_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_CHARS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the owner allows."""

    roots: tuple[Path, ...]
    """Folders, resolved: only projects in one of them can be opened."""
    tasks: tuple[ProjectTask, ...]
    test_command: str
    idle_s: float
    copies: int
    port: int | None
    """`None`: standard input and output."""
    configs: tuple[Path, ...]
    sets: tuple[str, ...]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="agent_loop.mcp_server",
        description="Offers tools over copies of projects to an MCP client: looking, changing, "
        "running the tests in a container without network, and the gate that judges the change. "
        "The projects themselves are never written to.",
        epilog=f"Over HTTP the client's key is in the environment variable {TOKEN}.",
    )
    add = made.add_argument
    add(
        "--root",
        action="append",
        default=[],
        type=named,
        metavar="DIR",
        help="allow projects in DIR",
    )
    add(
        "--task",
        action="append",
        default=[],
        type=named,
        metavar="FILE",
        help="offer this project task",
    )
    add("--test-command", default="pytest -q", help="for projects without a task (pytest -q)")
    add("--http", type=int, metavar="PORT", help="streamable HTTP on 127.0.0.1 instead of stdio")
    add(
        "--idle", type=float, default=IDLE_S, metavar="S", help="seconds to an idle container's end"
    )
    add("--copies", type=int, default=COPIES, metavar="N", help="most open copies")
    add(
        "--config",
        action="append",
        default=[],
        type=named,
        metavar="FILE",
        help="laid over config.yaml",
    )
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; later wins")
    add("--version", action="version", version=__version__)
    return made


def options_of(given: argparse.Namespace) -> Options:
    """Check what was given.

    Raises:
        UserError: a folder or task cannot be used, or a number makes no sense.
    """
    if not given.root and not given.task:
        raise UserError("nothing may be opened. Give --root DIR or --task FILE.")
    if given.idle <= 0 or given.copies < 1:
        raise UserError("--idle and --copies must be more than 0.")
    if given.http is not None and not 0 <= given.http < 1 << 16:
        raise UserError(f"--http {given.http}: a port is a number from 0 to 65535.")
    return Options(
        roots=tuple(_root(one) for one in given.root),
        tasks=tuple(_task(one) for one in given.task),
        test_command=given.test_command,
        idle_s=given.idle,
        copies=given.copies,
        port=given.http,
        configs=tuple(given.config),
        sets=tuple(given.set),
    )


def _root(folder: Path) -> Path:
    real = folder.expanduser().resolve()
    if not real.is_dir():
        raise UserError(f"--root {folder}: this is no folder.")
    if real == Path(real.anchor) or real == Path.home().resolve():
        raise UserError(f"--root {folder}: this allows too much. Name the folder of your projects.")
    return real


def _task(path: Path) -> ProjectTask:
    found = tasks.load(path)
    if not isinstance(found, ProjectTask):
        raise UserError(f"--task {path}: this is a {found.kind} task; only projects have tools.")
    return found
