"""Eval reports: `runs/evals/<label>-<timestamp>.json`, one row for each task and attempt number.

Strict JSON: no NaN, no infinity. What was not measured is `null`, never 0. A report is replaced
whole or not at all, so a reader never sees half of one.
"""

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from pydantic import TypeAdapter, ValidationError

from agent_loop.errors import ReportError, StoreFault
from agent_loop.paths import atomic_write
from agent_loop.redact import redact
from agent_loop.store.report import (
    VERSION,
    Attempt,
    Identity,
    LapPoint,
    Plan,
    PlannedExperiment,
    Report,
    Status,
    Tokens,
    with_attempt,
)

__all__ = [
    "Attempt",
    "Identity",
    "LapPoint",
    "Plan",
    "PlannedExperiment",
    "Report",
    "ReportSummary",
    "Status",
    "Tokens",
    "as_json",
    "find_report",
    "list_reports",
    "parse_report",
    "read_report",
    "report_path",
    "with_attempt",
    "write_report",
]

MAX_REPORT_BYTES = 256 << 20
FOLDER = "evals"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSummary:
    """One line of the list of reports."""

    path: Path
    label: str
    created: str = ""
    updated: str = ""
    finished: bool = False
    tasks: int = 0
    planned: int = 0
    """Attempts of all tasks together."""
    judged: int = 0
    passed: int = 0
    environment: int = 0
    experiment: str = ""
    problem: str = ""
    """Why it cannot be read; the other fields then say nothing."""


def report_path(root: Path, label: str, created: str) -> Path:
    """Where a new report goes: `root` is the runs folder, `created` is UTC ISO 8601."""
    stamp = re.sub(r"[^0-9T]", "", created[:19]).replace("T", "-")
    return root / FOLDER / f"{label}-{stamp}.json"


def as_json(report: Report) -> str:
    """The report's text, the one way it is written. Lone surrogates become `?` in the file.

    Raises:
        ReportError: a number in it is NaN or infinite.
    """
    fields = asdict(report)
    for row in fields["attempts"]:
        row["problem"] = redact(row["problem"])
    ordered = {"version": fields.pop("version"), **fields}
    try:
        return json.dumps(ordered, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    except ValueError as error:
        raise ReportError(
            f"report '{report.label}' holds a number that is none: {error}."
        ) from None


def write_report(path: Path, report: Report) -> None:
    """Replace the file, whole or not at all.

    Raises:
        StoreFault: the disk refused; what stood there is untouched.
    """
    text = as_json(report)
    try:
        atomic_write(path, text)
    except OSError as error:
        raise StoreFault(f"{path}: cannot be written: {error}.") from error


def read_report(path: Path) -> Report:
    """The report in a file.

    Raises:
        ReportError: it is missing, too large, no report, or of another version; says which.
    """
    return parse_report(_bytes(path), where=str(path))


def parse_report(raw: bytes, *, where: str) -> Report:
    """The report in these bytes; `where` is named when they are none.

    Raises:
        ReportError: as for `read_report`.
    """
    try:
        fields = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{where}: not a report: {error}.") from None
    if not isinstance(fields, dict) or "plan" not in fields or "attempts" not in fields:
        raise ReportError(f"{where}: not a report of evals.")
    if fields.get("version") != VERSION:
        raise ReportError(
            f"{where}: version {fields.get('version')!r}; this program reads version {VERSION}."
        )
    try:
        report = _adapter().validate_json(raw, strict=True)
    except ValidationError as error:
        raise ReportError(f"{where}: not a report: {_first(error)}.") from None
    return _checked(report, where)


def list_reports(root: Path) -> list[ReportSummary]:
    """Every report under the runs folder `root`, newest first; broken ones carry a `problem`."""
    try:
        paths = [p for p in (root / FOLDER).glob("*.json") if not p.name.startswith(".")]
    except OSError:
        return []
    return sorted(map(_summary, paths), key=lambda s: (s.created, s.path.name), reverse=True)


def find_report(root: Path, name: str) -> Path:
    """The file a person means: a path, a file name in `runs/evals`, or a label (its newest).

    Raises:
        ReportError: there is none; names those there are.
    """
    path = Path(name)
    stem = root / FOLDER / f"{path.name.removesuffix('.json')}.json"
    for known in (path, stem):
        if known.is_file():
            return known
    listed = list_reports(root)
    for summary in listed:
        if summary.label == name and not summary.problem:
            return summary.path
    there = ", ".join(sorted({s.label for s in listed})) or "none"
    raise ReportError(f"report '{name}': neither a file nor a label. Labels there are: {there}.")


def _summary(path: Path) -> ReportSummary:
    try:
        report = read_report(path)
    except ReportError as error:
        return ReportSummary(path=path, label=path.stem, problem=str(error))
    rows, experiment = report.attempts, report.plan.experiment
    return ReportSummary(
        path=path,
        label=report.label,
        created=report.created,
        updated=report.updated,
        finished=report.finished,
        tasks=len(report.plan.tasks),
        planned=len(report.plan.tasks) * report.plan.attempts,
        judged=sum(row.passed is not None for row in rows),
        passed=sum(row.passed is True for row in rows),
        environment=sum(row.status == "environment" for row in rows),
        experiment=experiment.name if experiment else "",
    )


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_REPORT_BYTES:
            raise ReportError(f"{path}: larger than {MAX_REPORT_BYTES >> 20} MiB.")
        return path.read_bytes()
    except FileNotFoundError:
        raise ReportError(f"{path}: there is no such report.") from None
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error}.") from None


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


def _checked(report: Report, where: str) -> Report:
    counted = Counter((row.task, row.n) for row in report.attempts)
    for (task, n), times in counted.items():
        if times > 1:
            raise ReportError(f"{where}: attempt {n} of '{task}' stands there {times} times.")
    return report


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
