"""Verdicts to JSON and back, bounded on the way."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypedDict

from agent_loop.errors import StoreFault
from agent_loop.ports import Json, LinesRan, Look, Proof, Verdict
from agent_loop.prompts import bounded, cleaned

MAX_EXECUTED = 5_000
MAX_ITEMS = 200
MAX_LINES = 2_000


class Saved(TypedDict):
    """The fields of a state that hold a verdict."""

    verdict: str
    feedback: str
    output: str


_TEXTS = ("isolation", "reason", "feedback", "output")


def tidy(verdict: Verdict) -> Verdict:
    """The verdict with its texts cleaned and bounded."""
    return replace(
        verdict,
        reason=bounded(cleaned(verdict.reason), 2_000),
        feedback=bounded(cleaned(verdict.feedback)),
        output=bounded(cleaned(verdict.output)),
        executed=tuple(cleaned(name)[:150] for name in verdict.executed[:MAX_EXECUTED]),
        proofs=verdict.proofs[:MAX_ITEMS],
        looks=verdict.looks[:MAX_ITEMS],
        lines=tuple(_few(one) for one in verdict.lines[:MAX_ITEMS]),
        seconds=round(verdict.seconds, 4),
    )


def _few(lines: LinesRan) -> LinesRan:
    return LinesRan(path=cleaned(lines.path)[:1_000], ran=lines.ran[:MAX_LINES])


def fields_of(verdict: Verdict) -> dict[str, Json]:
    """Every field, as plain JSON."""
    return {
        "passed": verdict.passed,
        "isolation": verdict.isolation,
        "reason": verdict.reason,
        "feedback": verdict.feedback,
        "output": verdict.output,
        "proofs": [{"name": p.name, "held": p.held, "detail": p.detail} for p in verdict.proofs],
        "looks": [{"signal": look.signal, "detail": look.detail} for look in verdict.looks],
        "executed": list(verdict.executed),
        "lines": [{"path": one.path, "ran": list(one.ran)} for one in verdict.lines],
        "seconds": verdict.seconds,
    }


def saved(verdict: Verdict) -> Saved:
    """The verdict as a state keeps it. Its long texts stand apart: laps name the feedback too."""
    text = json.dumps({**fields_of(verdict), "feedback": "", "output": ""})
    return Saved(verdict=text, feedback=verdict.feedback, output=verdict.output)


def verdict_of(state: Saved) -> Verdict | None:
    """The verdict in a state; `None` where nothing was judged.

    Raises:
        StoreFault: not what `saved` gave.
    """
    if not state["verdict"]:
        return None
    try:
        fields = json.loads(state["verdict"])
        return _verdict({**fields, "feedback": state["feedback"], "output": state["output"]})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StoreFault(
            f"checkpoints.sqlite: the saved verdict was not written by this program ({error}). "
            "Start the task again under a new --thread."
        ) from error


def _verdict(fields: Mapping[str, Any]) -> Verdict:
    if not isinstance(fields["passed"], bool):
        raise TypeError("'passed' is neither true nor false")
    if not all(isinstance(fields[name], str) for name in _TEXTS):
        raise TypeError("a text is none")
    return Verdict(
        passed=fields["passed"],
        isolation=fields["isolation"],
        reason=fields["reason"],
        feedback=fields["feedback"],
        output=fields["output"],
        proofs=tuple(Proof(**proof) for proof in fields["proofs"]),
        looks=tuple(Look(**look) for look in fields["looks"]),
        executed=tuple(str(name) for name in fields["executed"]),
        # A state of an earlier version has none.
        lines=tuple(_lines(one) for one in fields.get("lines", ())),
        seconds=float(fields["seconds"]),
    )


def _lines(fields: Mapping[str, Any]) -> LinesRan:
    return LinesRan(path=str(fields["path"]), ran=tuple(int(line) for line in fields["ran"]))
