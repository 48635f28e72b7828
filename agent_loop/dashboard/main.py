"""Reads the options, prints the address, and answers until it is stopped."""

import argparse
import sys
import time
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_loop import __version__, config
from agent_loop.errors import AgentLoopError, UserError
from agent_loop.paths import named
from agent_loop.terminal.numbers import whole
from agent_loop.viewer.api import About, Api
from agent_loop.viewer.app import make_app
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.static import Static
from agent_loop.webguard import Guard, Launch, bound, serve

PORT = 8765
_EPILOG = (
    "Answers on 127.0.0.1 only, to whoever opens the printed address first. Read-only, but for "
    "the owner's answer to a paused run."
)


def guarded(runs: Path, launch: Launch) -> Guard:
    """The dashboard of one `runs/` folder behind its guard."""
    desk = Desk(runs, monotonic=time.monotonic)
    about = About(kind="dashboard", version=__version__, launch=launch)
    router = Api(desk, about).router()
    return Guard(make_app("agent-loop dashboard", __version__, [router], Static()), launch)


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the dashboard; returns the exit code."""
    given = _read(argv)
    try:
        runs = _runs(given.runs, env)
        server = bound(given.port)
    except AgentLoopError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    launch = Launch(server.getsockname()[1])
    link = launch.link()

    def ready() -> None:
        sys.stdout.write(f"Runs in {runs}\nOpen (once): {link}\nStop with Ctrl-C.\n")
        sys.stdout.flush()
        if not given.no_open:
            webbrowser.open(link)

    serve(guarded(runs, launch), server, ready=ready)
    return 0


def _runs(given: Path | None, env: Mapping[str, str]) -> Path:
    """The folder to show.

    Raises:
        UserError: it is a file, or the configuration that names it is wrong.
    """
    runs: Path = given or config.load(config.base_file(Path()), env).runs_dir
    if runs.exists() and not runs.is_dir():
        raise UserError(f"{runs}: not a folder. Give the folder of runs with --runs.")
    return runs.resolve()


def _read(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m agent_loop.dashboard",
        description="Look at runs in a browser.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--runs", type=named, metavar="DIR", help="default: that of config.yaml")
    parser.add_argument(
        "--port",
        type=whole(0, 65_535),
        default=PORT,
        metavar="N",
        help="default: %(default)s; 0: any",
    )
    parser.add_argument("--no-open", action="store_true", help="only print the address")
    return parser.parse_args(argv)
