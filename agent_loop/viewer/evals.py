"""Eval reports for the page: the list, one in figures, and several side by side."""

import os
import re
import stat
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from agent_loop.errors import MissingExtra, ReportError
from agent_loop.ports import Json
from agent_loop.stats.compare import ArmFigures, compare, figures
from agent_loop.store.comparable import differences
from agent_loop.store.report import Attempt, Report
from agent_loop.store.reportnumbers import arm_of, total_tokens
from agent_loop.store.reports import FOLDER, parse_report
from agent_loop.viewer.evalcells import Cell, compared, head_of, overall, rate_of
from agent_loop.viewer.places import Places, plain_file
from agent_loop.webguard import WebError

MAX_BYTES = 64 << 20
MAX_REPORTS = 2_000
MAX_COMPARED = 6
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,149}")
Mark = tuple[int, int, int]


@dataclass(slots=True)
class _Known:
    """A report as it was read last; `report` is `None` where the file is none."""

    mark: Mark
    report: Report | None
    problem: str = ""
    figures: ArmFigures | None = None


class Evals:
    """Reads reports under `runs/evals/`, each once until its file changes. Any thread may ask."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def threads(self) -> frozenset[str]:
        """Threads that are attempts of an eval."""
        reports = [known.report for _, known in self._look() if known.report]
        return frozenset(row.thread for report in reports for row in report.attempts)

    def listed(self) -> list[Cell]:
        """Every report in a few words, newest first."""
        rows = [_listed(name, known) for name, known in self._look()]
        return sorted(rows, key=lambda row: (str(row["created"]), str(row["name"])), reverse=True)

    def one(self, name: str) -> dict[str, Json]:
        """One report in figures.

        Raises:
            WebError: there is none (404), or its file cannot be read (409).
        """
        report = self._report(name)
        told, problem = _without_extra(lambda: overall(self._figures(name)))
        return {
            "report": head_of(name, report),
            "problem": problem,
            "overall": told["overall"] if told else None,
            "tasks": told["tasks"] if told else [],
            "attempts": [self._attempt(row) for row in report.attempts],
            "trend": self._trend(report),
        }

    def compare(self, names: Sequence[str]) -> dict[str, Json]:
        """Each report after the first against the first, on the attempts both have.

        Raises:
            WebError: too few or too many (400), or one is missing.
        """
        if not 2 <= len(set(names)) == len(names) <= MAX_COMPARED:
            raise WebError(400, "reports", f"Choose 2 to {MAX_COMPARED} different reports.")
        reports = [self._report(name) for name in names]
        told, problem = _without_extra(
            lambda: compared(names, compare([arm_of(report) for report in reports]))
        )
        empty: dict[str, Json] = {"reports": [], "pairs": [], "tasks": []}
        return {**(told or empty), "differs": list(differences(reports)), "problem": problem}

    def patch(self, name: str, task: str, n: int) -> bytes:
        """The answer of one attempt.

        Raises:
            WebError: none such (404).
        """
        for row in self._report(name).attempts:
            if row.task == task and row.n == n and row.patch:
                return row.patch.encode("utf-8", "replace")
        raise WebError(404, "no_patch", "This attempt has no patch.")

    # --- inner

    def _report(self, name: str) -> Report:
        if not _NAME.fullmatch(name):
            raise WebError(400, "name", "This is no name of a report.")
        known = dict(self._look()).get(name)
        if known is None:
            raise WebError(404, "report", "There is no such report.")
        if known.report is None:
            raise WebError(409, "unreadable", known.problem)
        return known.report

    def _figures(self, name: str) -> ArmFigures:
        known = self._known[name]
        if known.figures is None and known.report is not None:
            known.figures = figures(arm_of(known.report))
        if known.figures is None:
            raise WebError(404, "report", "There is no such report.")
        return known.figures

    def _attempt(self, row: Attempt) -> Json:
        there = self._places.is_thread(row.thread) and self._places.there(row.thread)
        return {
            "task": row.task,
            "n": row.n,
            "thread": row.thread,
            "run": row.thread if there else None,
            "status": row.status,
            "outcome": row.outcome,
            "passed": row.passed,
            "looks": row.looks,
            "laps": row.laps,
            "seconds": row.seconds,
            "load_s": row.load_s,
            "tokens": {"input": row.tokens.input, "output": row.tokens.output}
            if row.tokens
            else None,
            "cost": row.cost,
            "format_failures": row.format_failures,
            "problem": row.problem[:2_000],
            "tries": row.tries,
            "has_patch": bool(row.patch),
            "lap_curve": [asdict(point) for point in row.lap_curve[:100]],
        }

    def _trend(self, report: Report) -> list[Json]:
        """Reports of the same tasks, oldest first."""
        tasks = set(report.plan.tasks)
        same = [
            (name, known.report)
            for name, known in self._look()
            if known.report and set(known.report.plan.tasks) == tasks
        ]
        same.sort(key=lambda pair: (pair[1].created, pair[0]))
        return [
            {"name": name, "label": one.label, "created": one.created, "rate": rate_of(one)}
            for name, one in same[-50:]
        ]

    def _look(self) -> list[tuple[str, _Known]]:
        with self._lock:
            known: dict[str, _Known] = {}
            for name, mark in self._marks():
                before = self._known.get(name)
                known[name] = before if before and before.mark == mark else self._read(name, mark)
            self._known = known
            return list(known.items())

    def _marks(self) -> list[tuple[str, Mark]]:
        folder = self._places.root / FOLDER
        found = []
        try:
            if not stat.S_ISDIR(folder.lstat().st_mode):
                return []
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name.removesuffix(".json")
                    if name != entry.name and _NAME.fullmatch(name):
                        about = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(about.st_mode):
                            found.append((name, (about.st_ino, about.st_mtime_ns, about.st_size)))
        except OSError:
            return []
        return sorted(found)[-MAX_REPORTS:]

    def _read(self, name: str, mark: Mark) -> _Known:
        file = plain_file(self._places.root / FOLDER / f"{name}.json")
        if file is None:
            return _Known(mark, None, "The file cannot be read.")
        with file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            return _Known(mark, None, f"The file is larger than {MAX_BYTES >> 20} MiB.")
        try:
            return _Known(mark, parse_report(raw, where=f"{name}.json"))
        except ReportError as error:
            return _Known(mark, None, str(error)[:1_000])


def _listed(name: str, known: _Known) -> Cell:
    report = known.report
    if report is None:
        return {"name": name, "label": name, "created": "", "problem": known.problem}
    rows, plan = report.attempts, report.plan
    return {
        **head_of(name, report, whole=False),
        "tasks": len(plan.tasks),
        "planned": len(plan.tasks) * plan.attempts,
        "done": sum(row.status != "running" for row in rows),
        "passed": sum(row.passed is True for row in rows),
        "failed": sum(row.passed is False for row in rows),
        "environment": sum(row.status == "environment" for row in rows),
        "budget": sum(row.status == "budget" for row in rows),
        "tokens": sum(total_tokens(row) or 0 for row in rows),
        "rate": rate_of(report),
        "problem": None,
    }


def _without_extra(work: Callable[[], Cell]) -> tuple[Cell | None, str | None]:
    """The figures, or why there are none: intervals need packages that not everybody has."""
    try:
        return work(), None
    except MissingExtra as error:
        return None, str(error)
    except (ValueError, ArithmeticError) as error:  # infinite seconds, say
        return None, f"Its numbers cannot be worked with: {error!s:.200}"
