"""A report as the plain numbers that `stats` works on."""

from collections.abc import Callable

from agent_loop.stats.budget import Spending
from agent_loop.stats.compare import Arm, Row
from agent_loop.store.report import Attempt, LapPoint, Report

MEASURES = ("laps", "tokens", "seconds")


def arm_of(report: Report) -> Arm:
    """The report as one variant of a comparison. Attempts that judged nothing count as nothing."""
    return Arm(
        label=report.label,
        tasks=report.plan.tasks,
        attempts=report.plan.attempts,
        rows=tuple(map(_row, report.attempts)),
        environment=sum(row.status == "environment" for row in report.attempts),
    )


def total_tokens(attempt: Attempt) -> int | None:
    """Input and output of all model calls; `None`: not measured."""
    return attempt.tokens.input + attempt.tokens.output if attempt.tokens else None


def spendings(report: Report, measure: str) -> list[Spending]:
    """How every judged attempt spent `measure` (one of MEASURES); unmeasured ones are left out."""
    value = _VALUES[measure]
    rows = [row for row in report.attempts if row.passed is not None]
    if measure == "tokens":  # a lap of calls that were not measured counts none
        rows = [row for row in rows if row.tokens is not None]
    found = [_spending(row, value) for row in rows]
    return [spending for spending in found if spending]


def _row(attempt: Attempt) -> Row:
    return Row(
        task=attempt.task,
        n=attempt.n,
        passed=attempt.passed if attempt.status == "finished" else None,
        seconds=attempt.seconds,
        tokens=total_tokens(attempt),
        format_failures=attempt.format_failures,
    )


def _spending(attempt: Attempt, value: Callable[[LapPoint], float | None]) -> Spending | None:
    used = [(value(point), point.passed) for point in attempt.lap_curve]
    known = [(number, passed) for number, passed in used if number is not None]
    if not known or len(known) < len(used):
        return None
    at = min((number for number, passed in known if passed), default=None)
    if attempt.passed and at is None:
        return None  # it passed by a word of the owner, not at a lap
    return Spending(passed_at=at, used=max(number for number, _ in known))


def _laps(point: LapPoint) -> float | None:
    return point.lap


def _tokens(point: LapPoint) -> float | None:
    return point.tokens


def _seconds(point: LapPoint) -> float | None:
    return point.seconds


_VALUES: dict[str, Callable[[LapPoint], float | None]] = {
    "laps": _laps,
    "tokens": _tokens,
    "seconds": _seconds,
}
