"""`--compare A B [C …]`: reads reports, refuses what is not comparable, says what may be said."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast

from agent_loop.errors import ReportError, StoreFault
from agent_loop.evals.page import comparison_page
from agent_loop.evals.render_markdown import comparison_markdown
from agent_loop.paths import atomic_write, named
from agent_loop.ports import Json
from agent_loop.stats.compare import Comparison, compare
from agent_loop.store.comparable import differences
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import Report, find_report, read_report

_SHOWN = 12


def add_options(group: argparse._ArgumentGroup) -> None:
    """The options of comparing."""
    group.add_argument(
        "--compare", nargs="+", metavar="REPORT",
        help="two or more reports (labels or files); each after the first against the first",
    )  # fmt: skip
    group.add_argument(
        "--mix", action="store_true",
        help="compare although fixtures, models or harness differ, and say what differs",
    )  # fmt: skip
    group.add_argument(
        "--page", type=named, metavar="FILE", help="write the comparison as one HTML page"
    )


def run(
    given: argparse.Namespace, root: Path, say: Callable[[str], None]
) -> tuple[int, Comparison]:
    """`--compare A B [C …]`. Gives the exit code and the numbers.

    Raises:
        ReportError: fewer than two, one is unknown, or they may not be compared; says what differs.
        StoreFault: the page cannot be written.
    """
    reports = chosen(root, given.compare)
    mixed = checked(reports, mix=given.mix)
    comparison = compare([arm_of(report) for report in reports])
    say(comparison_markdown(comparison, mixed))
    if given.page is not None:
        _write(given.page, comparison_page(reports, comparison, mixed))
        say(f"page: {given.page}")
    return 0, comparison


def chosen(root: Path, names: Sequence[str]) -> list[Report]:
    """The reports people named; those of one label are told apart by their file names.

    Raises:
        ReportError: fewer than two, the same one twice, or one is unknown.
    """
    paths = [find_report(root, name).resolve() for name in names]
    if len(set(paths)) < 2 or len(set(paths)) < len(paths):
        raise ReportError("--compare needs two or more different reports.")
    reports = [read_report(path) for path in paths]
    labels = [report.label for report in reports]
    return [
        replace(report, label=path.stem) if labels.count(report.label) > 1 else report
        for path, report in zip(paths, reports, strict=True)
    ]


def checked(reports: Sequence[Report], *, mix: bool) -> list[str]:
    """What differs although it should not; empty: nothing does.

    Raises:
        ReportError: something differs, and `mix` was not given.
    """
    found = differences(reports)
    if found and not mix:
        lines = "\n  ".join(found[:_SHOWN])
        more = f"\n  and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise ReportError(
            f"these reports may not be compared, because this differs:\n  {lines}{more}\n"
            "Make them anew under the same conditions, or say --mix to compare them all the same."
        )
    return found


def as_record(comparison: Comparison) -> dict[str, Json]:
    """Plain JSON, for `--json`."""
    return cast("dict[str, Json]", asdict(comparison))


def _write(path: Path, text: str) -> None:
    try:
        atomic_write(path, text)
    except OSError as error:
        raise StoreFault(f"{path}: cannot be written: {error}.") from error
