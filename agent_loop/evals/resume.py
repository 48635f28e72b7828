"""Finds the report of a label and refuses to continue it with other settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agent_loop.config import Config
from agent_loop.errors import ReportError
from agent_loop.evals.identity import gate_hash, maps_differ, settings_differ
from agent_loop.ports import Json
from agent_loop.store.reports import Identity, Plan, Report, list_reports, read_report


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A report that is there already."""

    path: Path
    report: Report


def find(root: Path, label: str) -> Found | None:
    """The newest report of a label.

    Raises:
        ReportError: a report of that label is there and cannot be read.
    """
    for summary in list_reports(root):
        if summary.problem and summary.path.stem.startswith(f"{label}-"):
            raise ReportError(f"{summary.problem} Move it away, or choose another --label.")
        if summary.label == label:
            return Found(path=summary.path, report=read_report(summary.path))
    return None


def refuse_changed(found: Found, plan: Plan, fixtures: Mapping[str, str], config: Config) -> None:
    """What can be seen without a model or a container.

    Raises:
        ReportError: names every setting that differs.
    """
    report = found.report
    was, now = report.plan, plan
    lines = settings_differ(report.identity.config, config)
    lines += [
        f"task {name} is another ({have[:12]}… now, {report.identity.fixtures[name][:12]}… then)"
        for name, have in fixtures.items()
        if report.identity.fixtures.get(name, have) != have
    ]
    gate = str(report.identity.harness.get("gate_hash"))
    if gate != gate_hash():
        lines.append("the gate's code is another")
    for name, before, after in (
        ("suite", was.suite, now.suite),
        ("experiment", _hash(was), _hash(now)),
        ("--time-limit", was.limits.get("time_limit_s"), now.limits.get("time_limit_s")),
    ):
        if before != after:
            lines.append(f"{name} was {before} and is {after}")
    _refuse(found, lines)


def refuse_other_world(found: Found, now: Identity) -> None:
    """What only the models and the sandbox can say.

    Raises:
        ReportError: a model or the image is another.
    """
    was = found.report.identity
    lines = maps_differ("model", _without_options(was.models), _without_options(now.models))
    lines += maps_differ("harness", was.harness, now.harness)
    _refuse(found, lines)


def grown(found: Report, plan: Plan, identity: Identity) -> Report:
    """The old report with more tasks, more attempts, another budget."""
    tasks = (*found.plan.tasks, *(name for name in plan.tasks if name not in found.plan.tasks))
    merged = replace(
        found.plan,
        tasks=tasks,
        attempts=max(found.plan.attempts, plan.attempts),
        budget_tokens=plan.budget_tokens,
        limits=plan.limits,
    )
    fixtures = {**found.identity.fixtures, **identity.fixtures}
    return replace(found, plan=merged, identity=replace(found.identity, fixtures=fixtures))


def _refuse(found: Found, lines: list[str]) -> None:
    if lines:
        raise ReportError(
            f"{found.path}: cannot be continued, because this is another experiment:\n- "
            + "\n- ".join(lines)
            + "\nChange that back, or choose another --label."
        )


def _hash(plan: Plan) -> str | None:
    one = plan.experiment
    return f"{one.name} ({one.rule_hash[:12]})" if one else None


def _without_options(models: Mapping[str, Json]) -> dict[str, Json]:
    """Options are settings; what a server says of itself beside them is compared."""
    return {
        role: {key: value for key, value in fields.items() if key != "options"}
        for role, fields in models.items()
        if isinstance(fields, Mapping)
    }
