"""One variant's figures, and two or more variants side by side. Plain numbers in and out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from agent_loop.stats.intervals import (
    Interval,
    bootstrap_mean,
    paired_bootstrap_by_task,
    task_differences,
    wilson,
)
from agent_loop.stats.paired import PairCounts, holm, mcnemar_exact, pair_counts, sign_flip_p
from agent_loop.stats.planning import Sensitivity, sensitivity
from agent_loop.stats.rates import pass_at_k, pass_hat_k


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One attempt in numbers. `None`: not judged, or not measured."""

    task: str
    n: int
    passed: bool | None
    seconds: float | None = None
    tokens: int | None = None
    format_failures: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One variant: its rows and what was planned."""

    label: str
    tasks: tuple[str, ...]
    attempts: int
    """Planned for each task."""
    rows: tuple[Row, ...]
    environment: int = 0
    """Attempts that the world around the model ended: no row of them is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFigures:
    """One task of one variant."""

    task: str
    passed: int
    judged: int
    rate: Interval | None
    seconds: float | None
    """Mean."""
    tokens: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KFigures:
    """Chances of `k` attempts together, averaged over the tasks with at least `k` judged ones."""

    k: int
    tasks: int
    any_passes: float | None
    """pass@k."""
    all_pass: float | None
    """pass^k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigures:
    """One variant over all its tasks."""

    label: str
    planned: int
    judged: int
    passed: int
    environment: int
    rate: Interval | None
    seconds: Interval | None
    tokens: Interval | None
    of_k: tuple[KFigures, ...]
    tasks: tuple[TaskFigures, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFigures:
    """A variant (`second`) against the one it is compared with (`first`), on shared pairs."""

    first: str
    second: str
    counts: PairCounts
    left_out: int
    """Attempts judged on one side only."""
    tasks: int
    """Shared tasks with a pair."""
    rate_difference: Interval | None
    """Second - first, bootstrap over tasks."""
    mcnemar_p: float | None
    mcnemar_holm: float | None = None
    """Corrected for all variants of the comparison."""
    sign_flip_p: float | None
    """The same question asked over tasks instead of attempts."""
    sign_flip_holm: float | None = None
    seconds_difference: Interval | None
    tokens_difference: Interval | None
    by_task: dict[str, float] = field(default_factory=dict)
    """Difference of pass rates of each shared task."""
    sensitivity: Sensitivity | None = None
    """What these pairs could see from the first variant's rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Every variant, and each after the first against the first."""

    arms: tuple[ArmFigures, ...]
    pairs: tuple[PairFigures, ...]


def figures(arm: Arm) -> ArmFigures:
    """The numbers of one variant."""
    judged = [row for row in arm.rows if row.passed is not None]
    passed = sum(row.passed is True for row in judged)
    tasks = tuple(_of_task(task, judged) for task in _task_names(arm))
    return ArmFigures(
        label=arm.label,
        planned=len(arm.tasks) * arm.attempts,
        judged=len(judged),
        passed=passed,
        environment=arm.environment,
        rate=wilson(passed, len(judged)),
        seconds=bootstrap_mean([row.seconds for row in judged if row.seconds is not None]),
        tokens=bootstrap_mean([float(row.tokens) for row in judged if row.tokens is not None]),
        of_k=tuple(_of_k(k, tasks) for k in _ks(tasks)),
        tasks=tasks,
    )


def compare(arms: Sequence[Arm]) -> Comparison:
    """Each variant after the first against the first, p values corrected over all of them."""
    pairs = [_pair(arms[0], arm) for arm in arms[1:]] if arms else []
    over_attempts = holm([pair.mcnemar_p for pair in pairs])
    over_tasks = holm([pair.sign_flip_p for pair in pairs])
    return Comparison(
        arms=tuple(map(figures, arms)),
        pairs=tuple(
            replace(pair, mcnemar_holm=a, sign_flip_holm=t)
            for pair, a, t in zip(pairs, over_attempts, over_tasks, strict=True)
        ),
    )


def shared_rows(first: Arm, second: Arm) -> list[tuple[Row, Row]]:
    """The rows of the same task and number that were judged on both sides."""
    there = {(row.task, row.n): row for row in second.rows if row.passed is not None}
    own = [row for row in first.rows if row.passed is not None]
    return [(row, there[row.task, row.n]) for row in own if (row.task, row.n) in there]


def _pair(first: Arm, second: Arm) -> PairFigures:
    rows = shared_rows(first, second)
    counts = pair_counts((bool(a.passed), bool(b.passed)) for a, b in rows)
    judged = sum(r.passed is not None for arm in (first, second) for r in arm.rows)
    ours, theirs = (
        (_by_task(side, _passed) for side in zip(*rows, strict=True)) if rows else ({}, {})
    )
    differences = task_differences(ours, theirs)
    return PairFigures(
        first=first.label,
        second=second.label,
        counts=counts,
        left_out=judged - 2 * counts.pairs,
        tasks=len(differences),
        rate_difference=paired_bootstrap_by_task(ours, theirs),
        mcnemar_p=mcnemar_exact(counts.only_first, counts.only_second),
        sign_flip_p=sign_flip_p(list(differences.values())),
        seconds_difference=_difference(rows, _seconds),
        tokens_difference=_difference(rows, _tokens),
        by_task=differences,
        sensitivity=_could_see(rows, tasks=len(differences)),
    )


def _could_see(rows: Sequence[tuple[Row, Row]], *, tasks: int) -> Sensitivity | None:
    if not rows:
        return None
    rate = fmean(bool(first.passed) for first, _ in rows)
    found = sensitivity(tasks=len(rows), attempts=1, baseline=rate)
    return replace(found, tasks=tasks, attempts=round(len(rows) / max(tasks, 1)))


def _difference(
    rows: Sequence[tuple[Row, Row]], value: Callable[[Row], float | None]
) -> Interval | None:
    known = [(a, b) for a, b in rows if value(a) is not None and value(b) is not None]
    ours, theirs = _by_task([a for a, _ in known], value), _by_task([b for _, b in known], value)
    return paired_bootstrap_by_task(ours, theirs)


def _by_task(rows: Sequence[Row], value: Callable[[Row], float | None]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        if (number := value(row)) is not None:
            found.setdefault(row.task, []).append(number)
    return found


def _passed(row: Row) -> float:
    return float(bool(row.passed))


def _seconds(row: Row) -> float | None:
    return row.seconds


def _tokens(row: Row) -> float | None:
    return row.tokens


def _task_names(arm: Arm) -> list[str]:
    return list(dict.fromkeys([*arm.tasks, *(row.task for row in arm.rows)]))


def _of_task(task: str, judged: Sequence[Row]) -> TaskFigures:
    rows = [row for row in judged if row.task == task]
    passed = sum(row.passed is True for row in rows)
    return TaskFigures(
        task=task,
        passed=passed,
        judged=len(rows),
        rate=wilson(passed, len(rows)),
        seconds=_mean([row.seconds for row in rows if row.seconds is not None]),
        tokens=_mean([float(row.tokens) for row in rows if row.tokens is not None]),
    )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _ks(tasks: Sequence[TaskFigures]) -> list[int]:
    most = max((task.judged for task in tasks), default=0)
    return sorted({1, 2, 3, 5, 10, most} & set(range(1, most + 1)))


def _of_k(k: int, tasks: Sequence[TaskFigures]) -> KFigures:
    enough = [task for task in tasks if task.judged >= k]
    at = [pass_at_k(task.judged, task.passed, k) for task in enough]
    hat = [pass_hat_k(task.judged, task.passed, k) for task in enough]
    return KFigures(
        k=k,
        tasks=len(enough),
        any_passes=_mean([x for x in at if x is not None]),
        all_pass=_mean([x for x in hat if x is not None]),
    )
