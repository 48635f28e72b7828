"""The command line of the benchmark generator."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_loop.benchgen.ground import Given
from agent_loop.paths import named
from agent_loop.terminal.numbers import whole

STRATEGIES = ("mutate", "model", "history")
_MANY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for."""

    command: str
    source: str
    out: Path
    count: int
    seed: int
    jobs: int
    strategy: str
    given: Given
    only: tuple[str, ...]
    time_limit: float
    sets: tuple[str, ...]
    model: str
    rewrite: str
    most_commits: int
    show: bool
    runs: int


def parse(argv: Sequence[str]) -> Options:
    """Raises SystemExit(2) with a message for what cannot be used."""
    parser = _parser()
    given = parser.parse_args(argv)
    show = getattr(given, "show", False)
    if show and given.strategy == "history":
        parser.error("--show says how a library is tested; --strategy history looks at commits")
    if given.command == "build" and not show and given.out is None:
        parser.error("build needs --out: a folder that is not there yet (--show looks only)")
    return Options(
        command=given.command,
        source=given.source,
        out=_out(given, show=show),
        count=getattr(given, "count", 0),
        seed=getattr(given, "seed", 0),
        jobs=given.jobs,
        strategy=getattr(given, "strategy", "mutate"),
        given=Given(
            test_command=getattr(given, "test_command", ""),
            requirements=tuple(getattr(given, "requirement", ())),
            plugins=tuple(getattr(given, "plugin", ())),
            python_path=tuple(getattr(given, "python_path", ())),
        ),
        only=tuple(getattr(given, "only", ())),
        time_limit=getattr(given, "time_limit", 0.0),
        sets=tuple(given.set),
        model=getattr(given, "model", ""),
        rewrite=getattr(given, "rewrite", ""),
        most_commits=getattr(given, "most_commits", 0),
        show=show,
        runs=getattr(given, "runs", 3),
    )


def _source(text: str) -> str:
    return text if text.startswith("pypi:") else str(named(text))


def _out(given: argparse.Namespace, *, show: bool) -> Path:
    if given.command != "build":
        return Path(given.source)
    # Work is done beside the folder that would come out; a look leaves none.
    return given.out or Path(".benchgen-look") if show else given.out


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m agent_loop.benchgen",
        description="Turn a library with tests into tasks whose bugs are new.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="inject, validate and write bugs")
    _add_build(build)
    verify = commands.add_parser("verify", help="run every task of a benchmark again")
    verify.add_argument(
        "source", type=_source, metavar="DIR", help="a folder that build has written"
    )
    verify.add_argument("--runs", type=whole(1, _MANY), default=3, help="red runs of each task (3)")
    for one in (build, verify):
        one.add_argument("--jobs", type=whole(1, _MANY), default=2, help="checks at a time (2)")
        one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    return parser


def _add_build(build: argparse.ArgumentParser) -> None:
    build.add_argument(
        "source", type=_source, metavar="SOURCE", help="a folder, or pypi:NAME==VERSION"
    )
    build.add_argument("--out", type=named, help="a folder that is not there yet")
    build.add_argument("--count", type=whole(1, _MANY), default=20, help="tasks wanted (20)")
    build.add_argument("--seed", type=int, default=0, help="the same seed gives the same tasks (0)")
    build.add_argument(
        "--strategy", choices=STRATEGIES, default="mutate", help="where bugs come from (mutate)"
    )
    build.add_argument("--model", default="", help="provider:model for --strategy model")
    build.add_argument("--rewrite", default="", help="provider:model that words the reports")
    build.add_argument(
        "--most-commits",
        type=whole(1, _MANY),
        default=200,
        help="looked at by --strategy history (200)",
    )
    build.add_argument("--only", action="append", default=[], help="files that start so")
    build.add_argument("--time-limit", type=float, default=0.0, help="seconds; 0 is none (0)")
    build.add_argument("--show", action="store_true", help="say how it is tested, build nothing")
    build.add_argument("--test-command", default="", help="instead of the one found")
    build.add_argument("--requirement", action="append", default=[], help="NAME==VERSION")
    build.add_argument("--plugin", action="append", default=[], help="a pytest plugin's package")
    build.add_argument("--python-path", action="append", default=[], help="import path")
