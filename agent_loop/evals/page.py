"""One self-contained HTML page for a report, and one for a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from agent_loop.evals import html, plots, words
from agent_loop.evals.curves import curves
from agent_loop.evals.plots import Plot
from agent_loop.evals.render_markdown import pair_lines
from agent_loop.stats import Interval
from agent_loop.stats.compare import ArmFigures, Comparison, PairFigures, figures
from agent_loop.store.comparable import differences
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import Attempt, Report

_UNITS = {"laps": "", "tokens": "input and output", "seconds": "s, loading left out"}
_MAX_ROWS = 1_000
_READ = (
    "Ranges hold 95 % of the time. Those of pass rates are Wilson's and count attempts as "
    "independent: they speak of these tasks, not of others.",
    "Where nothing was judged there is no rate: it says 'not measured', which is not 0.",
    "'Success by budget' scores the same attempts at every smaller cap. A model that is told its "
    "budget may behave otherwise.",
    "Failures of the environment (engine, server, disk) count in no rate.",
)


def report_page(report: Report, history: Sequence[Report] = ()) -> str:
    """The page of one report. `history`: reports for the trend, this one among them or not."""
    found = figures(arm_of(report))
    drawn = [
        plots.task_rates([found]),
        plots.trend(trend_of([*history, report])),
        *_budgets([report]),
        *_where_it_went([report]),
    ]
    body = [
        f"<h1>Eval report {html.text(report.label)}</h1>",
        f'<p class="meta">{html.text(_head(report))}</p>',
        html.tiles(_tiles(report, found)),
        _rule(report),
        "<h2>Pictures</h2>",
        html.plots(drawn),
        "<h2>Several attempts</h2>",
        _of_k(found),
        "<h2>Attempts</h2>",
        _attempts(report.attempts),
        "<h2>How to read this</h2>",
        html.bullets(_READ, kind="note"),
    ]
    return html.page(f"Eval report {report.label}", body)


def comparison_page(
    reports: Sequence[Report], comparison: Comparison, mixed: Sequence[str] = ()
) -> str:
    """The page of several reports. `mixed`: what differs although it should not."""
    labels = " / ".join(report.label for report in reports)
    drawn = [
        plots.task_rates(comparison.arms),
        *(plots.differences(pair, n) for n, pair in enumerate(comparison.pairs)),
        *_budgets(reports),
        *_where_it_went(reports),
        plots.trend(trend_of(reports)),
    ]
    body = [
        f"<h1>Comparison: {html.text(labels)}</h1>",
        _mixed(mixed),
        html.table(
            ("report", "passed", "pass rate", "mean seconds", "mean tokens", "environment"),
            map(_arm_row, comparison.arms),
            label="Reports",
        ),
        "<h2>Against the first</h2>",
        f'<div class="pairs">{"".join(map(_pair, comparison.pairs))}</div>',
        "<h2>Pictures</h2>",
        html.plots(drawn),
        "<h2>How to read this</h2>",
        html.bullets(_READ, kind="note"),
    ]
    return html.page(f"Comparison: {labels}", body)


def trend_of(reports: Sequence[Report]) -> list[tuple[str, str, Interval | None, bool]]:
    """Label, day, rate, and whether it may be compared with the one before; oldest first."""
    by_key = {(r.created, r.label): r for r in reports}
    ordered = [by_key[key] for key in sorted(by_key)][-24:]
    points = []
    for before, now in zip([None, *ordered], ordered, strict=False):
        same = before is not None and not differences([before, now])
        points.append((now.label, now.created[:10], figures(arm_of(now)).rate, same))
    return points


def _head(report: Report) -> str:
    experiment = report.plan.experiment
    parts = [
        f"experiment {experiment.name}" if experiment else "",
        f"suite {report.plan.suite}" if report.plan.suite else "",
        f"begun {report.created}, last written {report.updated}",
        "finished" if report.finished else "not finished",
        f"configuration {report.identity.config_hash[:12]}",
    ]
    return "; ".join(part for part in parts if part)


def _tiles(report: Report, found: ArmFigures) -> Iterable[tuple[str, str]]:
    yield words.rate(found.rate), "pass rate"
    yield f"{found.passed} of {found.judged}", f"passed of judged ({found.planned} planned)"
    yield words.amount(found.seconds, "s"), "seconds of an attempt"
    yield words.amount(found.tokens, ""), "tokens of an attempt"
    yield str(found.environment), "failures of the environment"
    yield str(sum(1 for row in report.attempts if row.looks)), "passes a person must look at"


def _rule(report: Report) -> str:
    adopted = report.adopted
    if not adopted:
        return ""
    kind = {"adopted": "good", "not adopted": "bad"}.get(str(adopted.get("decision")), "note")
    reason = f" ({adopted['reason']})" if adopted.get("reason") else ""
    lines = adopted.get("conditions")
    rows = [
        (
            str(line.get("words")),
            words.number(_number(line.get("observed"))),
            _held(line.get("held")),
        )
        for line in (lines if isinstance(lines, list | tuple) else ())
        if isinstance(line, dict)
    ]
    table = html.table(("condition", "difference", "holds"), rows, label="Rule") if rows else ""
    return (
        f'<h2>Rule</h2><p><b class="{kind}">{html.text(str(adopted.get("decision")))}</b>'
        f"{html.text(reason)}: {html.text(str(adopted.get('rule')))}. Written down before the "
        f"first attempt, hash <code>{html.text(str(adopted.get('rule_hash'))[:12])}</code>.</p>"
        + table
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _held(value: object) -> str:
    return words.UNMEASURED if value is None else "yes" if value else "no"


def _of_k(found: ArmFigures) -> str:
    rows = [
        (str(k.k), words.share(k.any_passes), words.share(k.all_pass), str(k.tasks))
        for k in found.of_k
    ]
    if not rows:
        return f"<p>{words.UNMEASURED}</p>"
    heads = ("k", "at least one of k passes (pass@k)", "all k pass (pass^k)", "tasks")
    return html.table(heads, rows, label="Several attempts")


def _attempts(attempts: Sequence[Attempt]) -> str:
    rows = [
        (
            f"{row.task} {row.n}", "passed" if row.passed else row.outcome or row.status,
            str(row.laps), words.number(row.seconds), row.problem[:300], row.thread,
        )
        for row in attempts[:_MAX_ROWS]
    ]  # fmt: skip
    heads = ("attempt", "end", "laps", "seconds", "why", "thread")
    more = len(attempts) - len(rows)
    note = f"<p>{more} more are in the JSON file.</p>" if more else ""
    inner = html.table(heads, rows, label="Attempts") + note
    return html.details(f"{len(attempts)} attempts", inner)


def _mixed(mixed: Sequence[str]) -> str:
    if not mixed:
        return ""
    return (
        '<div class="warn"><p><b>These reports are not of the same kind</b>; they are compared '
        f"because --mix was given. What differs:</p>{html.bullets(mixed)}</div>"
    )


def _arm_row(arm: ArmFigures) -> tuple[str, ...]:
    return (
        arm.label, f"{arm.passed} of {arm.judged}", words.rate(arm.rate),
        words.amount(arm.seconds, "s"), words.amount(arm.tokens, ""), str(arm.environment),
    )  # fmt: skip


def _pair(pair: PairFigures) -> str:
    title = f"<h3>{html.text(pair.second)} against {html.text(pair.first)}</h3>"
    if not pair.counts.pairs:
        text = "No attempt was judged on both sides: nothing can be said."
        return f'<section class="pair">{title}<p>{text}</p></section>'
    *lines, last = pair_lines(pair, plain=True)
    said = f"{html.bullets(lines)}<p><b>{html.text(last)}</b></p>"
    return f'<section class="pair">{title}{said}</section>'


def _budgets(reports: Sequence[Report]) -> list[Plot]:
    found = {report.label: curves(report) for report in reports}
    return [
        plots.by_budget(measure, unit, {label: by[measure] for label, by in found.items()})
        for measure, unit in _UNITS.items()
    ]


def _where_it_went(reports: Sequence[Report]) -> list[Plot]:
    if len(reports) == 1:
        tokens = _roles(reports[0].attempts)
        seconds = _by_end(reports[0].attempts)
    else:
        tokens = {one.label: _sums(_roles(one.attempts)) for one in reports}
        seconds = {one.label: _means(one.attempts) for one in reports}
    return [
        plots.stacked("Where tokens went", "mean tokens of an attempt", tokens, prefix="tokens"),
        plots.stacked(
            "Where seconds went", "mean seconds of an attempt", seconds, prefix="seconds"
        ),
    ]


def _sums(roles: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {role: sum(kinds.values()) for role, kinds in roles.items()}


def _roles(attempts: Sequence[Attempt]) -> dict[str, dict[str, float]]:
    known = [row.tokens for row in attempts if row.tokens and row.passed is not None]
    roles = dict.fromkeys(role for tokens in known for role in tokens.by_role)
    return {
        role: {
            kind: fmean(tokens.by_role.get(role, {}).get(kind, 0) for tokens in known)
            for kind in ("input", "output")
        }
        for role in roles
    }


def _by_end(attempts: Sequence[Attempt]) -> dict[str, dict[str, float]]:
    judged = [row for row in attempts if row.passed is not None]
    groups = {
        "passed": [r for r in judged if r.passed],
        "failed": [r for r in judged if not r.passed],
    }
    return {name: _means(rows) for name, rows in groups.items() if rows}


def _means(attempts: Sequence[Attempt]) -> dict[str, float]:
    judged = [row for row in attempts if row.passed is not None]
    seconds = [row.seconds for row in judged if row.seconds is not None]
    load = [row.load_s for row in judged if row.load_s is not None]
    return {
        "working": fmean(seconds) if seconds else 0.0,
        "loading weights": fmean(load) if load else 0.0,
    }
