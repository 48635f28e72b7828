"""What is drawn: each plot with the numbers it shows, for those who read the table instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_loop.evals import words
from agent_loop.evals.svg import PEN, draw
from agent_loop.stats import Interval
from agent_loop.stats.budget import CapPoint
from agent_loop.stats.compare import ArmFigures, PairFigures, TaskFigures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 340
MAX_TASKS = 40
_NAME_CHARS = 22
_PENS = ("one", "two", "three", "four", "five")
_MARKS = ("o", "s", "D", "^", "v")
_LINES: tuple[Any, ...] = ("-", (0, (4, 2)), (0, (1, 1.2)), "-.", (0, (6, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One picture. Texts are plain, not yet escaped."""

    title: str
    says: str
    """One sentence for those who do not see it."""
    svg: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def task_rates(arms: Sequence[ArmFigures]) -> Plot:
    """Pass rate of every task with its Wilson interval, a mark for each variant."""
    names = _tasks_to_draw(arms)
    by_arm = [{task.task: task for task in arm.tasks} for arm in arms]

    def paint(figure: "Figure") -> None:
        axes = _across(figure, names, "pass rate in %, with 95 % interval")
        for at, arm in enumerate(by_arm):
            _rate_marks(axes, names, arm, at, len(arms))
        axes.set_xlim(-3, 103)
        _legend(figure, [arm.label for arm in arms])

    height = _height(len(names) * max(1.0, 0.6 * len(arms)), extra=30 if len(arms) > 1 else 0)
    left = len({t.task for arm in arms for t in arm.tasks}) - len(names)
    return Plot(
        title="Pass rate by task",
        says=f"Pass rate of {len(names)} tasks."
        + (f" {left} tasks with higher rates are only in the table." if left else ""),
        svg=draw(WIDTH, height, paint, prefix="tasks"),
        heads=("task", *(arm.label for arm in arms)),
        rows=tuple(
            (name, *(words.rate(_rate(arm.get(name))) for arm in by_arm))
            for name in dict.fromkeys(t.task for arm in arms for t in arm.tasks)
        ),
    )


def trend(points: Sequence[tuple[str, str, Interval | None, bool]]) -> Plot:
    """Overall rate of report after report: (label, day, rate, comparable with the one before)."""

    def paint(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_ylim(-3, 103)
        axes.set_ylabel("pass rate in %")
        axes.grid(axis="y")
        axes.set_xticks(
            range(len(points)), [_short(p[0], 14) for p in points], rotation=35, ha="right"
        )
        axes.set_xlim(-0.6, max(len(points) - 0.4, 0.6))
        for at, (_, _, rate, comparable) in enumerate(points):
            before = points[at - 1][2] if at and comparable else None
            if before and rate:
                axes.plot([at - 1, at], [100 * before.value, 100 * rate.value], color=PEN["one"])
            _upright(axes, at, rate)

    return Plot(
        title="Trend across reports",
        says=f"Overall pass rate of {len(points)} reports, oldest first. Reports that may be "
        "compared are joined by a line.",
        svg=draw(WIDTH, 230, paint, prefix="trend"),
        heads=("report", "begun", "pass rate", "comparable with the one before"),
        rows=tuple(
            (label, day, words.rate(rate), ("yes" if same else "no") if at else "")
            for at, (label, day, rate, same) in enumerate(points)
        ),
    )


def by_budget(measure: str, unit: str, curves: Mapping[str, Sequence[CapPoint]]) -> Plot:
    """Success with every smaller cap of one measure, a line for each variant."""

    def paint(figure: "Figure") -> None:
        axes = figure.add_subplot()
        axes.set_ylim(-3, 103)
        axes.set_xlabel(f"cap of {measure}{f' ({unit})' if unit else ''}")
        axes.set_ylabel("pass rate in %")
        axes.grid(axis="y")
        if not any(curves.values()):
            _nothing(axes)
        for at, points in enumerate(curves.values()):
            _steps(axes, points, at)
        if measure == "laps":
            most = max((point.cap for points in curves.values() for point in points), default=1)
            axes.set_xticks(range(0, int(most) + 1, max(1, int(most) // 8)))
        _legend(figure, list(curves))

    return Plot(
        title=f"Success by budget: {measure}",
        says=f"Pass rate that every smaller cap of {measure} would have left.",
        svg=draw(WIDTH, 230, paint, prefix=f"by-{measure}"),
        heads=("report", f"cap of {measure}", "passed", "rate"),
        rows=tuple(
            (label, words.number(p.cap), f"{p.passed} of {p.judged}", words.rate(p.rate))
            for label, points in curves.items()
            for p in points
        ),
    )


def differences(pair: PairFigures, number: int) -> Plot:
    """Difference of pass rates of each shared task, the mean with its interval above them."""
    ordered = sorted(pair.by_task.items(), key=lambda item: (item[1], item[0]))
    shown = ordered if len(ordered) <= MAX_TASKS else [*ordered[:20], *ordered[-20:]]
    names = [name for name, _ in shown]

    def paint(figure: "Figure") -> None:
        axes = _across(figure, [*names, "all tasks"], "points of pass rate")
        axes.axvline(0, color=PEN["ink"], linewidth=1)
        values = [100 * value for _, value in shown]
        axes.hlines(range(len(values)), 0, values, color=PEN["one"], linewidth=2)
        axes.plot(values, range(len(values)), "o", color=PEN["one"], markersize=5)
        _overall(axes, pair.rate_difference, len(names))
        axes.set_xlim(-104, 104)

    return Plot(
        title=f"{pair.second} against {pair.first}, task by task",
        says=f"Mean difference {words.points(pair.rate_difference)}; right of 0: {pair.second} "
        "passes more often.",
        svg=draw(WIDTH, _height(len(names) + 1), paint, prefix=f"pair{number}"),
        heads=("task", "difference in points"),
        rows=(
            *((name, f"{100 * value:+.0f}") for name, value in ordered),
            ("all tasks", words.points(pair.rate_difference)),
        ),
    )


def stacked(title: str, unit: str, rows: Mapping[str, Mapping[str, float]], *, prefix: str) -> Plot:
    """Where something went: a bar for each row, a piece for each part; means of an attempt."""
    parts = list(dict.fromkeys(part for row in rows.values() for part in row))
    bars = list(rows.items())[::-1]

    def paint(figure: "Figure") -> None:
        axes = _across(figure, [name for name, _ in bars], unit)
        start = [0.0] * len(rows)
        for at, part in enumerate(parts):
            widths = [row.get(part, 0.0) for _, row in bars]
            axes.barh(
                range(len(rows)), widths, left=start, height=0.62, color=PEN[_PENS[at % 5]],
                edgecolor=PEN["paper"], linewidth=1,
            )  # fmt: skip
            start = [a + b for a, b in zip(start, widths, strict=True)]
        if not any(start):
            _nothing(axes)
        _legend(figure, parts, squares=True)

    return Plot(
        title=title,
        says=f"{title}: {unit}.",
        svg=draw(WIDTH, _height(len(rows), extra=30), paint, prefix=prefix),
        heads=("", *parts),
        rows=tuple(
            (name, *(words.number(row.get(part)) for part in parts)) for name, row in rows.items()
        ),
    )


def _tasks_to_draw(arms: Sequence[ArmFigures]) -> list[str]:
    """All, or the 40 with the lowest rates of the first variant: there is work to do."""
    names = list(dict.fromkeys(task.task for arm in arms for task in arm.tasks))
    if len(names) <= MAX_TASKS:
        return names[::-1]
    first = {task.task: _rate(task) for task in arms[0].tasks}
    lowest = sorted(names, key=lambda name: (_value(first.get(name)), name))[:MAX_TASKS]
    return [name for name in names if name in set(lowest)][::-1]


def _value(rate: Interval | None) -> float:
    return rate.value if rate else 2.0


def _rate(task: TaskFigures | None) -> Interval | None:
    return task.rate if task else None


def _across(figure: "Figure", names: Sequence[str], label: str) -> "Axes":
    """Axes with a name for every row, the first one at the bottom."""
    axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), [_short(name, _NAME_CHARS) for name in names])
    axes.set_ylim(-0.7, max(len(names), 1) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel(label)
    return axes


def _rate_marks(
    axes: "Axes", names: Sequence[str], arm: Mapping[str, TaskFigures], at: int, arms: int
) -> None:
    pen = PEN[_PENS[at % 5]]
    for row, name in enumerate(names):
        rate = _rate(arm.get(name))
        y = row + (0.0 if arms == 1 else 0.28 - 0.56 * at / (arms - 1))
        if rate is None:
            axes.text(0, y, words.UNMEASURED, color=PEN["faint"], va="center", fontsize=9)
            continue
        if arms == 1:
            axes.barh(y, 100 * rate.value, height=0.62, color=pen, alpha=0.55)
        else:
            axes.plot(100 * rate.value, y, _MARKS[at % 5], color=pen, markersize=5)
        ends = [100 * rate.low, 100 * rate.high]
        axes.plot(ends, [y, y], color=PEN["ink"] if arms == 1 else pen, linewidth=1.4)


def _upright(axes: "Axes", at: int, rate: Interval | None) -> None:
    if rate is None:
        axes.text(at, 50, words.UNMEASURED, rotation=90, va="center", ha="center", fontsize=9)
        return
    axes.plot([at, at], [100 * rate.low, 100 * rate.high], color=PEN["ink"], linewidth=1.4)
    axes.plot(at, 100 * rate.value, "o", color=PEN["one"], markersize=6)


def _steps(axes: "Axes", points: Sequence[CapPoint], at: int) -> None:
    known = [(p.cap, p.rate) for p in points if p.rate]
    if not known:
        return
    pen = PEN[_PENS[at % 5]]
    end = 1.03 * known[-1][0]
    caps = [0.0, *(cap for cap, _ in known), end]
    rates = [0.0, *(100 * rate.value for _, rate in known), 100 * known[-1][1].value]
    axes.step(caps, rates, where="post", color=pen, linestyle=_LINES[at % 5])
    if at == 0:
        ranges = [*(rate for _, rate in known), known[-1][1]]
        lows, highs = [100 * r.low for r in ranges], [100 * r.high for r in ranges]
        axes.fill_between(caps[1:], lows, highs, step="post", color=pen, alpha=0.18, linewidth=0)
    axes.set_xlim(left=0)


def _overall(axes: "Axes", found: Interval | None, at: int) -> None:
    if found is None:
        axes.text(0, at, words.UNMEASURED, va="center", ha="center", fontsize=9)
        return
    axes.plot([100 * found.low, 100 * found.high], [at, at], color=PEN["ink"], linewidth=2)
    axes.plot(100 * found.value, at, "D", color=PEN["ink"], markersize=7)


def _legend(figure: "Figure", labels: Sequence[str], *, squares: bool = False) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415

    if len(labels) < 2:
        return
    handles = [
        Line2D(
            [], [], color=PEN[_PENS[at % 5]], linestyle="none" if squares else _LINES[at % 5],
            marker="s" if squares else _MARKS[at % 5], label=_short(label, 24), markersize=7,
        )
        for at, label in enumerate(labels)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper left", ncols=1 if len(labels) < 3 else 2)


def _nothing(axes: "Axes") -> None:
    axes.text(0.5, 0.5, words.UNMEASURED, transform=axes.transAxes, ha="center", va="center")


def _height(rows: float, *, extra: int = 0) -> int:
    return int(70 + 22 * max(rows, 2) + extra)


def _short(text: str, most: int) -> str:
    flat = words.plain(text, 200)
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"
