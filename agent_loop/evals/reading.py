"""Commands over reports that are there: compare, judge again, export, draw."""

import argparse
from collections.abc import Mapping

from agent_loop.assemble import Workshop
from agent_loop.config import Config
from agent_loop.errors import UserError
from agent_loop.evals import compare, exports, outputs, regrade
from agent_loop.evals.identity import harness_of
from agent_loop.evals.suites import load_suite
from agent_loop.store import RunStore
from agent_loop.store.reports import Report, find_report, read_report
from agent_loop.tasks import Task
from agent_loop.terminal.screen import Screen

_COMMANDS = ("compare", "regrade", "export", "render")


def run(
    given: argparse.Namespace, config: Config, env: Mapping[str, str], screen: Screen
) -> int | None:
    """The exit code of such a command; `None`: none was asked for.

    Raises:
        UserError: no such report, reports that may not be compared, or several commands at once.
        FaultError: no sandbox, or the disk refused.
    """
    root = config.runs_dir
    _refuse_together(given)
    if given.compare:
        code, found = compare.run(given, root, screen.result)
        if screen.as_json:
            screen.machine(compare.as_record(found))
        return code
    if given.regrade:
        return _regrade(given, config, env, screen)
    if given.export:
        return exports.run(given, root, screen.result)
    if given.render:
        return outputs.run(given, root, screen.result)
    return None


def _refuse_together(given: argparse.Namespace) -> None:
    asked = [f"--{name}" for name in _COMMANDS if getattr(given, name)]
    if len(asked) > 1:
        raise UserError(f"{' and '.join(asked)}: one at a time.")
    if (given.mix or given.page) and not given.compare:
        raise UserError(f"{'--mix' if given.mix else '--page'} goes with --compare.")


def _regrade(
    given: argparse.Namespace, config: Config, env: Mapping[str, str], screen: Screen
) -> int:
    store = RunStore(config.runs_dir)
    report = read_report(find_report(store.root, given.regrade))  # before a container is started
    known = _tasks(given, report, screen)
    with Workshop(config=config, store=store, notify=screen.say, env=env) as workshop:
        today = harness_of(workshop.benches.sandbox())
        code, found = regrade.run(
            given, workshop, screen.result, progress=screen.say, today=today, known=known
        )
    if screen.as_json:
        screen.machine(found.as_record())
    return code


def _tasks(given: argparse.Namespace, report: Report, screen: Screen) -> dict[str, Task]:
    """The tasks of the report's suite, for answers whose run is gone; none where it is not here."""
    try:
        suite = load_suite(given.suite or report.plan.suite, given.data)
    except UserError as error:
        screen.say(f"the report's tasks are not here, only runs are judged again: {error}")
        return {}
    return {one.task.name: one.task for one in suite.tasks}
