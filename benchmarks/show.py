"""The figures as a Markdown table, a page and a plot."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.row import Row

BEGIN, END = "<!-- figures begin: python -m benchmarks --write -->", "<!-- figures end -->"
_MET = {True: "yes", False: "**no**", None: "not measured"}


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| what | ours | against | ratio | goal | met | middle half |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_line(row) for row in rows]
    return "\n".join(lines)


def _line(row: Row) -> str:
    goal = f"≤ {row.limit:g} {row.unit}" if row.limit is not None else f"≤ {row.goal:g} ×"
    if row.missing:
        why = " ".join(row.missing.split())
        return f"| {row.what} | — | — | — | {goal} | not measured: {why} | |"
    ours, theirs = f"{row.ours:g} {row.unit}", f"{row.theirs:g} {row.unit} ({row.against})"
    cells = (row.what, ours, theirs, f"{row.ratio:.3f}", goal, _MET[row.met], row.spread)
    return f"| {' | '.join(cells)} |"


def write_page(page: Path, machine: Mapping[str, object], rows: Sequence[Row]) -> None:
    """Replace what stands between the two marks of the page, and the plot beside it."""
    picture = page.with_suffix(".svg")
    plot(rows, picture)
    about = " · ".join(f"{key}: {value}" for key, value in machine.items())
    more = [f"- {row.what}: {_more(row)}" for row in rows if row.more]
    body = "\n".join((about, "", table(rows), "", f"![ratios]({picture.name})", "", *more))
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{body}\n{END}{after}", encoding="utf-8")


def _more(row: Row) -> str:
    return ", ".join(f"{key} {value}" for key, value in row.more.items())


def plot(rows: Sequence[Row], target: Path) -> None:
    """Each row's ratio beside its goal, on a logarithmic scale."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra; the table does without

    mpl.use("svg")
    import matplotlib.pyplot as plt  # noqa: PLC0415 - after the choice of how to draw

    mpl.rcParams.update({"svg.hashsalt": "agent-loop", "svg.fonttype": "none"})
    shown = [row for row in rows if not row.missing][::-1]
    figure, axes = plt.subplots(figsize=(8, 0.55 * len(shown) + 1.2), layout="constrained")
    colours = ["#4a7d4f" if row.met else "#b3523f" for row in shown]
    axes.barh(range(len(shown)), [row.ratio for row in shown], color=colours, height=0.5)
    for place, row in enumerate(shown):
        if row.limit is None:
            axes.plot([row.goal, row.goal], [place - 0.4, place + 0.4], color="#222")
    axes.set_yticks(range(len(shown)), [row.what for row in shown])
    axes.set_xscale("log")
    axes.axvline(1.0, color="#999", linestyle=":")
    axes.set_xlabel("ours ÷ what it stands against (line: goal)")
    figure.savefig(target, metadata={"Date": None})
    plt.close(figure)
