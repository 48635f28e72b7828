"""What a run remembers from node to node: plain JSON types, bounded, checked when it is loaded."""

from collections.abc import Mapping
from typing import Literal, TypedDict, cast

from agent_loop.errors import StoreFault
from agent_loop.ports import FINAL, Json, Usage

VERSION = 1
MAX_WHOLE_CHARS = 1_000_000
"""Bound of the few texts that must stay whole: the newest reply and answer, and verdicts (they name
every executed test). Longer replies are refused. Each is stored once, however many steps see it."""


MAX_MATERIAL_CHARS = 200_000
"""Bound of what a node before the worker hands over: thirty abstracts, or the files of a project.
How much of it a prompt takes is that node's decision."""


class UsageState(TypedDict):
    """`ports.Usage` of one node, summed over its calls."""

    calls: int
    unmeasured_calls: int
    input_tokens: int
    output_tokens: int
    reused_tokens: int
    load_s: float
    seconds: float
    retries: int
    cost_usd: float
    unpriced_calls: int


class LapState(TypedDict):
    """One lap, as later prompts and the record tell it."""

    n: int
    by: Literal["worker", "escalation"]
    reply: str
    problem: str
    passed: bool
    result: str
    review: str
    guidance: str


class SeenState(TypedDict):
    """One candidate judged in this turn."""

    digest: str
    lap: int
    verdict: str
    feedback: str
    output: str
    review_tokens: int


class DraftState(TypedDict):
    """One of several answers in one lap, not judged yet."""

    reply: str
    finish: Literal["stop", "length"]
    answered_by: str
    tokens: int


class SampleState(TypedDict):
    """What became of one of several answers in one lap."""

    lap: int
    n: int
    passed: bool
    taken: bool
    reason: str
    format_failure: bool
    digest: str
    tokens: int


class State(TypedDict):
    """A run between two nodes. A turn is the laps between two words of the owner."""

    version: int
    # caps and counters live here, so that a resume refills none
    rejection_cap: int
    can_escalate: bool
    # where the run stands
    lap: int
    rejections: int
    repeats: int
    escalated: bool
    pauses: int
    plan: str
    material: str
    # the lap in hand
    by: Literal["worker", "escalation"]
    reply: str
    finish: Literal["stop", "length"]
    answered_by: str
    problem: str
    repeat_of: int
    answer: str
    digest: str
    verdict: str
    """`ports.Verdict` as JSON without its two long texts; empty: nothing judged yet."""
    feedback: str
    output: str
    review: str
    opinion: str
    drafts: list[DraftState]
    """The answers of the lap in hand, where there are several."""
    # what came before
    samples: list[SampleState]
    laps: list[LapState]
    seen: list[SeenState]
    # counts for the record
    usage: dict[str, UsageState]
    replies: dict[str, int]
    """Finished model calls by role: where a script goes on after a resume."""
    guessed_tokens: int
    """Rough tokens of calls whose server gave no counts, for the budget only."""
    context_cuts: int
    format_failures: int
    saved_checks: int
    saved_tokens: int
    spent_s: float
    """Seconds spent in nodes, the owner's waiting left out."""
    # the way out
    outcome: str
    reason: str


def fresh(*, rejection_cap: int, can_escalate: bool) -> State:
    """The state a run starts with."""
    return State(
        version=VERSION, rejection_cap=rejection_cap, can_escalate=can_escalate,
        lap=0, rejections=0, repeats=0, escalated=False, pauses=0, plan="", material="",
        by="worker", reply="", finish="stop", answered_by="", problem="", repeat_of=0, answer="",
        digest="", verdict="", feedback="", output="", review="", opinion="", drafts=[], samples=[],
        laps=[], seen=[],
        usage={}, replies={}, guessed_tokens=0, context_cuts=0, format_failures=0,
        saved_checks=0, saved_tokens=0, spent_s=0.0, outcome="", reason="",
    )  # fmt: skip


def tokens(state: State) -> int:
    """Tokens spent so far, with a rough count where a server gave none."""
    used = state["usage"].values()
    return sum(u["input_tokens"] + u["output_tokens"] for u in used) + state["guessed_tokens"]


def cost(state: State) -> tuple[float, int]:
    """US dollars spent so far, and how many calls of unknown price that leaves out."""
    used = state["usage"].values()
    return sum(u["cost_usd"] for u in used), sum(u["unpriced_calls"] for u in used)


def usage_state(usage: Usage) -> UsageState:
    return UsageState(
        calls=usage.calls, unmeasured_calls=usage.unmeasured_calls,
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
        reused_tokens=usage.reused_tokens, load_s=usage.load_s, seconds=usage.seconds,
        retries=usage.retries, cost_usd=usage.cost_usd, unpriced_calls=usage.unpriced_calls,
    )  # fmt: skip


def added(total: UsageState | None, usage: Usage) -> UsageState:
    """The sum of a node's usage and one more reply's."""
    return usage_state((Usage(**total) if total else Usage()) + usage)


# --- checking what a database holds -----------------------------------------------------------

_MODELS: dict[str, Mapping[str, type]] = {
    "laps": {"n": int, "by": str, "reply": str, "problem": str, "passed": bool, "result": str,
             "review": str, "guidance": str},
    "seen": {"digest": str, "lap": int, "verdict": str, "feedback": str, "output": str,
             "review_tokens": int},
    "drafts": {"reply": str, "finish": str, "answered_by": str, "tokens": int},
    "samples": {"lap": int, "n": int, "passed": bool, "taken": bool, "reason": str,
                "format_failure": bool, "digest": str, "tokens": int},
    "usage": {"calls": int, "unmeasured_calls": int, "input_tokens": int, "output_tokens": int,
              "reused_tokens": int, "load_s": float, "seconds": float, "retries": int,
              "cost_usd": float, "unpriced_calls": int},
}  # fmt: skip
_LIMITS = {
    "drafts": 16,
    "samples": 160_000,
    "laps": 10_000,
    "seen": 10_000,
    "usage": 50,
    "replies": 50,
}
_CHOICES: dict[str, frozenset[str]] = {
    "by": frozenset({"worker", "escalation"}),
    "finish": frozenset({"stop", "length"}),
    "opinion": frozenset({"", "approved", "rejected", "unclear"}),
    "outcome": FINAL | {""},
}


def checked(values: Mapping[str, Json]) -> State:
    """A state out of a database, every field's type and size looked at.

    Raises:
        StoreFault: this program did not write it; names the field.
    """
    model = fresh(rejection_cap=1, can_escalate=False)
    values = {"drafts": [], "samples": [], **_with_costs(values)}
    for name, sample in model.items():
        if name not in values:
            raise _foreign(f"'{name}' is missing")
        _check(name, values[name], sample)
    if extra := set(values) - set(model):
        raise _foreign(f"'{min(extra)}' is no field of it")
    if values["version"] != VERSION:
        raise _foreign(f"it has version {values['version']!r}, not {VERSION}")
    return cast(State, dict(values))


def _with_costs(values: Mapping[str, Json]) -> Mapping[str, Json]:
    """Runs that began before calls had a price: what those cost is unknown."""
    usage = values.get("usage")
    if not isinstance(usage, dict):
        return values
    filled = {
        node: {"cost_usd": 0.0, "unpriced_calls": used.get("calls", 0), **used}
        if isinstance(used, dict)
        else used
        for node, used in usage.items()
    }
    return {**values, "usage": filled}


def _check(name: str, value: Json, sample: object) -> None:
    if name in _LIMITS:
        _check_many(name, value, dict if isinstance(sample, dict) else list)
    elif not _fits(value, type(sample)):
        raise _foreign(f"'{name}' is not of the right type or size")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise _foreign(f"'{name}' is none of its words")


def _check_many(name: str, value: Json, kind: type) -> None:
    if not isinstance(value, kind) or len(value) > _LIMITS[name]:  # type: ignore[arg-type]
        raise _foreign(f"'{name}' is not of the right type or size")
    items = value.values() if isinstance(value, dict) else value
    for item in items:  # type: ignore[union-attr]
        if name == "replies":
            fits = _fits(item, int)
        else:
            fields = _MODELS[name]
            fits = (
                isinstance(item, dict)
                and set(item) == set(fields)
                and all(_fits(item[key], kind) for key, kind in fields.items())
                and item.get("by", "worker") in _CHOICES["by"]
                and item.get("finish", "stop") in _CHOICES["finish"]
            )
        if not fits:
            raise _foreign(f"'{name}' holds something that does not belong there")


def _fits(value: object, kind: type) -> bool:
    if kind is bool:
        return isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str) and len(value) <= MAX_WHOLE_CHARS


def _foreign(problem: str) -> StoreFault:
    return StoreFault(
        f"checkpoints.sqlite: the saved state was not written by this program: {problem}. "
        "Nothing was run. Start the task again under a new --thread."
    )
