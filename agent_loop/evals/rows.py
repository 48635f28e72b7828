"""From the record and the trace of a run to a row of the report. Pure but for reading the trace."""

from collections.abc import Iterable, Mapping
from typing import Any

from agent_loop.evals.cases import Case
from agent_loop.ports import FINAL, Json
from agent_loop.store.reports import Attempt, LapPoint, Status, Tokens

_OVER = FINAL | {"paused"}
"""Nobody answers an owner call of an eval."""
CUT = "budget: the eval"
"""How the reason begins with which an eval stops its runs; a run's own limits say otherwise."""


def row_of(
    case: Case, record: Mapping[str, Json], events: Iterable[Mapping[str, Any]], *, cut: bool
) -> Attempt:
    """The row of a run that has ended or stopped. `cut`: the eval's budget stopped it."""
    status = status_of(record, cut=cut)
    outcome = str(record.get("outcome") or "")
    passed = outcome == "passed"
    verdict = record.get("verdict")
    looks = verdict.get("looks") if isinstance(verdict, Mapping) else ()
    used = _usage(record)
    load_s = sum(float(one.get("load_s") or 0.0) for one in used.values())
    points = _points(events, ended_passed=passed)
    answer = record.get("answer")
    return Attempt(
        task=case.task.name,
        n=case.n,
        thread=case.thread,
        status=status,
        outcome=outcome or None,
        passed=passed if status == "finished" else None,
        looks=len(looks) if passed and isinstance(looks, list | tuple) else 0,
        laps=len(_list(record.get("laps"))),
        seconds=round(max(0.0, _number(record.get("spent_s")) - load_s), 3),
        load_s=round(load_s, 3),
        tokens=_tokens(used),
        format_failures=int(_number(record.get("format_failures"))),
        problem="" if status == "finished" and passed else str(record.get("reason") or "")[:2_000],
        tries=case.tries,
        record=f"{case.thread}.json",
        patch=answer if isinstance(answer, str) and answer else None,
        lap_curve=points,
        cost=_cost(used),
        samples=tuple(
            one.get("passed") is True
            for one in _list(record.get("samples"))
            if isinstance(one, Mapping) and one.get("lap") == 1
        ),
    )


def status_of(record: Mapping[str, Json], *, cut: bool) -> Status:
    """What the way a run ended means for an eval.

    A run that its own time limit stopped was too slow: that is a result. One that the eval's budget
    cut, or Ctrl-C, has none yet.
    """
    outcome = record.get("outcome")
    if outcome in ("error", "nothing_to_fix"):
        return "environment"
    if outcome in _OVER or (outcome == "budget" and not cut):
        return "finished"
    return "budget" if outcome == "budget" else "running"


def failed_row(case: Case, problem: str) -> Attempt:
    """The row of an attempt that could not be made."""
    return Attempt(
        task=case.task.name,
        n=case.n,
        thread=case.thread,
        status="environment",
        problem=problem[:2_000],
        tries=case.tries,
    )


def _usage(record: Mapping[str, Json]) -> Mapping[str, Mapping[str, Any]]:
    table = record.get("tokens")
    if not isinstance(table, Mapping):
        return {}
    return {node: used for node, used in table.items() if isinstance(used, Mapping)}


def _tokens(used: Mapping[str, Mapping[str, Any]]) -> Tokens | None:
    """`None` where no call was measured."""
    calls = sum(int(one.get("calls") or 0) for one in used.values())
    unmeasured = sum(int(one.get("unmeasured_calls") or 0) for one in used.values())
    if not calls or calls == unmeasured:
        return None
    by_role = {
        node: {"input": int(one["input_tokens"]), "output": int(one["output_tokens"])}
        for node, one in used.items()
    }
    return Tokens(
        input=sum(one["input"] for one in by_role.values()),
        output=sum(one["output"] for one in by_role.values()),
        by_role=by_role,
    )


def _cost(used: Mapping[str, Mapping[str, Any]]) -> float | None:
    """US dollars; `None` where nothing is paid, or what a call cost is unknown."""
    if any(one.get("unpriced_calls") for one in used.values()):
        return None
    return sum(_number(one.get("cost_usd")) for one in used.values()) or None


def _points(events: Iterable[Mapping[str, Any]], *, ended_passed: bool) -> tuple[LapPoint, ...]:
    """Tokens and seconds at the end of every lap, counted over nodes that finished.

    A node that a kill cut off is repeated: what it spent the first time counts no more here than
    in the record.
    """
    tokens, seconds, pending = 0, 0.0, 0
    points: list[LapPoint] = []
    for event in events:
        match event.get("kind"):
            case "node_started":
                pending = 0
            case "model_replied":
                usage = event.get("usage")
                used = usage if isinstance(usage, Mapping) else {}
                pending += int(used.get("input_tokens") or 0) + int(used.get("output_tokens") or 0)
            case "node_finished":
                tokens, pending = tokens + pending, 0
                seconds += float(event.get("seconds") or 0.0)
                if event.get("node") == "reviewer":
                    lap = int(event.get("lap") or 0)
                    point = LapPoint(
                        lap=lap, passed=False, tokens=tokens, seconds=round(seconds, 3)
                    )
                    points = [p for p in points if p.lap != lap] + [point]
    if points and ended_passed:
        last = points[-1]
        points[-1] = LapPoint(lap=last.lap, passed=True, tokens=last.tokens, seconds=last.seconds)
    return tuple(points)


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | tuple) else []


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def is_over(record: Mapping[str, Json]) -> bool:
    """The run has ended for good: nothing to go on with."""
    return record.get("outcome") in _OVER
