"""Commands over reports that are there: compare, judge again, export, draw."""

import argparse
from collections.abc import Mapping

from agent_loop.assemble import Workshop
from agent_loop.config import Config
from agent_loop.evals import compare, exports, outputs, regrade
from agent_loop.evals.identity import harness_of
from agent_loop.store import RunStore
from agent_loop.store.reports import find_report
from agent_loop.terminal.screen import Screen


def run(
    given: argparse.Namespace, config: Config, env: Mapping[str, str], screen: Screen
) -> int | None:
    """The exit code of such a command; `None`: none was asked for.

    Raises:
        UserError: no such report, or reports that may not be compared.
        FaultError: no sandbox, or the disk refused.
    """
    root = config.runs_dir
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


def _regrade(
    given: argparse.Namespace, config: Config, env: Mapping[str, str], screen: Screen
) -> int:
    store = RunStore(config.runs_dir)
    find_report(store.root, given.regrade)  # before a container is started
    with Workshop(config=config, store=store, notify=screen.say, env=env) as workshop:
        today = harness_of(workshop.sandbox())
        code, found = regrade.run(given, workshop, screen.result, progress=screen.say, today=today)
    if screen.as_json:
        screen.machine(found.as_record())
    return code
