"""Turns the events of a run into lines for people. Pure: events in, lines out."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_loop.ports import Json
from agent_loop.terminal.safe import few_lines, one_line

PLAN_LINES = 12
_GOOD, _BAD, _DIM, _ASK = "green", "red", "dim", "yellow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of progress, or several that belong together."""

    text: str
    style: str = ""


def lines(kind: str, fields: Mapping[str, Json]) -> list[Line]:
    """What to say about one event; most events say nothing."""
    teller = _TELLERS.get(kind)
    return teller(fields) if teller else []


def _started(fields: Mapping[str, Json]) -> list[Line]:
    word = "goes on" if fields.get("resumed") else "starts"
    return [Line(text=f"task {_text(fields, 'task')} {word}", style="bold")]


def _replied(fields: Mapping[str, Json]) -> list[Line]:
    said = [Line(text=f"{_where(fields)}: {_cost(fields)}", style=_DIM)]
    if fields.get("node") == "lead":
        plan = few_lines(str(fields.get("text") or ""), PLAN_LINES)
        said.append(Line(text=_indented(f"plan:\n{plan}")))
    if fields.get("context_cut"):
        said.append(Line(text="  the server cut the prompt (truncated)", style=_BAD))
    notes = fields.get("notes")
    if isinstance(notes, list | tuple):
        said += [Line(text=f"  note: {one_line(str(note))}", style=_DIM) for note in notes]
    return said


def _refused(fields: Mapping[str, Json]) -> list[Line]:
    problem = one_line(str(fields.get("problem") or ""))
    return [Line(text=f"{_lap(fields)}the reply could not be used: {problem}", style=_BAD)]


def _repeated(fields: Mapping[str, Json]) -> list[Line]:
    before = _text(fields, "repeat_of")
    return [
        Line(
            text=f"{_lap(fields)}check: the same answer as in lap {before}, not judged again",
            style=_BAD,
        )
    ]


def _verdict(fields: Mapping[str, Json]) -> list[Line]:
    passed = fields.get("passed") is True
    word = "passed" if passed else "not passed"
    if passed and fields.get("looks"):
        word = "passed, look"
    text = f"{_lap(fields)}check: {word}: {_text(fields, 'reason')}{_seconds(fields)}"
    return [Line(text=text, style=_GOOD if passed else _BAD)]


def _review(fields: Mapping[str, Json]) -> list[Line]:
    if fields.get("approved"):
        return [Line(text=f"{_lap(fields)}review: approved", style=_GOOD)]
    why = one_line(str(fields.get("text") or ""), 160)
    return [Line(text=f"{_lap(fields)}review: rejected: {why}", style=_BAD)]


def _paused(fields: Mapping[str, Json]) -> list[Line]:
    return [Line(text="paused: the owner is asked", style=_ASK)]


def _owner_replied(fields: Mapping[str, Json]) -> list[Line]:
    said = one_line(str(fields.get("text") or ""))
    source = _text(fields, "source")
    return [Line(text=f"owner ({source}): {_text(fields, 'answer')}: {said}", style=_ASK)]


def _step(fields: Mapping[str, Json]) -> list[Line]:
    call, seen = fields.get("call"), fields.get("observation")
    name = _text(call, "name") if isinstance(call, Mapping) else "no call"
    shown = seen if isinstance(seen, Mapping) else {}
    given = call.get("arguments") if isinstance(call, Mapping) else None
    what = " ".join(str(value) for value in given.values()) if isinstance(given, Mapping) else ""
    what = what or str(shown.get("text") or "")
    text = f"{_lap(fields)}step {_text(fields, 'step')}: {name} {one_line(what, 100)}".rstrip()
    return [Line(text=f"{text}{_seconds(fields)}", style=_DIM if shown.get("ok") else _BAD)]


def _episode_ended(fields: Mapping[str, Json]) -> list[Line]:
    reason = _text(fields, "reason").replace("_", " ")
    text = f"{_lap(fields)}episode: {reason} after {_text(fields, 'steps')} steps"
    detail = one_line(str(fields.get("detail") or ""), 200)
    style = _GOOD if fields.get("reason") == "submitted" else _BAD
    return [Line(text=f"{text}: {detail}" if detail else text, style=style)]


def _taken(fields: Mapping[str, Json]) -> list[Line]:
    number, count = _text(fields, "sample"), _text(fields, "of")
    return [Line(text=f"{_lap(fields)}check: answer {number} of {count} is taken", style=_DIM)]


def _fault(fields: Mapping[str, Json]) -> list[Line]:
    return [Line(text=f"fault in {_text(fields, 'node')}: {_text(fields, 'problem')}", style=_BAD)]


_TELLERS = {
    "run_started": _started,
    "model_replied": _replied,
    "candidate_refused": _refused,
    "repeated": _repeated,
    "verdict": _verdict,
    "review": _review,
    "paused": _paused,
    "owner_replied": _owner_replied,
    "fault": _fault,
    "episode_step": _step,
    "episode_ended": _episode_ended,
    "sample_taken": _taken,
}


def usage_words(usage: Json, seconds: float | None = None) -> str:
    """`2.1 s, 310 in (200 reused), 45 out`; a count nobody gave is no count."""
    if not isinstance(usage, Mapping):
        return ""
    parts = []
    took = seconds if seconds is not None else usage.get("seconds")
    if isinstance(took, int | float):
        parts.append(f"{took:.1f} s")
    if usage.get("unmeasured_calls"):
        parts.append("tokens unknown")
    else:
        reused = f" ({usage['reused_tokens']} reused)" if usage.get("reused_tokens") else ""
        parts.append(f"{usage.get('input_tokens', 0)} in{reused}")
        parts.append(f"{usage.get('output_tokens', 0)} out")
    if usage.get("retries"):
        parts.append(f"{usage['retries']} retried")
    load = usage.get("load_s")
    if isinstance(load, int | float) and load >= 0.1:
        parts.append(f"{load:.1f} s loading")
    return ", ".join(parts)


def _cost(fields: Mapping[str, Json]) -> str:
    cut = ", cut at its token limit" if fields.get("finish") == "length" else ""
    return f"{usage_words(fields.get('usage'))}{cut}  [{_text(fields, 'answered')}]"


def _where(fields: Mapping[str, Json]) -> str:
    return f"{_lap(fields)}{_text(fields, 'node')}"


def _lap(fields: Mapping[str, Json]) -> str:
    lap = fields.get("lap")
    return f"lap {lap} " if isinstance(lap, int) and lap > 0 else ""


def _text(fields: Mapping[str, Json], key: str) -> str:
    value = fields.get(key)
    return "" if value is None else one_line(str(value))


def _seconds(fields: Mapping[str, Json]) -> str:
    value = fields.get("seconds")
    return f" ({value:.2f} s)" if isinstance(value, int | float) and value else ""


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
