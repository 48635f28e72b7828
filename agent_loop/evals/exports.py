"""A report for other programs: SWE-bench predictions, JUnit XML, CSV."""

import argparse
import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from agent_loop.errors import StoreFault
from agent_loop.paths import atomic_write
from agent_loop.ports import Json
from agent_loop.store.reports import Attempt, Report, find_report, read_report

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = (
    "label", "task", "n", "status", "outcome", "passed", "looks", "laps", "seconds", "load_s",
    "input_tokens", "output_tokens", "cost", "format_failures", "tries", "thread", "problem",
)  # fmt: skip


def preds(report: Report, n: int) -> str:
    """SWE-bench's `preds.jsonl`: the patch of attempt `n` at every task; empty where it has none.

    One attempt a file, because SWE-bench keeps one prediction for each instance.
    """
    rows = [row for row in report.attempts if row.n == n]
    lines = (
        {
            "instance_id": row.task,
            "model_name_or_path": f"{report.label}-{_worker(report)}",
            "model_patch": row.patch or "",
        }
        for row in rows
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def junit(report: Report) -> str:
    """JUnit XML: a suite for each task, a case for each attempt.

    A failed attempt is a failure, one that the environment ended an error, and one that was not
    judged for another reason is skipped.
    """
    top = ET.Element("testsuites", name=_xml(report.label))
    for task in dict.fromkeys(row.task for row in report.attempts):
        rows = [row for row in report.attempts if row.task == task]
        suite = ET.SubElement(top, "testsuite", {"name": _xml(task), **_counts(rows)})
        for row in rows:
            _case(suite, row)
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def table(report: Report) -> str:
    """CSV, a line for each attempt; an empty cell is what was not measured.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for row in report.attempts:
        writer.writerow([_cell(value) for value in _values(report, row)])
    return out.getvalue()


def write_all(path: Path, report: Report) -> list[Path]:
    """Write every export beside the report; gives their paths.

    Raises:
        StoreFault: the disk refused.
    """
    texts = {
        f"{path.stem}.csv": table(report),
        f"{path.stem}.junit.xml": junit(report),
        f"{path.stem}.preds.jsonl": preds(report, 1),
    }
    for n in range(2, report.plan.attempts + 1):
        texts[f"{path.stem}.preds-{n}.jsonl"] = preds(report, n)
    try:
        for name, text in texts.items():
            atomic_write(path.with_name(name), text)
    except OSError as error:
        raise StoreFault(f"{path.parent}: cannot be written: {error}.") from error
    return [path.with_name(name) for name in texts]


def add_options(group: argparse._ArgumentGroup) -> None:
    """The option of exports."""
    group.add_argument(
        "--export", metavar="REPORT",
        help="write preds.jsonl (SWE-bench), JUnit XML and CSV beside a report (label or file)",
    )  # fmt: skip


def run(given: argparse.Namespace, root: Path, say: Callable[[str], None]) -> int:
    """`--export REPORT`. Returns the exit code.

    Raises:
        ReportError: there is no such report.
    """
    path = find_report(root, given.export)
    for made in write_all(path, read_report(path)):
        say(str(made))
    return 0


def _worker(report: Report) -> str:
    worker = report.identity.models.get("worker")
    name = worker.get("name") if isinstance(worker, Mapping) else worker
    return str(name or "unknown")


def _counts(rows: Sequence[Attempt]) -> dict[str, str]:
    kinds = [_kind(row) for row in rows]
    seconds = sum(row.seconds or 0.0 for row in rows)
    return {
        "tests": str(len(rows)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": f"{seconds:.3f}",
    }


def _kind(row: Attempt) -> str:
    if row.passed is None:
        return "error" if row.status == "environment" else "skipped"
    return "" if row.passed else "failure"


def _case(suite: ET.Element, row: Attempt) -> None:
    case = ET.SubElement(suite, "testcase", classname=_xml(row.task), name=f"attempt {row.n}")
    if row.seconds is not None:
        case.set("time", f"{row.seconds:.3f}")
    if kind := _kind(row):
        why = row.problem or row.outcome or row.status
        ET.SubElement(case, kind, message=_xml(why[:200])).text = _xml(why)


def _xml(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _values(report: Report, row: Attempt) -> list[Json]:
    used = (row.tokens.input, row.tokens.output) if row.tokens else (None, None)
    return [
        report.label, row.task, row.n, row.status, row.outcome, row.passed, row.looks, row.laps,
        row.seconds, row.load_s, *used, row.cost, row.format_failures, row.tries, row.thread,
        row.problem,
    ]  # fmt: skip


def _cell(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(_FORMULA) else text
