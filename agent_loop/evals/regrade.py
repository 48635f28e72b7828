"""`--regrade REPORT`: every stored answer judged again with today's gate, no model asked."""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from agent_loop.assemble.stored import Stored, Verified, read_stored
from agent_loop.errors import SandboxUnavailable, UserError
from agent_loop.evals import words
from agent_loop.evals.render_markdown import cell, code, table
from agent_loop.fixtures import task_hash
from agent_loop.ports import Candidate, Check, Json
from agent_loop.store import RunStore
from agent_loop.store.reports import FOLDER, Attempt, Report, find_report, read_report
from agent_loop.tasks import Task

Now = Literal["holds", "fell", "rose", "still fails", "not judged"]
_ORDER: tuple[Now, ...] = ("fell", "rose", "not judged", "holds", "still fails")


class Judge(Protocol):
    """What judges a stored answer again (`Workshop` fits)."""

    @property
    def store(self) -> RunStore: ...

    def verify(self, thread: str) -> Verified: ...

    def trial(self, task: Task, folder: Path) -> AbstractContextManager[Check]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """One attempt, judged again."""

    task: str
    n: int
    thread: str
    now: Now
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrade:
    """A report, judged again."""

    label: str
    rows: tuple[Regraded, ...]
    gate: str = ""
    """How the harness of then differs from today's; empty: it does not."""

    def count(self, now: Now) -> int:
        return sum(row.now == now for row in self.rows)

    def as_record(self) -> dict[str, Json]:
        """Plain JSON."""
        rows: list[Json] = [
            {"task": r.task, "n": r.n, "thread": r.thread, "now": r.now, "why": r.why}
            for r in self.rows
        ]
        return {"label": self.label, "counts": {k: self.count(k) for k in _ORDER}, "rows": rows}


def regrade(
    report: Report,
    judge: Judge,
    say: Callable[[str], None],
    *,
    today: Mapping[str, Json],
    known: Mapping[str, Task] | None = None,
) -> Regrade:
    """Judge every attempt that holds an answer.

    Args:
        report: whose answers.
        judge: today's gate.
        say: hears of every attempt.
        today: the harness of now.
        known: tasks by name; an answer whose run is gone is judged from the report with its task,
            if the files of that are those of the report.

    Raises:
        SandboxUnavailable: nothing can be judged here.
    """
    rows = []
    tasks = {
        name: task
        for name, task in (known or {}).items()
        if task_hash(task) == report.identity.fixtures.get(name)
    }
    judged = [row for row in report.attempts if row.passed is not None]
    for at, row in enumerate(judged, 1):
        found = _one(row, judge, tasks.get(row.task))
        say(f"{at}/{len(judged)} {words.plain(row.task)} {row.n}: {found.now}")
        rows.append(found)
    return Regrade(label=report.label, rows=tuple(rows), gate=_gate(report, today))


def markdown(found: Regrade) -> str:
    """What fell first."""
    counts = ", ".join(f"{found.count(now)} {now}" for now in _ORDER if found.count(now))
    lines = [
        f"# Report {cell(found.label)}, judged again",
        found.gate or "The gate is the one it was judged with.",
        f"{len(found.rows)} answers: {counts or 'none'}",
    ]
    rows = [_cells(row) for row in _told(found.rows)]
    if rows:
        lines.append(table(("task", "attempt", "now", "why", "thread"), rows))
    return "\n\n".join(lines) + "\n"


def add_options(group: argparse._ArgumentGroup) -> None:
    """The option of judging again."""
    group.add_argument(
        "--regrade", metavar="REPORT",
        help="judge every answer of a report (label or file) again with today's gate; no model",
    )  # fmt: skip


def run(
    given: argparse.Namespace,
    judge: Judge,
    say: Callable[[str], None],
    *,
    progress: Callable[[str], None],
    today: Mapping[str, Json],
    known: Mapping[str, Task] | None = None,
) -> tuple[int, Regrade]:
    """`--regrade REPORT`: exit code 1 where a pass fell or an answer could not be judged.

    Raises:
        ReportError: there is no such report.
        SandboxUnavailable: nothing can be judged here.
    """
    report = read_report(find_report(judge.store.root, given.regrade))
    found = regrade(report, judge, progress, today=today, known=known)
    say(markdown(found))
    return (1 if found.count("fell") or found.count("not judged") else 0), found


def _one(row: Attempt, judge: Judge, task: Task | None) -> Regraded:
    if row.patch is None:
        now: Now = "not judged" if row.passed else "still fails"
        return _row(row, now, "it holds no answer")
    try:
        stored = _stored(row, judge)
        if stored is None and task is None:
            return _row(row, "not judged", "its run is gone, and its task is not known here")
        if stored is None and task is not None:
            return _told_apart(row, _from_report(row.patch, judge, task))
        if stored is not None and stored.answer != row.patch:
            return _row(row, "not judged", _other_answer(stored))
        return _told_apart(row, judge.verify(row.thread))
    except SandboxUnavailable:
        raise
    except (UserError, OSError) as error:
        return _row(row, "not judged", str(error))


def _stored(row: Attempt, judge: Judge) -> Stored | None:
    """What the run left; `None`: nothing did."""
    if not judge.store.folder(row.thread).is_dir():
        return None
    return read_stored(judge.store, row.thread)


def _from_report(patch: str, judge: Judge, task: Task) -> Verified:
    room = judge.store.root.resolve() / FOLDER / ".regrade"
    room.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=room))
    try:
        with judge.trial(task, folder) as check:
            verdict = check.judge(Candidate(answer=patch, digest=""))
        return Verified(verdict=verdict, certified=False, problems=())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _told_apart(row: Attempt, found: Verified) -> Regraded:
    if row.passed:
        problem = "; ".join(found.problems) or found.verdict.reason
        return _row(row, "holds" if found.holds else "fell", "" if found.holds else problem)
    passes = found.verdict.passed
    return _row(row, "rose" if passes else "still fails", found.verdict.reason if passes else "")


def _other_answer(stored: Stored) -> str:
    return f"the run holds another answer than the report ({stored.digest[:12]})"


def _row(row: Attempt, now: Now, why: str) -> Regraded:
    return Regraded(task=row.task, n=row.n, thread=row.thread, now=now, why=why)


def _gate(report: Report, today: Mapping[str, Json]) -> str:
    then = report.identity.harness
    keys = [key for key in sorted({*then, *today}) if then.get(key) != today.get(key)]
    lines = (f"{key}: {then.get(key)} then, {today.get(key)} now" for key in keys)
    return f"What changed since: {cell('; '.join(lines), 400)}" if keys else ""


def _told(rows: Iterable[Regraded]) -> list[Regraded]:
    worth = [row for row in rows if row.now in ("fell", "rose", "not judged")]
    return sorted(worth, key=lambda row: _ORDER.index(row.now))


def _cells(row: Regraded) -> tuple[str, ...]:
    return (cell(row.task), str(row.n), row.now, code(row.why), code(row.thread))
