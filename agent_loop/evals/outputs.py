"""What is written beside a report for people: Markdown and one HTML page."""

import argparse
from collections.abc import Callable
from pathlib import Path

from agent_loop.errors import ReportError, StoreFault
from agent_loop.evals.page import report_page
from agent_loop.evals.render_markdown import report_markdown
from agent_loop.paths import atomic_write
from agent_loop.store.reports import Report, find_report, list_reports, read_report

HISTORY = 24
"""Reports of the trend, this one among them."""


def write_beside(path: Path, report: Report, root: Path) -> list[Path]:
    """Write `<stem>.md` and `<stem>.html` beside the report's JSON; gives their paths.

    Raises:
        MissingExtra: SciPy, statsmodels or matplotlib is not installed.
        StoreFault: the disk refused.
    """
    texts = {
        path.with_suffix(".md"): report_markdown(report),
        path.with_suffix(".html"): report_page(report, history_of(report, root)),
    }
    try:
        for target, text in texts.items():
            atomic_write(target, text)
    except OSError as error:
        raise StoreFault(f"{path.parent}: cannot be written: {error}.") from error
    return list(texts)


def add_options(group: argparse._ArgumentGroup) -> None:
    """The options of what people read."""
    group.add_argument(
        "--render", metavar="REPORT",
        help="write Markdown and the HTML page of a report (label or file) beside it",
    )  # fmt: skip
    group.add_argument(
        "--no-page", action="store_true", help="do not write them at the end of an eval"
    )


def run(given: argparse.Namespace, root: Path, say: Callable[[str], None]) -> int:
    """`--render REPORT`. Returns the exit code.

    Raises:
        ReportError: there is no such report.
        MissingExtra: SciPy, statsmodels or matplotlib is not installed.
        StoreFault: the disk refused.
    """
    path = find_report(root, given.render)
    for made in write_beside(path, read_report(path), root):
        say(str(made))
    return 0


def history_of(report: Report, root: Path) -> list[Report]:
    """The reports of the same suite before this one, oldest first; unreadable ones left out."""
    found = []
    for summary in list_reports(root):
        if summary.problem or not summary.judged or summary.created >= report.created:
            continue
        try:
            other = read_report(summary.path)
        except ReportError:
            continue
        if other.plan.suite == report.plan.suite:
            found.append(other)
        if len(found) >= HISTORY - 1:
            break
    return found[::-1]
