"""Figures of one run for its charts, worked out from its trace line by line."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_loop.ports import Json
from agent_loop.viewer.events import Line, parsed
from agent_loop.viewer.traces import Recent, Traces

KEPT = 16
SLICE_S = 2.0
MAX_CALLS = 5_000
MAX_PROMPT_CHARS = 2_000_000
_BATCH = 100
_SUMS = ("calls", "input_tokens", "output_tokens", "reused_tokens", "retries", "unmeasured_calls")
_SECONDS = ("seconds", "load_s")
Fields = Mapping[str, Any]


@dataclass(slots=True)
class _Figures:
    """What the lines so far add up to."""

    generation: str = ""
    lines: int = 0
    began: float | None = None
    latest: float = 0.0
    roles: dict[str, dict[str, Any]] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[Json] = field(default_factory=list)
    laps: list[dict[str, Json]] = field(default_factory=list)
    pauses: list[dict[str, Json]] = field(default_factory=list)
    steps: list[Json] = field(default_factory=list)
    asked: dict[str, dict[str, Json]] = field(default_factory=dict)
    """By node: the call that waits for its answer."""
    prompts: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Charts:
    """Figures of the runs that were looked at lately."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces
        self._known = Recent(KEPT, lambda _: _Figures())

    def of(self, thread: str) -> dict[str, Json]:
        """Everything the charts draw; `complete: false` where a large trace needs another call."""
        figures = self._known.of(thread)
        with figures.lock:
            extent = self._traces.extent(thread)
            if figures.generation != extent.generation or figures.lines > extent.lines:
                _forget(figures, extent.generation)
            until = time.monotonic() + SLICE_S
            while figures.lines < extent.lines and time.monotonic() < until:
                first = figures.lines + 1
                last = min(extent.lines, figures.lines + _BATCH)
                for line in self._traces.read(thread, first, last):
                    _take(figures, line)
                figures.lines = last
            return _told(figures, complete=figures.lines >= extent.lines)


def _forget(figures: _Figures, generation: str) -> None:
    new = _Figures(generation=generation)
    for name in _Figures.__slots__:
        if name != "lock":
            setattr(figures, name, getattr(new, name))


def _told(figures: _Figures, *, complete: bool) -> dict[str, Json]:
    return {
        "roles": list(figures.roles.values()),
        "nodes": list(figures.nodes.values()),
        "calls": list(figures.calls),
        "laps": list(figures.laps),
        "pauses": list(figures.pauses),
        "steps": list(figures.steps),
        "span_s": round(figures.latest - (figures.began or figures.latest), 3),
        "events": figures.lines,
        "complete": complete,
    }


def _take(figures: _Figures, line: Line) -> None:
    fields = parsed(line.raw)
    if fields is None:
        return
    at = _time(fields.get("at"))
    if at is not None:
        figures.began = at if figures.began is None else figures.began
        figures.latest = max(figures.latest, at)
    take = _TAKES.get(fields["kind"])
    if take is not None:
        take(figures, line.seq, fields)


def _finished(figures: _Figures, _: int, fields: Fields) -> None:
    node = _name(fields.get("node"))
    row = figures.nodes.setdefault(node, {"node": node, "times": 0, "seconds": 0.0})
    row["times"] += 1
    row["seconds"] = round(row["seconds"] + _number(fields.get("seconds")), 3)


def _asked(figures: _Figures, seq: int, fields: Fields) -> None:
    messages = fields.get("messages")
    texts = messages if isinstance(messages, list) else []
    prompt = "\n".join(str(m.get("content")) for m in texts if isinstance(m, dict))
    role = _name(fields.get("role"))
    figures.asked[_name(fields.get("node"))] = {
        "seq_asked": seq,
        "start_s": _since(figures, fields),
        "prompt_chars": len(prompt),
        "shared_prefix_chars": _shared(figures.prompts.get(role, ""), prompt),
    }
    if len(figures.prompts) < 20 or role in figures.prompts:
        figures.prompts[role] = prompt[:MAX_PROMPT_CHARS]


def _replied(figures: _Figures, seq: int, fields: Fields) -> None:
    node, role, model = (_name(fields.get(key)) for key in ("node", "role", "answered"))
    given = fields.get("usage")
    usage: Fields = given if isinstance(given, dict) else {}
    _add_role(figures, role, model, usage, fields)
    asked = figures.asked.pop(node, {})
    if len(figures.calls) >= MAX_CALLS:
        return
    measured = _number(usage.get("unmeasured_calls")) == 0 and bool(usage)
    figures.calls.append(
        {
            "seq": seq,
            "seq_asked": asked.get("seq_asked"),
            "node": node,
            "role": role,
            "lap": _whole(fields.get("lap")),
            "model": model,
            "start_s": asked.get("start_s"),
            "seconds": _number(usage.get("seconds")),
            "input_tokens": _whole(usage.get("input_tokens")) if measured else None,
            "output_tokens": _whole(usage.get("output_tokens")) if measured else None,
            "reused_tokens": _whole(usage.get("reused_tokens")),
            "load_s": _number(usage.get("load_s")),
            "finish": _name(fields.get("finish")),
            "context_cut": fields.get("context_cut") is True,
            "prompt_chars": asked.get("prompt_chars"),
            "shared_prefix_chars": asked.get("shared_prefix_chars"),
        }
    )


def _add_role(figures: _Figures, role: str, model: str, usage: Fields, fields: Fields) -> None:
    zero = {name: 0 for name in _SUMS} | {name: 0.0 for name in _SECONDS}
    row = figures.roles.setdefault(role, {"role": role, "model": model, **zero, "context_cuts": 0})
    row["model"] = model or row["model"]
    for name in _SUMS:
        row[name] += _whole(usage.get(name))
    for name in _SECONDS:
        row[name] = round(row[name] + _number(usage.get(name)), 3)
    row["context_cuts"] += fields.get("context_cut") is True


def _judged(figures: _Figures, seq: int, fields: Fields) -> None:
    _lap(figures, seq, fields, passed=fields.get("passed") is True)


def _refused(figures: _Figures, seq: int, fields: Fields) -> None:
    _lap(figures, seq, fields, passed=False)


def _lap(figures: _Figures, seq: int, fields: Fields, *, passed: bool) -> None:
    if len(figures.laps) < MAX_CALLS:
        reason = str(fields.get("reason") or fields.get("problem") or "")[:500]
        figures.laps.append(
            {
                "lap": _whole(fields.get("lap")),
                "seq": seq,
                "at_s": _since(figures, fields),
                "passed": passed,
                "reason": reason,
                "approved": None,
                "seconds": _number(fields.get("seconds")),
            }
        )


def _reviewed(figures: _Figures, _: int, fields: Fields) -> None:
    if figures.laps:
        figures.laps[-1]["approved"] = fields.get("approved") is True


def _paused(figures: _Figures, seq: int, fields: Fields) -> None:
    if len(figures.pauses) < MAX_CALLS:
        figures.pauses.append({"seq": seq, "start_s": _since(figures, fields), "seconds": None})


def _answered(figures: _Figures, _: int, fields: Fields) -> None:
    at, start = _since(figures, fields), figures.pauses[-1]["start_s"] if figures.pauses else None
    if isinstance(at, float) and isinstance(start, float):
        figures.pauses[-1]["seconds"] = round(at - start, 3)


def _stepped(figures: _Figures, seq: int, fields: Fields) -> None:
    if len(figures.steps) < MAX_CALLS:
        figures.steps.append(
            {
                "seq": seq,
                "step": _whole(fields.get("step")),
                "lap": _whole(fields.get("lap")),
                "seconds": _number(fields.get("seconds")),
                "start_s": _since(figures, fields),
            }
        )


_TAKES = {
    "node_finished": _finished,
    "model_asked": _asked,
    "model_replied": _replied,
    "verdict": _judged,
    "candidate_refused": _refused,
    "repeated": _refused,
    "review": _reviewed,
    "paused": _paused,
    "owner_replied": _answered,
    "episode_step": _stepped,
}


def _since(figures: _Figures, fields: Fields) -> float | None:
    at = _time(fields.get("at"))
    return None if at is None or figures.began is None else round(at - figures.began, 3)


def _time(value: Json) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def _shared(before: str, now: str) -> int:
    """Characters two prompts have in common from the start; halving, as prompts are long."""
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == now[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _name(value: Json) -> str:
    return value[:100] if isinstance(value, str) else ""


def _whole(value: Json) -> int:
    return value if type(value) is int and 0 <= value < 1 << 53 else 0


def _number(value: Json) -> float:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    number = value if fits and isinstance(value, int | float) else 0.0
    return float(number) if 0 <= number < 1e12 else 0.0
