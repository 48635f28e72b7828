"""The options of `python -m agent_loop.evals`, checked against each other."""

import argparse
import re
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop.config import model_sets
from agent_loop.errors import BadOption
from agent_loop.evals import compare, early, exports, outputs, regrade
from agent_loop.paths import named
from agent_loop.terminal.numbers import above_zero, whole

SUITES = ("humaneval", "mbpp", "quixbugs", "swebench")
_EPILOG = """exit codes: 0 every planned attempt is judged, 1 some are not, 2 bad input,
3 sandbox unavailable, 4 model unavailable, 130 interrupted; 1, 3, 4 and 130 continue with the
same command"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for."""

    label: str = "default"
    attempts: int = 3
    only: tuple[str, ...] = ()
    budget_tokens: int | None = None
    time_limit_s: float | None = None
    jobs: int = 1
    executor: str | None = None
    suite: str | None = None
    data: Path | None = None
    experiment: str | None = None
    """A name in `experiments/`, or a file."""
    controls: int = 3
    sets: tuple[str, ...] = ()
    configs: tuple[Path, ...] = ()
    json: bool = False
    quiet: bool = False
    given: argparse.Namespace = field(default_factory=argparse.Namespace)
    """Everything, for modules that added options of their own."""


def parser() -> argparse.ArgumentParser:
    """Every option of the command."""
    top = argparse.ArgumentParser(
        prog="python -m agent_loop.evals",
        description="Makes attempts at tasks and keeps a report. The same label continues it.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    _add_run(top.add_argument_group("what is run"))
    _add_settings(top.add_argument_group("models and settings"))
    early.add_options(top.add_argument_group("stopping early"))
    reading = top.add_argument_group("reports that are there")
    compare.add_options(reading)
    regrade.add_options(reading)
    exports.add_options(reading)
    outputs.add_options(reading)
    output = top.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="a JSON object on standard output")
    output.add_argument("--quiet", action="store_true", help="only the result")
    return top


def _add_run(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--label", help="name of the report (default: the experiment's, or default)")
    group.add_argument(
        "--attempts", type=whole(1, 10_000), default=3, metavar="N",
        help="attempts at each task (default: 3)",
    )  # fmt: skip
    group.add_argument("--only", default="", metavar="A,B", help="these tasks only")
    group.add_argument(
        "--budget", type=whole(1, 10**12), metavar="TOKENS",
        help="stop every run at its next node once all of them spent so many tokens",
    )  # fmt: skip
    group.add_argument(
        "--time-limit", type=above_zero("seconds"), metavar="S",
        help="seconds one attempt may take; a slower one has failed",
    )  # fmt: skip
    group.add_argument(
        "--jobs", type=whole(1, 64), default=1, metavar="N", help="attempts at a time"
    )
    group.add_argument(
        "--executor", metavar="dask://HOST:PORT",
        help="make the attempts on the workers of a Dask cluster",
    )  # fmt: skip
    group.add_argument(
        "--suite", metavar="NAME|DIR",
        help=f"instead of the six frozen tasks: {', '.join(SUITES)}, or a folder of tasks",
    )  # fmt: skip
    group.add_argument(
        "--data", type=named, metavar="PATH", help="where the suite's files are on this machine"
    )
    group.add_argument(
        "--controls", type=whole(0, 100), default=3, metavar="N",
        help="before a suite is used, judge each right answer N times and an empty one; 0: do not "
        "(default: 3)",
    )  # fmt: skip
    group.add_argument(
        "--experiment", metavar="NAME|FILE",
        help="an experiment of the folder experiments/, or a file: a patch over config.yaml and "
        "perhaps a rule; names the report too, where no --label does",
    )  # fmt: skip


def _add_settings(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--model", action="append", default=[], metavar="ROLE=PROVIDER:MODEL",
        help="ROLE: lead, worker, reviewer, escalation, or all for the first three; in a script's "
        "name {task} and {n} stand for the attempt",
    )  # fmt: skip
    group.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="sets",
        help="over config.yaml, e.g. rejection_cap=1",
    )  # fmt: skip
    group.add_argument(
        "--config", action="append", default=[], type=named, metavar="FILE", dest="configs",
        help="a patch laid over config.yaml; repeatable, later wins",
    )  # fmt: skip


def options_of(given: argparse.Namespace) -> Options:
    """Checked options.

    Raises:
        BadOption: options that cannot be used, or not together.
    """
    label = given.label or (Path(given.experiment).stem if given.experiment else "default")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,31}", label):
        raise BadOption(f"--label {label[:60]!r}: use 1 to 32 letters, digits, '_' or '-'.")
    if given.suite in SUITES and given.data is None:
        raise BadOption(f"--suite {given.suite} needs --data PATH: where its files are.")
    if given.data is not None and given.suite not in SUITES:
        raise BadOption(f"--data goes with --suite {', '.join(SUITES)}.")
    if given.executor is not None and not re.fullmatch(r"dask://[^\s/:]+:\d{1,5}", given.executor):
        raise BadOption(f"--executor {given.executor}: not dask://HOST:PORT.")
    return Options(
        label=label,
        attempts=given.attempts,
        only=tuple(name.strip() for name in given.only.split(",") if name.strip()),
        budget_tokens=given.budget,
        time_limit_s=given.time_limit,
        jobs=given.jobs,
        executor=given.executor,
        suite=given.suite,
        data=given.data,
        experiment=given.experiment,
        controls=given.controls,
        sets=(*given.sets, *model_sets(given.model)),
        configs=tuple(given.configs),
        json=given.json,
        quiet=given.quiet,
        given=given,
    )
