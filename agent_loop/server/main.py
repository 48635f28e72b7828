"""Reads the options, prints the address, and takes jobs until it is stopped."""

import argparse
import os
import secrets
import sys
import time
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_loop import __version__, config
from agent_loop.assemble import Workshop
from agent_loop.config import Config
from agent_loop.errors import AgentLoopError, UserError
from agent_loop.paths import named
from agent_loop.ports import SystemClock
from agent_loop.server.api import JobsApi
from agent_loop.server.hearing import Hearing
from agent_loop.server.jobs import Jobs
from agent_loop.server.roots import Roots
from agent_loop.server.shop import Shop
from agent_loop.store import RunStore
from agent_loop.terminal.numbers import whole
from agent_loop.viewer.api import About, Api
from agent_loop.viewer.app import make_app
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.static import Static
from agent_loop.webguard import Bounds, Guard, Launch, bound, serve

PORT = 8766
MIN_KEY_CHARS = 20
JOB_BYTES = 64 << 10
_EPILOG = (
    "Answers on 127.0.0.1 only. Starts runs of the allowed folders and nothing else; model-written "
    "code runs in containers, as everywhere."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one server is started with."""

    settings: Config
    roots: Roots
    env: Mapping[str, str]
    slots: int = 1
    room: int = 32


def guarded(plan: Plan, launch: Launch) -> tuple[Guard, Shop]:
    """The job server behind its guard; close the shop at the end."""

    def notify(line: str) -> None:
        sys.stderr.write(f"{''.join(c if c.isprintable() else '?' for c in line)}\n")

    store = RunStore(plan.settings.runs_dir)
    hearing = Hearing()
    desk = Desk(store.root, texts=hearing, monotonic=time.monotonic)
    workshop = Workshop(config=plan.settings, store=store, notify=notify, env=plan.env)
    jobs = Jobs(slots=plan.slots, room=plan.room, clock=SystemClock())
    shop = Shop(workshop, jobs, hearing, desk.standings, plan.env)
    about = About(kind="server", version=__version__, launch=launch)
    routers = [Api(desk, about).router(), JobsApi(desk, jobs, shop, plan.roots).router()]
    app = make_app("agent-loop job server", __version__, routers, Static(), at_end=shop.close)
    return Guard(app, launch, bounds=Bounds(wider={"/api/jobs": JOB_BYTES})), shop


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the job server; returns the exit code."""
    given = _read(argv)
    try:
        key = None if given.api_key_file is None else api_key(given.api_key_file)
        plan = _plan(given, env)
        server = bound(given.port)
    except AgentLoopError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    launch = Launch(server.getsockname()[1], api_key=key)
    guard, shop = guarded(plan, launch)
    link = launch.link()

    def ready() -> None:
        sys.stdout.write(f"Runs in {plan.settings.runs_dir}\nOpen (once): {link}\n")
        if key is not None:
            sys.stdout.write(f"API key for programs: in {given.api_key_file}\n")
        sys.stdout.write("Stop with Ctrl-C.\n")
        sys.stdout.flush()
        if not given.no_open:
            webbrowser.open(link)

    try:
        serve(guard, server, ready=ready)
    finally:
        shop.close()
    return 0


def api_key(path: Path) -> str:
    """The key in a file, made where there is none.

    Raises:
        UserError: the file cannot be used, or its key could be guessed.
    """
    try:
        if not path.exists():
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
        key = path.read_bytes()[:1_000].decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: the API key cannot be read or made: {error}.") from error
    if len(key) < MIN_KEY_CHARS or not key.isprintable() or " " in key:
        raise UserError(
            f"{path}: an API key has at least {MIN_KEY_CHARS} characters and no blanks. "
            "Remove the file, and a good key is made."
        )
    return key


def _plan(given: argparse.Namespace, env: Mapping[str, str]) -> Plan:
    sets = [*given.sets, *config.model_sets(given.models)]
    settings = config.load(config.base_file(Path()), env, sets, given.configs)
    if given.runs is not None:
        settings = settings.model_copy(update={"runs_dir": given.runs})
    shipped = config.clone()
    folders = given.tasks
    if not (folders or given.projects) and shipped is not None:
        folders = [shipped / "tasks"]
    if not (folders or given.projects):
        raise UserError("nothing is allowed. Name a folder with --tasks or --projects.")
    return Plan(
        settings=settings,
        roots=Roots(folders, given.projects),
        env=env,
        slots=given.jobs,
        room=given.queue,
    )


def _read(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m agent_loop.server",
        description="Start runs from a page or a program.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--tasks", type=named, action="append", default=[], metavar="DIR",
        help="allow this folder's tasks; repeatable (default: the clone's tasks/)")  # fmt: skip
    add("--projects", type=named, action="append", default=[], metavar="DIR",
        help="allow the projects in this folder; repeatable")  # fmt: skip
    add("--jobs", type=whole(1, 64), default=1, metavar="N", help="runs at a time (default: 1)")
    add("--queue", type=whole(1, 10_000), default=32, metavar="N",
        help="jobs that may wait (default: 32)")  # fmt: skip
    add("--api-key-file", type=named, metavar="FILE",
        help="let programs in with the key in this file; made if it is missing")  # fmt: skip
    add("--runs", type=named, metavar="DIR", help="default: that of config.yaml")
    add("--port", type=whole(0, 65_535), default=PORT, metavar="N",
        help="default: %(default)s; 0: any")  # fmt: skip
    add("--no-open", action="store_true", help="only print the address")
    add("--model", action="append", default=[], dest="models", metavar="ROLE=PROVIDER:MODEL")
    add("--set", action="append", default=[], dest="sets", metavar="KEY=VALUE")
    add("--config", action="append", default=[], dest="configs", type=named, metavar="FILE")
    return parser.parse_args(argv)
