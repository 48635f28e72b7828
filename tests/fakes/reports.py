"""Reports for tests, made through the code of real ones; only their numbers are invented."""

import random
from dataclasses import replace

from agent_loop.store.reports import (
    Attempt,
    Identity,
    LapPoint,
    Plan,
    PlannedExperiment,
    Report,
    Tokens,
    with_attempt,
)


def identity(**changes):
    fields = {
        "fixtures": {},
        "models": {
            "worker": {"name": "scripted:x", "digest": "sha256:1", "options": {"temperature": 0.2}}
        },
        "config_hash": "c" * 64,
        "config": {"rejection_cap": 3, "prompt_variants": [], "model_options": {}, "runs_dir": "r"},
        "harness": {"version": "0.3", "gate_hash": "g" * 64, "image": "sha256:0"},
    }
    return Identity(**(fields | changes))


def made(
    label,
    tasks=("a", "b"),
    attempts=2,
    *,
    experiment=None,
    created="2026-11-29T21:00:00Z",
    **changes,
):
    """An empty report with its plan."""
    plan = Plan(tasks=tuple(tasks), attempts=attempts, experiment=experiment)
    who = changes.pop("identity", None) or identity(fixtures={t: t[0] * 64 for t in tasks})
    fields = {"label": label, "created": created, "updated": created, "plan": plan}
    return Report(**(fields | {"identity": who} | changes))


def row(task="a", n=1, *, passed=True, seconds=2.0, tokens=100, **changes):
    """A judged attempt of one lap."""
    used = Tokens(
        input=tokens - 20, output=20, by_role={"worker": {"input": tokens - 20, "output": 20}}
    )
    fields = {
        "thread": f"eval.x.{task}.{n}",
        "status": "finished",
        "outcome": "passed" if passed else "stopped",
        "passed": passed,
        "laps": 1,
        "seconds": seconds,
        "tokens": used,
        "problem": "" if passed else "assert 3 failed",
        "patch": f"answer {task} {n}",
        "record": f"eval.x.{task}.{n}.json",
        "lap_curve": (LapPoint(lap=1, passed=passed, tokens=tokens, seconds=seconds),),
    }
    return Attempt(task=task, n=n, **(fields | changes))


def lost(task="a", n=1, **changes):
    """An attempt that the environment ended."""
    fields = {
        "thread": f"t.{task}.{n}",
        "status": "environment",
        "problem": "no engine",
        "tries": 2,
    }
    return Attempt(task=task, n=n, **(fields | changes))


def filled(report, rows, *, finished=True):
    """The report with these rows."""
    for one in rows:
        report = with_attempt(report, one)
    return replace(report, finished=finished)


def outcomes(label, table, **changes):
    """A finished report from `{"a": "PF-"}`: passed, failed, lost to the environment."""
    attempts = max(map(len, table.values()))
    rows = [
        lost(task, n) if sign == "-" else row(task, n, passed=sign == "P")
        for task, signs in table.items()
        for n, sign in enumerate(signs, 1)
        if sign != " "
    ]
    return filled(made(label, tuple(table), attempts, **changes), rows)


def drawn(label, *, tasks=12, attempts=10, rate=0.4, seconds=8.0, seed=1, **changes):
    """A finished report with drawn numbers: tasks of different hardness, up to three laps."""
    rng = random.Random(seed)
    names = [f"task-{at:02}" for at in range(tasks)]
    hard = {name: random.Random(at).betavariate(2, 2) for at, name in enumerate(names)}
    rows = []
    for name in names:
        for n in range(1, attempts + 1):
            odds = min(0.98, max(0.02, rate + hard[name] - 0.5))
            rows.append(_drawn_row(name, n, odds, seconds, rng))
    return filled(made(label, names, attempts, **changes), rows)


def _drawn_row(name, n, odds, seconds, rng):
    points, used, at = [], 0, 0.0
    for lap in (1, 2, 3):
        used, at = used + rng.randint(300, 900), at + seconds * rng.uniform(0.2, 0.6)
        passed = rng.random() < odds / (1 + lap)
        points.append(LapPoint(lap=lap, passed=passed, tokens=used, seconds=round(at, 3)))
        if passed:
            break
    share = rng.uniform(0.1, 0.3)
    by_role = {
        "lead": {"input": int(used * 0.1), "output": int(used * 0.05)},
        "worker": {"input": int(used * 0.5), "output": int(used * share)},
        "reviewer": {"input": int(used * 0.1), "output": int(used * 0.05)},
    }
    tokens = Tokens(
        input=sum(r["input"] for r in by_role.values()),
        output=sum(r["output"] for r in by_role.values()),
        by_role=by_role,
    )
    return replace(
        row(name, n, passed=points[-1].passed, seconds=points[-1].seconds),
        tokens=tokens,
        laps=len(points),
        lap_curve=tuple(points),
        load_s=0.1,
        format_failures=rng.randint(0, 1),
    )


def planned(name="no-plan", patch=None, rule=None, rule_hash=""):
    return PlannedExperiment(name=name, patch=patch or {}, rule=rule, rule_hash=rule_hash)
