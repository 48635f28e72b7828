"""The figures of eval reports as the page takes them: plain JSON, nothing read and nothing kept."""

from collections.abc import Sequence
from dataclasses import asdict

from agent_loop.errors import MissingExtra
from agent_loop.ports import Json
from agent_loop.stats import Interval, wilson
from agent_loop.stats.compare import ArmFigures, Comparison, PairFigures
from agent_loop.store.report import Report

Cell = dict[str, Json]


def head_of(name: str, report: Report, *, whole: bool = True) -> Cell:
    plan, identity = report.plan, report.identity
    head: Cell = {
        "name": name,
        "label": report.label,
        "created": report.created,
        "updated": report.updated,
        "finished": report.finished,
        "suite": plan.suite,
        "experiment": plan.experiment.name if plan.experiment else None,
        "models": {
            role: str(one.get("answered") or one.get("name")) if isinstance(one, dict) else str(one)
            for role, one in identity.models.items()
        },
    }
    if whole:
        head |= {
            "plan": asdict(plan),
            "identity": asdict(identity),
            "adopted": dict(report.adopted) if report.adopted else None,
        }
    return head


def rate_of(report: Report) -> Cell:
    judged = [row.passed for row in report.attempts if row.passed is not None]
    return _rate(sum(judged), len(judged))


def _rate(k: int, n: int) -> Cell:
    if n == 0:
        return _interval(None)
    try:
        return _interval(wilson(k, n))
    except MissingExtra:
        return {"value": k / n, "low": None, "high": None}


def _interval(found: Interval | None) -> Cell:
    if found is None:
        return {"value": None, "low": None, "high": None}
    return {"value": found.value, "low": found.low, "high": found.high}


def overall(found: ArmFigures) -> Cell:
    return {
        "overall": {
            "planned": found.planned,
            "n": found.judged,
            "passed": found.passed,
            "environment": found.environment,
            "rate": _interval(found.rate),
            "seconds": _interval(found.seconds),
            "tokens": _interval(found.tokens),
            "of_k": [asdict(one) for one in found.of_k],
            "pass_at": {str(one.k): one.any_passes for one in found.of_k},
            "pass_hat": {str(one.k): one.all_pass for one in found.of_k},
        },
        "tasks": [
            {
                "task": one.task,
                "n": one.judged,
                "passed": one.passed,
                "rate": _interval(one.rate),
                "seconds": one.seconds,
                "tokens": one.tokens,
            }
            for one in found.tasks
        ],
    }


def compared(names: Sequence[str], found: Comparison) -> Cell:
    tasks = list(dict.fromkeys(task.task for arm in found.arms for task in arm.tasks))
    by_arm = [{task.task: task for task in arm.tasks} for arm in found.arms]
    return {
        "reports": [
            {"name": name, "label": arm.label, **_part(arm)}
            for name, arm in zip(names, found.arms, strict=True)
        ],
        "pairs": [
            _pair(names[0], name, pair) for name, pair in zip(names[1:], found.pairs, strict=True)
        ],
        "tasks": [
            {
                "task": task,
                "rates": [_interval(arm[task].rate if task in arm else None) for arm in by_arm],
            }
            for task in tasks
        ],
    }


def _part(arm: ArmFigures) -> Cell:
    cell = overall(arm)["overall"]
    return dict(cell) if isinstance(cell, dict) else {}


def _pair(first: str, second: str, pair: PairFigures) -> Cell:
    counts = pair.counts
    return {
        "a": first,
        "b": second,
        "n": counts.pairs,
        "tasks": pair.tasks,
        "left_out": pair.left_out,
        "both": counts.both,
        "only_a": counts.only_first,
        "only_b": counts.only_second,
        "neither": counts.neither,
        "test": "exact McNemar",
        "p": pair.mcnemar_p,
        "p_holm": pair.mcnemar_holm,
        "p_sign_flip": pair.sign_flip_p,
        "difference": _interval(pair.rate_difference),
        "seconds_difference": _interval(pair.seconds_difference),
        "tokens_difference": _interval(pair.tokens_difference),
        "by_task": dict(pair.by_task),
        "sensitivity": asdict(pair.sensitivity) if pair.sensitivity else None,
    }
