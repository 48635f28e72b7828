"""The nodes: state in, partial update out. Routing is in `routes`, the drawing in `build`."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from agent_loop.errors import FaultError, ReplyError
from agent_loop.graph import routes
from agent_loop.graph.parts import Control, Limits, Parts, Step
from agent_loop.graph.state import (
    MAX_MATERIAL_CHARS,
    MAX_WHOLE_CHARS,
    LapState,
    SeenState,
    State,
    added,
    cost,
    tokens,
    usage_state,
)
from agent_loop.graph.verdicts import fields_of, saved, tidy, verdict_of
from agent_loop.ports import Candidate, Events, Json, Message, Reply, Role, Usage
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
        if (why := spent(cast(State, {**state, **update}), run.limits)) and not run.control.asked:
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
        _brief(state, run)))  # fmt: skip
    return {**update, "plan": bounded(reply.text)}


def worker(state: State, run: Run) -> Update:
    """Answer the plan, or mend the answer."""
    return _answer(state, run, role="worker", node="worker")


def escalate(state: State, run: Run) -> Update:
    """One attempt by the stronger model, with the same prompt."""
    return {**_answer(state, run, role="escalation", node="escalate"), "escalated": True}


def _answer(state: State, run: Run, *, role: Role, node: str) -> Update:
    run.parts.check.prepare()
    laps = [_told(lap) for lap in state["laps"]]
    messages = run.prompts.worker(_brief(state, run), state["plan"], laps)
    reply, update = ask(state, run, role=role, node=node, messages=messages)
    return {
        **update,
        "lap": state["lap"] + 1,
        "by": "escalation" if role == "escalation" else "worker",
        "reply": reply.text[:MAX_WHOLE_CHARS],
        "finish": "length" if len(reply.text) > MAX_WHOLE_CHARS else reply.finish,
        "answered_by": reply.answered,
        "problem": "", "repeat_of": 0, "review": "", "opinion": "",
    }  # fmt: skip


def check(state: State, run: Run) -> Update:
    """Judge the reply, unless it cannot be read or has been judged before."""
    reply = Reply(
        text=state["reply"], finish=state["finish"], usage=Usage(), answered=state["answered_by"]
    )
    try:
        refuse_endless(reply.text)
        candidate = run.parts.check.parse(reply)
        refuse_huge(candidate.answer)
    except ReplyError as error:
        problem = bounded(cleaned(str(error)))
        run.events.emit("candidate_refused", {"lap": state["lap"], "problem": problem})
        return {"problem": problem, "format_failures": state["format_failures"] + 1}
    run.events.emit("candidate", {"lap": state["lap"], **_candidate(candidate)})
    known = {seen["digest"]: seen for seen in state["seen"]}.get(candidate.digest)
    if known is None:
        return _judged(state, run, candidate)
    update = _repeated(state, candidate, known)
    told = {"lap": state["lap"], "repeat_of": known["lap"], "problem": update["problem"]}
    run.events.emit("repeated", told)
    return update


def _judged(state: State, run: Run, candidate: Candidate) -> Update:
    verdict = tidy(run.parts.check.judge(candidate))
    run.events.emit("verdict", {"lap": state["lap"], **fields_of(verdict)})
    kept = saved(verdict)
    seen = SeenState(**kept, digest=candidate.digest, lap=state["lap"], review_tokens=0)
    return {
        "answer": cleaned(candidate.answer),
        "digest": candidate.digest,
        **kept,
        "seen": [*state["seen"], seen],
    }


def _repeated(state: State, candidate: Candidate, known: SeenState) -> Update:
    verdict = verdict_of(known)
    said = "passed the check but was rejected" if verdict and verdict.passed else "did not pass"
    return {
        "answer": cleaned(candidate.answer),
        "digest": candidate.digest,
        "verdict": known["verdict"],
        "feedback": known["feedback"],
        "output": known["output"],
        "problem": f"It is the same as your answer in lap {known['lap']}, which {said}. "
        "Comments and layout do not count. It was not judged again. Change what the code does.",
        "repeat_of": known["lap"],
        "repeats": state["repeats"] + 1,
        "saved_checks": state["saved_checks"] + 1,
        "saved_tokens": state["saved_tokens"] + known["review_tokens"],
    }


def review(state: State, run: Run) -> Update:
    """Ask the reviewer where there is something to review; then close the lap."""
    verdict = verdict_of(state)
    if state["problem"] or verdict is None:
        return close_lap(state, run.limits, review="", said="")
    now = _told(_lap(state))
    laps = [_told(lap) for lap in state["laps"]]
    messages = run.prompts.reviewer(_brief(state, run), laps, now)
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
    state: State, run: Run, *, role: Role, node: str, messages: Sequence[Message]
) -> tuple[Reply, Update]:
    """One model call with its events; the update holds what it cost."""
    lap = state["lap"] + (node in ("worker", "escalate"))
    model = run.parts.models[role]
    said: list[Json] = [{"role": m.role, "content": m.content} for m in messages]
    head: dict[str, Json] = {"node": node, "role": role, "lap": lap}
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
    return reply, {
        "usage": {**state["usage"], node: added(state["usage"].get(node), reply.usage)},
        "replies": {**state["replies"], role: state["replies"].get(role, 0) + 1},
        "guessed_tokens": state["guessed_tokens"] + guessed,
        "context_cuts": state["context_cuts"] + reply.context_cut,
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


def _brief(state: State, run: Run) -> Brief:
    return replace(run.brief, material=state["material"])


def _told(lap: LapState) -> Lap:
    return Lap(**{key: value for key, value in lap.items() if key not in ("n", "by")})  # type: ignore[arg-type]


# Written out: `asdict` copies every value and costs a tenth of a node.
def _candidate(c: Candidate) -> dict[str, Json]:
    return {"answer": c.answer, "digest": c.digest, "notes": c.notes}


def _reply(r: Reply) -> dict[str, Json]:
    return {
        "answered": r.answered, "text": r.text, "reasoning": r.reasoning, "finish": r.finish,
        "usage": cast(Json, usage_state(r.usage)), "context_cut": r.context_cut, "notes": r.notes,
    }  # fmt: skip
