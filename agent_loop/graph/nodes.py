"""The nodes: state in, partial update out. Routing is in `routes`, the drawing in `build`."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from agent_loop.errors import FaultError, ReplyError
from agent_loop.graph import routes
from agent_loop.graph.parts import Control, Limits, Parts, Step, Worked
from agent_loop.graph.state import (
    MAX_MATERIAL_CHARS,
    MAX_WHOLE_CHARS,
    LapState,
    State,
    added,
    cost,
    tokens,
    usage_state,
)
from agent_loop.graph.verdicts import verdict_of
from agent_loop.ports import Events, Json, Message, Reply, Role
from agent_loop.prompts import Brief, Lap, Prompts, bounded, cleaned, opinion

Update = dict[str, Any]
_CHARS_PER_TOKEN = 4
_ENDLESS_CHARS = 1_500
_ENDLESS_RATIO = 0.03
"""Text that packs to 3 % says one thing again and again; tables and tests stay above 6 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything a node may need beside the state."""

    brief: Brief
    prompts: Prompts
    parts: Parts
    events: Events
    control: Control
    limits: Limits
    samples: int = 1
    """Answers of the worker in one lap."""
    lap_closed: Callable[[State], None] = lambda _: None
    """Hears the state after each lap, so that a list of runs can show how far this one is."""
    interrupted: tuple[str, int] | None = None
    """(node, lap) that a kill cut off: its model call, if it had one, is made again."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A node with its events, its seconds, and the look at the budget after it.

    An object and no closure: langgraph takes the bytecode of every function it is given apart.
    """

    name: str
    node: Callable[[State, Run], Update]
    run: Run

    def __call__(self, state: State) -> Update:
        run, name = self.run, self.name
        lap = state["lap"] + (name in ("worker", "escalate"))
        again = run.interrupted == (name, lap)
        run.events.emit("node_started", {"node": name, "lap": lap, "again": again})
        start = run.parts.clock.monotonic()
        try:
            update = self.node(state, run)
        except FaultError as fault:
            run.events.emit("fault", {"node": name, "problem": str(fault)})
            raise
        seconds = run.parts.clock.monotonic() - start
        update["spent_s"] = state["spent_s"] + seconds
        fields: dict[str, Json] = {"node": name, "lap": lap, "seconds": round(seconds, 4)}
        run.events.emit("node_finished", fields)
        now = cast(State, {**state, **update})
        if name == "reviewer":
            run.lap_closed(now)
        if (why := spent(now, run.limits)) and not run.control.asked:
            run.control.drain(why)
        return update


def spent(state: State, limits: Limits) -> str:
    """Why nothing more may be spent; empty while something may."""
    used, budget, seconds = tokens(state), limits.budget_tokens, limits.time_limit_s
    if budget is not None and used >= budget:
        return f"budget: {used:,} of {budget:,} tokens are spent"
    if seconds is not None and state["spent_s"] >= seconds:
        return f"budget: the time limit of {seconds:g} s is reached"
    return "" if limits.cost_usd is None else _too_dear(state, limits.cost_usd)


def _too_dear(state: State, limit: float) -> str:
    dollars, unpriced = cost(state)
    if unpriced:
        return (
            f"budget: what {unpriced} model calls cost is unknown, so the cost limit cannot be "
            "kept. Give the model's price under prices: in the configuration"
        )
    if dollars >= limit:
        return f"budget: ${dollars:.4f} of ${limit:g} are spent"
    return ""


def left(state: State, limits: Limits) -> Limits:
    """What a run may still spend; at least a little, or it would have been stopped before."""
    used, (dollars, _) = tokens(state), cost(state)
    budget, seconds, usd = limits.budget_tokens, limits.time_limit_s, limits.cost_usd
    return Limits(
        budget_tokens=None if budget is None else max(1, budget - used),
        time_limit_s=None if seconds is None else max(1.0, seconds - state["spent_s"]),
        cost_usd=None if usd is None else max(1e-9, usd - dollars),
    )


def outside(step: Step) -> Callable[[State, Run], Update]:
    """A node of another room (`reproduce`, `search`)."""

    def node(state: State, run: Run) -> Update:
        found = step.run(state)
        unknown = set(found) - {"material", "outcome", "reason"}
        if unknown:
            raise TypeError(f"node '{step.name}' returned unknown fields: {sorted(unknown)}")
        update: Update = {key: bounded(cleaned(text)) for key, text in found.items()}
        if "material" in found:
            update["material"] = bounded(cleaned(found["material"]), MAX_MATERIAL_CHARS)
        return update

    return node


def lead(state: State, run: Run) -> Update:
    """Write the plan."""
    if "no_plan" in run.prompts.variants:
        return {"plan": ""}
    reply, update = ask(state, run, role="lead", node="lead", messages=run.prompts.lead(
        brief_of(state, run)))  # fmt: skip
    return {**update, "plan": bounded(reply.text)}


def review(state: State, run: Run) -> Update:
    """Ask the reviewer where there is something to review; then close the lap."""
    verdict = verdict_of(state)
    if state["problem"] or verdict is None:
        return close_lap(state, run.limits, review="", said="")
    now = told_lap(_lap(state))
    laps = [told_lap(lap) for lap in state["laps"]]
    messages = run.prompts.reviewer(brief_of(state, run), laps, now)
    reply, update = ask(state, run, role="reviewer", node="reviewer", messages=messages)
    text = bounded(reply.text)
    said = opinion(text)
    approved = verdict.passed and said != "rejected"
    fields: dict[str, Json] = {"lap": state["lap"], "approved": approved, "text": text}
    run.events.emit("review", fields)
    cost = reply.usage.input_tokens + reply.usage.output_tokens
    return {**update, **close_lap(state, run.limits, review=text, said=said, review_tokens=cost)}


def close_lap(
    state: State, limits: Limits, *, review: str, said: str, review_tokens: int = 0
) -> Update:
    """Pass or count a rejection. Pure.

    APPROVED cannot beat a failing verdict; a review that says neither word leaves the verdict.
    """
    verdict = verdict_of(state)
    passed = bool(verdict and verdict.passed and not state["problem"] and said != "rejected")
    seen = [
        {**s, "review_tokens": review_tokens} if s["lap"] == state["lap"] else s
        for s in state["seen"]
    ]
    update: Update = {
        "review": review,
        "opinion": said,
        "laps": [*state["laps"], {**_lap(state), "review": review}],
        "seen": seen,
        "rejections": state["rejections"] + (not passed),
    }
    if passed and verdict:
        return update | {"outcome": "passed", "reason": verdict.reason}
    return update | _capped(cast(State, {**state, **update}), limits)


def _capped(state: State, limits: Limits) -> Update:
    goes_on = routes.may_escalate(state) or routes.may_ask(state, limits.max_pauses)
    if goes_on or not routes.turn_over(state):
        return {}
    asked = f"after {state['pauses']} owner calls" if state["pauses"] else "without an owner call"
    reason = f"{state['rejections']} rejections, the end of the worker's turn, {asked}"
    return {"outcome": "capped", "reason": reason}


def _lap(state: State) -> LapState:
    verdict = verdict_of(state) if not state["problem"] or state["repeat_of"] else None
    return LapState(
        n=state["lap"],
        by=state["by"],
        reply=bounded(state["reply"]),
        problem=state["problem"],
        passed=bool(verdict and verdict.passed),
        result=(verdict.feedback or verdict.reason) if verdict else "",
        review="",
        guidance="",
    )


def ask(
    state: State, run: Run, *, role: Role, node: str, messages: Sequence[Message], sample: int = 0
) -> tuple[Reply, Update]:
    """One model call with its events; the update holds what it cost."""
    model = run.parts.models[role]
    said: list[Json] = [{"role": m.role, "content": m.content} for m in messages]
    head = head_of(state, role, node, sample)
    run.events.emit("model_asked", {**head, "model": model.name, "messages": said})
    reply = model.ask(
        messages,
        on_text=lambda text: run.events.emit("model_text", {"node": node, "text": text}),
        cancel=run.control.cancelled,
    )
    reply = replace(reply, text=cleaned(reply.text))
    run.events.emit("model_replied", {**head, **_reply(reply)})
    guessed = 0
    if reply.usage.unmeasured_calls:
        chars = sum(len(m.content) for m in messages) + len(reply.text) + len(reply.reasoning)
        guessed = chars // _CHARS_PER_TOKEN
    spending = Worked(
        text="", answered=reply.answered, usage=reply.usage, replies=1, guessed_tokens=guessed,
        context_cuts=reply.context_cut,
    )  # fmt: skip
    return reply, costs(state, spending, role=role, node=node)


def head_of(state: State, role: Role, node: str, sample: int) -> dict[str, Json]:
    """In front of every event about a model call."""
    lap = state["lap"] + (node in ("worker", "escalate"))
    head: dict[str, Json] = {"node": node, "role": role, "lap": lap}
    return {**head, "sample": sample} if sample else head


def costs(state: State, worked: Worked, *, role: Role, node: str) -> Update:
    """What model calls add to the counts of a state."""
    return {
        "usage": {**state["usage"], node: added(state["usage"].get(node), worked.usage)},
        "replies": {**state["replies"], role: state["replies"].get(role, 0) + worked.replies},
        "guessed_tokens": state["guessed_tokens"] + worked.guessed_tokens,
        "context_cuts": state["context_cuts"] + worked.context_cuts,
        "format_failures": state["format_failures"] + worked.format_failures,
    }


def refuse_endless(text: str) -> None:
    """Refuse one thing said hundreds of times: no parser should take its first line for an answer.

    Raises:
        ReplyError: it is such a text.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) < _ENDLESS_CHARS or len(zlib.compress(raw, 6)) > len(raw) * _ENDLESS_RATIO:
        return
    raise ReplyError(
        "The reply says the same thing again and again, so it was not read. "
        "Answer once, briefly, with the solution only."
    )


def refuse_huge(answer: str) -> None:
    """Raises ReplyError for an answer that no state can keep whole."""
    if len(answer) > MAX_WHOLE_CHARS:
        raise ReplyError(f"The answer has over {MAX_WHOLE_CHARS:,} characters. Make it shorter.")


def brief_of(state: State, run: Run) -> Brief:
    return replace(run.brief, material=state["material"])


def told_lap(lap: LapState) -> Lap:
    return Lap(**{key: value for key, value in lap.items() if key not in ("n", "by")})  # type: ignore[arg-type]


# Written out: `asdict` copies every value and costs a tenth of a node.
def _reply(r: Reply) -> dict[str, Json]:
    return {
        "answered": r.answered, "text": r.text, "reasoning": r.reasoning, "finish": r.finish,
        "usage": cast(Json, usage_state(r.usage)), "context_cut": r.context_cut, "notes": r.notes,
    }  # fmt: skip
