"""The report on the disk while attempts come in from several threads."""

import threading
from dataclasses import replace
from pathlib import Path

from agent_loop.ports import Clock
from agent_loop.store.reports import Attempt, Plan, Report, with_attempt, write_report


class Ledger:
    """Keeps one row for each attempt and saves the report after every one."""

    def __init__(self, path: Path, report: Report, clock: Clock) -> None:
        self.path = path
        self.report = report
        self._clock = clock
        self._lock = threading.Lock()

    def begin(self, row: Attempt) -> None:
        """An attempt runs now; on the disk with the next one that ends."""
        with self._lock:
            self.report = with_attempt(self.report, row)

    def end(self, row: Attempt) -> None:
        """An attempt has ended or stopped: saved before this returns.

        Raises:
            StoreFault: the disk refuses.
        """
        with self._lock:
            self.report = with_attempt(self.report, row, updated=self._clock.now_iso())
            self._save()

    def change(self, **fields: object) -> None:
        """Replace fields of the report and save it."""
        with self._lock:
            self.report = replace(self.report, updated=self._clock.now_iso(), **fields)  # type: ignore[arg-type]
            self._save()

    def _save(self) -> None:
        self.report = replace(self.report, finished=is_finished(self.report))
        write_report(self.path, self.report)


def is_finished(report: Report) -> bool:
    """Every planned attempt has a valid row."""
    done = {(row.task, row.n) for row in report.attempts if row.status == "finished"}
    return bool(report.plan.tasks) and all(key in done for key in planned(report.plan))


def planned(plan: Plan) -> list[tuple[str, int]]:
    return [(task, n) for task in plan.tasks for n in range(1, plan.attempts + 1)]
