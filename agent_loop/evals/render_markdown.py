"""A report, and a comparison, as Markdown that is also read at the terminal."""

import re
from collections.abc import Iterable, Mapping, Sequence

from agent_loop.evals import words
from agent_loop.evals.curves import curves
from agent_loop.ports import Json
from agent_loop.stats.budget import CapPoint
from agent_loop.stats.compare import ArmFigures, Comparison, PairFigures, TaskFigures, figures
from agent_loop.stats.planning import ALPHA
from agent_loop.stats.rates import pass_at_k, pass_hat_k
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import Attempt, Report

_MAX_FAILURES = 200
_CAVEAT = (
    "Ranges hold 95 % of the time. For pass rates they are Wilson's, and count attempts as "
    "independent: they speak of these tasks, not of others."
)


def report_markdown(report: Report) -> str:
    """The whole report."""
    found = figures(arm_of(report))
    parts = [
        f"# Eval report {cell(report.label)}",
        _head(report),
        _bullets(_overall(report, found)),
        _adopted(report.adopted),
        "## Tasks\n\n" + table(("task", "passed", "rate", "mean seconds", "mean tokens"),
                               (_task_row(task) for task in found.tasks)),
        _of_k(found),
        _answers(report),
        _budget(report),
        _failures(report.attempts),
        _CAVEAT,
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def comparison_markdown(comparison: Comparison, mixed: Sequence[str] = ()) -> str:
    """Every variant, then each against the first. `mixed`: what differs although it should not."""
    parts = ["# Comparison: " + " / ".join(cell(arm.label) for arm in comparison.arms)]
    if mixed:
        parts.append(
            "**These reports are not of the same kind** (`--mix` was given). What differs:\n\n"
            + _bullets(cell(line, 400) for line in mixed)
        )
    heads = ("report", "passed", "rate", "mean seconds", "mean tokens", "environment")
    parts.append(table(heads, map(_arm_row, comparison.arms)))
    parts += [_pair(pair) for pair in comparison.pairs]
    parts += [_all_tasks(comparison), _CAVEAT]
    return "\n\n".join(part for part in parts if part) + "\n"


def cell(text: str, limit: int = 120) -> str:
    """Somebody else's text inside Markdown: nothing in it is markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#!&~])", r"\\\1", words.plain(text, limit))


def code(text: str, limit: int = 300) -> str:
    """The same as a code span."""
    flat = words.plain(text, limit).replace("`", "'").replace("|", "¦")
    return f"`{flat}`" if flat else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are Markdown already."""
    made = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *made])


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _head(report: Report) -> str:
    experiment = report.plan.experiment
    what = f"experiment {code(experiment.name)}, " if experiment else ""
    state = "finished" if report.finished else "**not finished**"
    return f"{what}begun {cell(report.created)}, last written {cell(report.updated)}, {state}"


def _overall(report: Report, found: ArmFigures) -> Iterable[str]:
    yield f"pass rate: {words.rate(found.rate)}, {found.passed} of {found.judged} judged"
    missing = found.planned - found.judged
    if missing:
        yield (
            f"{missing} of {found.planned} planned attempts are not judged, {found.environment} of "
            "them failures of the environment; no rate counts them"
        )
    looks = sum(1 for row in report.attempts if row.looks)
    if looks:
        yield f"passes that a person must look at: {looks}"
    yield f"seconds of an attempt: {words.amount(found.seconds, 's')}, loading of weights left out"
    yield f"tokens of an attempt: {words.amount(found.tokens, '')}"
    costs = [row.cost for row in report.attempts if row.cost is not None]
    if costs:
        yield f"cost: {sum(costs):.4f} US dollars, known of {len(costs)} attempts"
    yield f"format failures: {sum(row.format_failures for row in report.attempts)}"
    for role, print_of in report.identity.models.items():
        name = print_of.get("name") if isinstance(print_of, Mapping) else print_of
        yield f"model of {cell(role)}: {code(str(name))}"


def _adopted(adopted: Mapping[str, Json] | None) -> str:
    if not adopted:
        return ""
    reason = f" ({cell(str(adopted['reason']), 400)})" if adopted.get("reason") else ""
    text = (
        f"## Rule\n\n**{cell(str(adopted['decision']))}**{reason}, by the rule written down before "
        f"the first attempt: {cell(str(adopted['rule']), 400)} "
        f"(hash {code(str(adopted['rule_hash'])[:12])})"
    )
    lines = adopted.get("conditions")
    rows = [line for line in lines if isinstance(line, Mapping)] if isinstance(lines, list) else []
    heads = ("condition", "control", "variant", "difference", "held")
    return f"{text}\n\n{table(heads, map(_condition, rows))}" if rows else text


def _condition(line: Mapping[str, Json]) -> tuple[str, ...]:
    numbers = (line.get(key) for key in ("control", "variant", "observed"))
    shown = [words.number(x) if isinstance(x, int | float) else "" for x in numbers]
    held = {True: "yes", False: "no"}.get(line.get("held"), words.UNMEASURED)  # type: ignore[call-overload]
    return (cell(str(line.get("words"))), *shown, str(held))


def _task_row(task: TaskFigures) -> tuple[str, ...]:
    count = f"{task.passed} of {task.judged}" if task.judged else words.UNMEASURED
    return (
        cell(task.task), count, words.rate(task.rate), words.number(task.seconds),
        words.number(task.tokens),
    )  # fmt: skip


def _of_k(found: ArmFigures) -> str:
    rows = [
        (str(one.k), words.share(one.any_passes), words.share(one.all_pass), str(one.tasks))
        for one in found.of_k
        if one.k > 1
    ]
    heads = ("k", "pass@k: at least one of k passes", "pass^k: all k pass", "tasks")
    return "## Several attempts\n\n" + table(heads, rows) if rows else ""


def _answers(report: Report) -> str:
    """Best of k: what k answers to one plan give, the answers of the first lap."""
    drawn = [row.samples for row in report.attempts if len(row.samples) > 1]
    rows = []
    for k in range(1, max(map(len, drawn), default=0) + 1):
        enough = [one for one in drawn if len(one) >= k]
        at = [pass_at_k(len(one), sum(one), k) or 0.0 for one in enough]
        hat = [pass_hat_k(len(one), sum(one), k) or 0.0 for one in enough]
        shares = (words.share(sum(at) / len(at)), words.share(sum(hat) / len(hat)))
        rows.append((str(k), *shares, str(len(enough))))
    heads = ("k", "pass@k: at least one of k answers", "pass^k: all k answers", "attempts")
    return "## Several answers to one plan\n\n" + table(heads, rows) if rows else ""


def _budget(report: Report) -> str:
    rows = [
        (
            measure,
            words.number(point.cap),
            f"{point.passed} of {point.judged}",
            words.rate(point.rate),
        )
        for measure, points in curves(report).items()
        for point in _few(points)
    ]
    heads = ("cap of", "at", "passed", "rate")
    return "## Success by budget\n\n" + table(heads, rows) if rows else ""


def _few(points: Sequence[CapPoint], most: int = 8) -> list[CapPoint]:
    step = max(1, -(-len(points) // most))
    return [*points[:-1:step], *points[-1:]]


def _failures(attempts: Sequence[Attempt]) -> str:
    failed = [row for row in attempts if row.passed is not True and row.status != "running"]
    if not failed:
        return ""
    rows = [
        (
            cell(row.task),
            str(row.n),
            cell(row.outcome or row.status),
            code(row.problem),
            code(row.thread),
        )
        for row in failed[:_MAX_FAILURES]
    ]
    rest = len(failed) - len(rows)
    more = f"\n\n{rest} more are in the JSON file." if rest else ""
    heads = ("task", "attempt", "end", "why", "thread")
    return "## Attempts that did not pass\n\n" + table(heads, rows) + more


def _arm_row(arm: ArmFigures) -> tuple[str, ...]:
    return (
        cell(arm.label), f"{arm.passed} of {arm.judged}" + _short(arm), words.rate(arm.rate),
        words.amount(arm.seconds, "s"), words.amount(arm.tokens, ""), str(arm.environment),
    )  # fmt: skip


def _short(arm: ArmFigures) -> str:
    return f" (planned {arm.planned})" if arm.judged < arm.planned else ""


def _pair(pair: PairFigures) -> str:
    title = f"## {cell(pair.second)} against {cell(pair.first)}"
    if not pair.counts.pairs:
        return f"{title}\n\nNo attempt was judged on both sides: nothing can be said."
    return f"{title}\n\n{_bullets(pair_lines(pair))}"


def pair_lines(pair: PairFigures, *, plain: bool = False) -> Iterable[str]:
    """What one comparison says, line by line, its conclusion last; Markdown unless `plain`."""
    first, second = (x if plain else cell(x) for x in (pair.first, pair.second))
    counts = pair.counts
    yield f"pass rate: {words.points(pair.rate_difference)}, bootstrap over {pair.tasks} tasks"
    yield (
        f"{counts.pairs} pairs: {counts.both} passed by both, {counts.neither} by neither, "
        f"{counts.only_first} only by {first}, {counts.only_second} only by {second}"
    )
    yield (
        f"exact McNemar over attempts: {words.p_value(pair.mcnemar_p)}; corrected for all "
        f"variants (Holm): {words.p_value(pair.mcnemar_holm)}"
    )
    yield (
        f"over tasks instead of attempts (signs flipped): {words.p_value(pair.sign_flip_p)}; "
        f"corrected: {words.p_value(pair.sign_flip_holm)}"
    )
    yield f"seconds of an attempt: {words.change(pair.seconds_difference, 's')}"
    yield f"tokens of an attempt: {words.change(pair.tokens_difference, 'tokens')}"
    if pair.left_out:
        yield f"{pair.left_out} attempts were judged on one side only and are left out"
    said = conclusion(pair, second)
    yield said if plain else f"**{said}**"


def conclusion(pair: PairFigures, second: str) -> str:
    """One sentence that says no more than the numbers do. `second`: the variant, as shown."""
    p, found = pair.mcnemar_holm, pair.sensitivity
    smallest = min((s for s in (found.gain, found.loss) if s), default=None) if found else None
    could = (
        f"differences below {100 * smallest:.0f} points would often be missed with so many pairs"
        if smallest is not None
        else "so few pairs could not have shown any difference"
    )
    if p is None or p > ALPHA:
        return f"No difference was found; that is not the same as none: {could}."
    way = "more often" if pair.counts.only_second > pair.counts.only_first else "less often"
    if pair.sign_flip_holm is None or pair.sign_flip_holm > ALPHA:
        return (
            f"On these tasks {second} passes {way}; that other tasks would show the same is not "
            "shown."
        )
    return f"{second} passes {way}, over attempts and over tasks."


def _all_tasks(comparison: Comparison) -> str:
    names = list(dict.fromkeys(task.task for arm in comparison.arms for task in arm.tasks))
    by_arm = [{task.task: task for task in arm.tasks} for arm in comparison.arms]
    rows = [(cell(name), *(_count(arm.get(name)) for arm in by_arm)) for name in names]
    heads = ("task", *(cell(arm.label) for arm in comparison.arms))
    return "## Tasks\n\n" + table(heads, rows)


def _count(task: TaskFigures | None) -> str:
    return f"{task.passed} of {task.judged}" if task and task.judged else words.UNMEASURED
