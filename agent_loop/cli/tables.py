"""How records and lists look on the screen. Every text of a record is made safe here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from agent_loop.cli.narrate import Line
from agent_loop.ports import Json
from agent_loop.store import Summary
from agent_loop.terminal.safe import few_lines, one_line

ANSWER_LINES = 60
OUTPUT_LINES = 40
_STYLES = {"passed": "green", "accepted": "green", "paused": "yellow", "stopped": "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the summary of several tasks."""

    task: str
    thread: str = ""
    outcome: str
    look: bool = False
    laps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    reason: str = ""


def style_of(outcome: str) -> str:
    """The colour of an outcome."""
    return _STYLES.get(outcome, "red")


def ending(record: Mapping[str, Json]) -> Line:
    """`passed: 12 of 12 asserts held`, the one line that `--quiet` keeps."""
    outcome = str(record.get("outcome") or "not ended")
    word = f"{outcome}, look" if record.get("look") and outcome == "passed" else outcome
    text = f"{record.get('thread')}: {word}: {one_line(str(record.get('reason') or ''), 600)}"
    return Line(text=text, style=style_of(outcome))


def trust(record: Mapping[str, Json]) -> list[Line]:
    """The proofs and looks of the last verdict."""
    verdict = record.get("verdict")
    if not isinstance(verdict, Mapping):
        return [Line(text="nothing was judged", style="dim")]
    lines = [
        Line(
            text=f"verdict: {_cell(verdict, 'reason', 400)} "
            f"(isolation: {_cell(verdict, 'isolation')})",
            style="green" if verdict.get("passed") else "red",
        )
    ]
    for proof in _maps(verdict.get("proofs")):
        held = proof.get("held") is True
        detail = f": {_cell(proof, 'detail', 300)}" if proof.get("detail") else ""
        mark = "held" if held else "NOT held"
        lines.append(
            Line(
                text=f"  proof {mark}: {_cell(proof, 'name')}{detail}", style="" if held else "red"
            )
        )
    for look in _maps(verdict.get("looks")):
        text = f"  look: {_cell(look, 'signal')}: {_cell(look, 'detail', 300)}"
        lines.append(Line(text=text, style="yellow"))
    return lines


def answer(record: Mapping[str, Json], limit: int = ANSWER_LINES) -> str:
    """The answer, indented."""
    text = str(record.get("answer") or "")
    return _block("answer", text, limit) if text else ""


def whole(record: Mapping[str, Json]) -> list[Line]:
    """Everything `--show` says beside the tables."""
    lines = [
        ending(record),
        Line(text=f"task: {_cell(record, 'task')}   kind: {_cell(record, 'kind')}"),
        Line(text=f"started: {_cell(record, 'started')}   ended: {_cell(record, 'ended')}"),
        *trust(record),
    ]
    texts = (("plan", 40), ("answer", 400), ("review", 40), ("test_output", OUTPUT_LINES))
    for key, limit in texts:
        text = str(record.get(key) or "")
        if text.strip():
            lines.append(Line(text=_block(key.replace("_", " "), text, limit)))
    prints = record.get("fingerprints")
    if isinstance(prints, Mapping):
        lines += [_fingerprint(role, value) for role, value in prints.items()]
    return lines


def token_table(record: Mapping[str, Json]) -> Table | None:
    """Per node: calls, input, reused, output, seconds. A count nobody gave is `unknown`, not 0."""
    tokens = record.get("tokens")
    if not isinstance(tokens, Mapping) or not tokens:
        return None
    rows = {node: used for node, used in tokens.items() if isinstance(used, Mapping)}
    paid = any(_count(u, "cost_usd") or _count(u, "unpriced_calls") for u in rows.values())
    table = Table("node", box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in ("calls", "input", "reused", "output", "seconds", "loading", "retries"):
        table.add_column(name, justify="right")
    if paid:
        table.add_column("cost", justify="right")
    for node, used in rows.items():
        table.add_row(*_token_cells(one_line(node, 40), used, paid=paid))
    table.add_row(*_token_cells("together", _sum(list(rows.values())), paid=paid), style="bold")
    return table


def _token_cells(name: str, used: Mapping[str, Json], *, paid: bool) -> list[Text]:
    calls, unmeasured = _count(used, "calls"), _count(used, "unmeasured_calls")
    cells = [name, f"{calls:g}"]
    for key in ("input_tokens", "reused_tokens", "output_tokens"):
        if unmeasured >= calls > 0:
            cells.append("unknown")
        else:
            cells.append(f"{_count(used, key):,.0f}{'+?' if unmeasured else ''}")
    cells += [f"{_count(used, 'seconds'):.1f}", f"{_count(used, 'load_s'):.1f}"]
    cells.append(f"{_count(used, 'retries'):g}")
    if paid:
        cells.append(_dollars(used, calls))
    return [Text(cell) for cell in cells]


def _dollars(used: Mapping[str, Json], calls: float) -> str:
    """What is known of a cost; a price nobody knows is no price of nothing."""
    unpriced = _count(used, "unpriced_calls")
    if unpriced >= calls > 0:
        return "unknown"
    return f"${_count(used, 'cost_usd'):.4f}{'+?' if unpriced else ''}"


def summary_table(rows: Sequence[Row]) -> Table:
    """One line for each task of a batch."""
    table = Table("task", "outcome", box=None, pad_edge=False, header_style="bold")
    for name in ("laps", "tokens", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("thread", overflow="fold", min_width=24)
    table.add_column("reason")
    for row in rows:
        word = f"{row.outcome}, look" if row.look and row.outcome == "passed" else row.outcome
        table.add_row(
            Text(one_line(row.task, 60)),
            Text(word, style=style_of(row.outcome)),
            f"{row.laps}",
            f"{row.tokens:,}",
            f"{row.seconds:.1f}",
            Text(one_line(row.thread, 100)),
            Text(one_line(row.reason, 120)),
        )
    return table


def run_table(runs: Sequence[Summary]) -> Table:
    """`--list`."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("thread", overflow="fold", min_width=24)
    table.add_column("task")
    table.add_column("outcome")
    for name in ("laps", "tokens", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("started")
    for run in runs:
        outcome = run.outcome or "not ended"
        word = f"{outcome}, look" if run.look and outcome == "passed" else outcome
        table.add_row(
            Text(one_line(run.thread, 100)),
            Text(one_line(run.task, 60)),
            Text(word, style=style_of(outcome)),
            f"{run.laps}",
            f"{run.input_tokens + run.output_tokens:,}",
            f"{run.seconds:.1f}",
            Text(one_line(run.started, 30)),
        )
    return table


def _fingerprint(role: str, value: Json) -> Line:
    fields = value if isinstance(value, Mapping) else {}
    parts = [f"{one_line(role, 20)}: {_cell(fields, 'name')}"]
    if fields.get("answered") and fields.get("answered") != fields.get("name"):
        parts.append(f"answered by {_cell(fields, 'answered')}")
    for key in ("digest", "quantisation", "server_version", "problem"):
        if fields.get(key):
            parts.append(f"{key.replace('_', ' ')} {_cell(fields, key)}")
    return Line(text=", ".join(parts), style="dim")


def _sum(rows: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    keys = ("calls", "unmeasured_calls", "input_tokens", "reused_tokens", "output_tokens",
            "seconds", "load_s", "retries", "cost_usd", "unpriced_calls")  # fmt: skip
    return {key: sum(_count(row, key) for row in rows) for key in keys}


def _count(used: Mapping[str, Json], key: str) -> float:
    value = used.get(key)
    return value if isinstance(value, int | float) else 0


def _maps(value: Json) -> list[Mapping[str, Json]]:
    items = value if isinstance(value, list | tuple) else []
    return [item for item in items if isinstance(item, Mapping)]


def _cell(fields: Mapping[str, Json], key: str, limit: int = 120) -> str:
    value = fields.get(key)
    return "" if value is None else one_line(str(value), limit)


def _block(name: str, text: str, limit: int) -> str:
    shown = few_lines(text, limit).replace("\n", "\n  ")
    return f"{name}:\n  {shown}"
