"""The command line: reads the options, does one thing, gives one exit code."""

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from agent_loop import config, tasks
from agent_loop.assemble import (
    Workshop,
    refuse_ended,
    refuse_taken,
    refuse_unjudgeable,
    refuse_unpriced,
    stored_map,
)
from agent_loop.assemble.stopping import Stopper, leave_at_once
from agent_loop.cli.batch import Batch, Ended, Planned, exit_code, plan_tasks, refused
from agent_loop.cli.completion import write_completion
from agent_loop.cli.drawing import draw
from agent_loop.cli.exported import export_run
from agent_loop.cli.live import Board
from agent_loop.cli.options import Options, parser, read
from agent_loop.cli.owner import Typist
from agent_loop.cli.pruning import prune_runs
from agent_loop.cli.stored import list_runs, recorded_answers, show_run, verify
from agent_loop.cli.tables import summary_table
from agent_loop.config import Config
from agent_loop.errors import AgentLoopError
from agent_loop.graph.drive import read_job
from agent_loop.graph.fork import Fork, past_of, refuse_unforkable
from agent_loop.graph.parts import Limits
from agent_loop.store import RunStore, reply_from_text
from agent_loop.tasks import Task
from agent_loop.terminal.screen import Screen

T = TypeVar("T")


def main(argv: Sequence[str], env: Mapping[str, str], screen: Screen | None = None) -> int:
    """Run one command; returns the exit code. Never a traceback for what a person can mend.

    `screen`: where it speaks instead of this process's own streams.
    """
    screen = screen or Screen(as_json="--json" in argv, quiet="--quiet" in argv)
    try:
        return _command(read(argv), env, screen)
    except AgentLoopError as error:
        screen.error(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        # The reader has gone (`| head`): nothing more can be said, not even at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        screen.error(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        screen.error("interrupted")
        return 130


def _command(options: Options, env: Mapping[str, str], screen: Screen) -> int:
    if options.completion:
        return write_completion(options.completion, parser(), screen)
    if options.graph:
        return draw(options.graph, options.tasks, screen)
    settings = config.load(config.base_file(Path()), env, options.sets, options.configs)
    store = RunStore(settings.runs_dir)
    if options.list:
        return list_runs(store, screen)
    if options.show:
        return show_run(store, options.show, screen)
    if options.export_run:
        return export_run(store, options.export_run, options.format, options.out, screen)
    if options.prune:
        return prune_runs(store, screen, yes=options.yes, keep_mib=options.keep_mib)
    board = Board(screen)
    with _opened(settings, store, board, env) as workshop:
        if options.verify:
            return verify(workshop, options.verify, screen)
        if options.freeze:
            digest = workshop.benches.freeze(tasks.load(options.tasks[0]), options.freeze)
            screen.result(f"{options.freeze}: frozen, sha256 {digest}", "green")
            return 0
        return _drive(options, env, workshop, screen, board)


def _opened(settings: Config, store: RunStore, board: Board, env: Mapping[str, str]) -> Workshop:
    def notify(line: str) -> None:
        board.say(line, "yellow")

    return Workshop(config=settings, store=store, notify=notify, env=env)


def _drive(
    options: Options, env: Mapping[str, str], workshop: Workshop, screen: Screen, board: Board
) -> int:
    stopper = Stopper(lambda line: board.result(line, "yellow"))
    reply = reply_from_text(options.owner_reply, "argument") if options.owner_reply else None
    batch = Batch(
        workshop=workshop,
        screen=screen,
        board=board,
        stopper=stopper,
        typist=Typist(sys.stdin),
        limits=_limits(options, workshop),
        canned=() if reply is None or options.continued else (reply,) * (options.max_pauses or 1),
        named=options.jobs > 1,
    )
    with stopper.listening():
        if options.jobs > 1:
            workshop.share_servers()
        ended: list[Ended] = []
        planned = _planned(options, env, batch, ended)
        ended += batch.run(planned, options.jobs)
        if stopper.killing.is_set():
            leave_at_once(workshop.close)
    if len(ended) > 1:
        screen.show(summary_table([one.row for one in ended]))
    return 130 if stopper.draining.is_set() else exit_code(ended)


def _limits(options: Options, workshop: Workshop) -> Limits | None:
    """What the run may spend; for one that goes on, what it has with the given ones changed."""
    if options.cost_limit_usd is not None:
        refuse_unpriced(workshop.config)
    given = (options.max_pauses, options.budget_tokens, options.time_limit_s)
    if all(one is None for one in (*given, options.cost_limit_usd)):
        return None
    before = Limits()
    if options.continued:
        before = read_job(workshop.store, options.continued).job.limits
    elif options.fork:
        before = read_job(workshop.store, options.fork.thread).job.limits
    return Limits(
        max_pauses=_either(options.max_pauses, before.max_pauses),
        budget_tokens=_either(options.budget_tokens, before.budget_tokens),
        time_limit_s=_either(options.time_limit_s, before.time_limit_s),
        cost_usd=_either(options.cost_limit_usd, before.cost_usd),
    )


def _either(given: T | None, before: T | None) -> T | None:
    return before if given is None else given


def _planned(
    options: Options, env: Mapping[str, str], batch: Batch, ended: list[Ended]
) -> list[Planned]:
    workshop = batch.workshop
    if options.thread:
        refuse_taken(workshop.store, options.thread)
    if options.continued:
        return [_continued(options, env, batch, options.continued)]
    if options.fork:
        at = options.fork
        past = past_of(workshop.store, at.thread, at.step)
        fork = Fork(origin=at.thread, past=past, guidance=options.guidance, limits=batch.limits)
        return [_forked(options, env, workshop, fork)]
    if options.replay:
        batch.canned = (*batch.canned, *recorded_answers(workshop.store, options.replay))
        return [_replayed(env, workshop, options.replay, options.thread)]
    given = _tasks(options, batch.screen, ended)
    if given:
        workshop.prepare([task for task, _ in given])
    return plan_tasks(workshop, given, options.thread)


def _tasks(options: Options, screen: Screen, ended: list[Ended]) -> list[tuple[Task, Path | None]]:
    """The tasks that can be run; a bad file among several is named and left out."""
    if not options.tasks:
        return [(tasks.capped_palindrome() if options.cap else tasks.palindrome(), None)]
    good: list[tuple[Task, Path | None]] = []
    for path in _found(options.tasks, screen, ended):
        try:
            task = tasks.load(path)
            refuse_unjudgeable(task)
            good.append((task, path))
        except AgentLoopError as error:
            ended.append(refused(screen, str(path), "", error))
    return good


def _found(paths: Sequence[Path], screen: Screen, ended: list[Ended]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        try:
            found += tasks.find([path])
        except AgentLoopError as error:
            ended.append(refused(screen, str(path), "", error))
    return list(dict.fromkeys(found))


def _continued(options: Options, env: Mapping[str, str], batch: Batch, thread: str) -> Planned:
    workshop = batch.workshop
    settings = config.from_record(
        stored_map(workshop.store, thread, "config"),
        env,
        workshop.config,
        options.sets,
        options.configs,
    )
    refuse_ended(workshop.store, thread)
    reply = reply_from_text(options.owner_reply, "argument") if options.owner_reply else None
    name = str(stored_map(workshop.store, thread, "task").get("name") or thread)
    return Planned(
        name=name, thread=thread, run=lambda ask: workshop.go_on(thread, settings, ask, reply)
    )


def _replayed(env: Mapping[str, str], workshop: Workshop, thread: str, new: str | None) -> Planned:
    settings = config.from_record(
        stored_map(workshop.store, thread, "config"), env, workshop.config
    )
    name = new or workshop.new_thread(f"{thread[:50]}-replay")
    return Planned(
        name=name, thread=name, run=lambda ask: workshop.replay(thread, name, settings, ask)
    )


def _forked(options: Options, env: Mapping[str, str], workshop: Workshop, fork: Fork) -> Planned:
    refuse_unforkable(fork)
    settings = config.from_record(
        stored_map(workshop.store, fork.origin, "config"),
        env,
        workshop.config,
        options.sets,
        options.configs,
    )
    name = options.thread or workshop.new_thread(f"{fork.origin[:50]}-fork")
    return Planned(name=name, thread=name, run=lambda ask: workshop.fork(fork, name, settings, ask))
