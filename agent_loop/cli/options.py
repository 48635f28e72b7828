"""The options of the command line, checked against each other."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_loop import __version__
from agent_loop.cli.completion import SHELLS
from agent_loop.cli.drawing import TO_SCREEN
from agent_loop.cli.exported import FORMATS
from agent_loop.config import model_sets
from agent_loop.errors import BadOption
from agent_loop.paths import named, thread_name
from agent_loop.terminal.numbers import above_zero, whole

_EPILOG = """exit codes: 0 all passed or accepted, 1 a run ended otherwise, 2 bad input,
3 sandbox unavailable, 4 model unavailable, 5 paused, 130 interrupted and resumable"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkAt:
    """`--fork THREAD@STEP`."""

    thread: str
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for."""

    tasks: tuple[Path, ...] = ()
    thread: str | None = None
    continued: str | None = None
    """`--continue THREAD`."""
    owner_reply: str | None = None
    max_pauses: int | None = None
    sets: tuple[str, ...] = ()
    """`--set` and `--model`, in the order of `key=value` layers."""
    configs: tuple[Path, ...] = ()
    budget_tokens: int | None = None
    time_limit_s: float | None = None
    cost_limit_usd: float | None = None
    jobs: int = 1
    cap: bool = False
    freeze: Path | None = None
    verify: str | None = None
    replay: str | None = None
    fork: ForkAt | None = None
    guidance: str = ""
    prune: bool = False
    yes: bool = False
    keep_mib: int | None = None
    export_run: str | None = None
    format: str = "html"
    out: Path | None = None
    graph: Path | None = None
    """Where the drawing goes; `-` is the screen."""
    completion: str = ""
    list: bool = False
    show: str | None = None
    json: bool = False
    quiet: bool = False


def parser() -> argparse.ArgumentParser:
    """The parser of `loop.py`; `--doctor` is taken out before it, and stands here for `--help`."""
    top = argparse.ArgumentParser(
        prog="loop.py",
        description="A loop of language-model roles that stops only when a deterministic check "
        "says so. No argument: the built-in palindrome task.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    top.add_argument("tasks", nargs="*", type=named, metavar="TASK.yaml | DIR")
    _add_run(top.add_argument_group("the run"))
    _add_settings(top.add_argument_group("models and settings"))
    instead = top.add_argument_group("instead of a new run")
    _add_again(instead)
    _add_kept(instead)
    _add_house(instead)
    _add_output(top.add_argument_group("output"))
    return top


def _add_run(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--thread", metavar="ID", help="name the run")
    group.add_argument(
        "--owner-reply", "--resume", metavar="TEXT",
        help="answer the owner call: stop, accept, or what the worker should do",
    )  # fmt: skip
    group.add_argument(
        "--max-pauses", type=whole(0, 1000), metavar="N", help="ask the owner at most N times"
    )
    group.add_argument(
        "--budget", type=whole(1, 10**12), metavar="TOKENS",
        help="stop at the first node past so many tokens",
    )  # fmt: skip
    group.add_argument(
        "--cost-limit", type=above_zero("dollars"), metavar="USD",
        help="stop at the first node past so many US dollars; every model needs a known price",
    )  # fmt: skip
    group.add_argument(
        "--time-limit",
        type=above_zero("seconds"),
        metavar="S",
        help="stop at the first node past S seconds",
    )
    group.add_argument(
        "--jobs", type=whole(1, 64), default=1, metavar="N", help="run N tasks at a time"
    )
    group.add_argument(
        "--cap",
        action="store_true",
        help="force the cap: the built-in task with an impossible test",
    )


def _add_settings(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--model", action="append", default=[], metavar="ROLE=PROVIDER:MODEL",
        help="ROLE: lead, worker, reviewer, escalation, or all for the first three",
    )  # fmt: skip
    group.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="sets",
        help="over config.yaml, e.g. model_options.worker.temperature=0.6",
    )  # fmt: skip
    group.add_argument(
        "--config", action="append", default=[], type=named, metavar="FILE", dest="configs",
        help="a patch laid over config.yaml; repeatable, later wins",
    )  # fmt: skip


def _add_again(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--continue", dest="continued", metavar="THREAD", help="pick up a killed or paused run"
    )
    group.add_argument(
        "--fork", type=_fork, metavar="THREAD@STEP",
        help="a new run from a step of an old one; an unknown step lists those there are",
    )  # fmt: skip
    group.add_argument(
        "--guidance", default="", metavar="TEXT", help="with --fork: what the worker should do"
    )
    group.add_argument("--verify", metavar="THREAD", help="judge a stored answer again, no model")
    group.add_argument("--replay", metavar="THREAD", help="run it again from its trace, no model")


def _add_kept(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--freeze", type=named, metavar="FILE",
        help="search for the research task and keep what arXiv answers in FILE (papers: FILE)",
    )  # fmt: skip
    group.add_argument(
        "--export-run", metavar="THREAD", help="write a run as a page, or for other tools"
    )
    group.add_argument(
        "--format", choices=FORMATS, default="html",
        help="with --export-run: html (one page, every step), traj (mini-swe-agent), atif",
    )  # fmt: skip
    group.add_argument(
        "--out", type=named, metavar="FILE", help="with --export-run: where to; - is the screen"
    )
    group.add_argument("--list", action="store_true", help="every run, newest first")
    group.add_argument("--show", metavar="THREAD", help="everything about one run")
    group.add_argument(
        "--prune", action="store_true",
        help="say which saved steps of ended runs could go; with --yes let them go",
    )  # fmt: skip
    group.add_argument("--yes", action="store_true", help="with --prune: do it")
    group.add_argument(
        "--keep-mib", type=whole(0, 1 << 30), metavar="N",
        help="with --prune: the oldest ended runs lose their last step too until N MiB are left",
    )  # fmt: skip


def _add_house(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--graph", nargs="?", type=named, const=TO_SCREEN, metavar="FILE",
        help="the state machine as Mermaid text, or in FILE (.svg, .mmd, .md)",
    )  # fmt: skip
    group.add_argument(
        "--completion", choices=SHELLS, default="", help="print a script that completes options"
    )
    group.add_argument(
        "--doctor", action="store_true", help="look at everything a run needs, one line each"
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--json", action="store_true", help="one JSON object per run on standard output"
    )
    group.add_argument("--quiet", action="store_true", help="only how each run ended")
    group.add_argument("--version", action="version", version=f"agent-loop {__version__}")


def read(argv: Sequence[str]) -> Options:
    """Parse and check; argparse itself exits with 2 on what it does not know.

    Raises:
        BadOption: options that do not go together.
        ThreadError: a name that is none.
    """
    given = parser().parse_intermixed_args(argv)
    options = Options(
        tasks=tuple(given.tasks),
        thread=given.thread,
        continued=given.continued,
        owner_reply=given.owner_reply,
        max_pauses=given.max_pauses,
        sets=(*given.sets, *model_sets(given.model)),
        configs=tuple(given.configs),
        budget_tokens=given.budget,
        time_limit_s=given.time_limit,
        cost_limit_usd=given.cost_limit,
        jobs=given.jobs,
        cap=given.cap,
        freeze=given.freeze,
        verify=given.verify,
        replay=given.replay,
        fork=given.fork,
        guidance=given.guidance,
        prune=given.prune,
        yes=given.yes,
        keep_mib=given.keep_mib,
        export_run=given.export_run,
        format=given.format,
        out=given.out,
        graph=given.graph,
        completion=given.completion,
        list=given.list,
        show=given.show,
        json=given.json,
        quiet=given.quiet,
    )
    _check(options)
    return options


def _check(options: Options) -> None:
    for name in (options.thread, options.continued, options.verify, options.replay, options.show):
        if name is not None:
            thread_name(name)
    instead = {
        "--continue": options.continued,
        "--verify": options.verify,
        "--replay": options.replay,
        "--fork": options.fork,
        "--prune": options.prune,
        "--export-run": options.export_run,
        "--list": options.list,
        "--show": options.show,
    }
    if options.freeze and (len(options.tasks) != 1 or any(instead.values())):
        raise BadOption("--freeze FILE goes with one research task and no other command.")
    chosen = [name for name, value in instead.items() if value]
    if len(chosen) > 1:
        raise BadOption(f"{' and '.join(chosen)} do not go together. Give one of them.")
    if chosen and options.tasks:
        raise BadOption(f"{chosen[0]} takes no task file: the run has its own. Leave it out.")
    if chosen and options.cap:
        raise BadOption(f"--cap starts a new run. Leave it or {chosen[0]} out.")
    _check_additions(options)
    if options.cap and options.tasks:
        raise BadOption("--cap is for the built-in task. Leave the task file out.")
    if options.thread and (len(options.tasks) > 1 or any(t.is_dir() for t in options.tasks)):
        raise BadOption("--thread names one run. Give one task file, or leave it out.")
    if options.thread and options.continued:
        raise BadOption("--thread names a new run. For an old one, --continue THREAD is enough.")


def _check_additions(options: Options) -> None:
    if options.export_run:
        thread_name(options.export_run)
    elif options.out or options.format != "html":
        raise BadOption("--format and --out go with --export-run THREAD.")
    if options.guidance and not options.fork:
        raise BadOption("--guidance goes with --fork THREAD@STEP. At a pause say --owner-reply.")
    if (options.yes or options.keep_mib is not None) and not options.prune:
        raise BadOption("--yes and --keep-mib go with --prune.")
    if options.graph and len(options.tasks) > 1:
        raise BadOption("--graph draws the graph of one task. Give one task file, or none.")


def _fork(text: str) -> ForkAt:
    thread, at, step = text.rpartition("@")
    if not at or not step.removeprefix("-").isdecimal() or len(step) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is not THREAD@STEP, e.g. fizzbuzz-1@4")
    return ForkAt(thread=thread_name(thread), step=int(step))
