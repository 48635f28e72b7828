"""ATIF, the Agent Trajectory Interchange Format of the Harbor project, version 1.7."""

from collections.abc import Mapping, Sequence
from typing import cast

from agent_loop import __version__
from agent_loop.ports import Json
from agent_loop.trajectories.story import Event, Story, Turn, counted, number_of, text_of

ATIF_VERSION = "ATIF-v1.7"
_TOLD = ("verdict", "candidate_refused", "repeated", "sample_taken", "episode_ended", "fault")
"""Events that are steps of the system's own: what judged, and why something ended."""


def atif(story: Story) -> dict[str, Json]:
    """The whole run: every role's turns, what tools gave, and what the check said."""
    steps: list[dict[str, Json]] = []
    for one in story.told:
        if isinstance(one, Turn):
            steps += [*_prompt(one), _agent(one)]
        elif one.get("kind") in _TOLD:
            steps.append(_system(one))
    numbered = [cast(Json, {"step_id": n, **step}) for n, step in enumerate(steps, start=1)]
    models = [text_of(turn.replied, "answered") for turn in story.turns if turn.replied]
    agent: dict[str, Json] = {"name": "agent-loop", "version": __version__}
    if models:
        agent["model_name"] = _commonest(models)
    return {
        "schema_version": ATIF_VERSION,
        "session_id": story.thread,
        "agent": agent,
        "steps": numbered,
        "final_metrics": _totals(story.turns, len(numbered)),
        "extra": {
            "task": story.record.get("task"),
            "outcome": story.record.get("outcome"),
            "reason": story.record.get("reason"),
        },
    }


def _prompt(turn: Turn) -> list[dict[str, Json]]:
    """What was new in the prompt; what a tool gave stands with the turn that called it."""
    extra: dict[str, Json] = {"place": turn.place}
    return [
        {
            "timestamp": turn.asked.get("at"),
            "source": "system" if message.get("role") == "system" else "user",
            "message": text_of(message, "content"),
            "extra": extra,
        }
        for message in turn.new
        if turn.afresh and message.get("role") in ("system", "user")
    ]


def _agent(turn: Turn) -> dict[str, Json]:
    step: dict[str, Json] = {
        "timestamp": turn.replied.get("at") or turn.asked.get("at"),
        "source": "agent",
        "model_name": text_of(turn.replied, "answered") or text_of(turn.asked, "model"),
        "message": text_of(turn.replied, "text"),
    }
    if turn.replied.get("reasoning"):
        step["reasoning_content"] = turn.replied["reasoning"]
    called = [s for s in turn.steps if isinstance(s.get("call"), Mapping)]
    if called:
        step["tool_calls"] = [_call(cast(Event, s["call"])) for s in called]
    if turn.steps:
        step["observation"] = {"results": [_result(s) for s in turn.steps]}
    if (usage := counted(turn)) is not None:
        step["metrics"] = _metrics(usage)
    step["extra"] = {"place": turn.place}
    return step


def _call(call: Event) -> Json:
    return {
        "tool_call_id": text_of(call, "id"),
        "function_name": text_of(call, "name"),
        "arguments": call.get("arguments"),
    }


def _result(step: Event) -> Json:
    observation = step.get("observation")
    text = text_of(observation, "text") if isinstance(observation, Mapping) else ""
    call = step.get("call")
    if not isinstance(call, Mapping):
        return {"content": text}
    return {"source_call_id": text_of(call, "id"), "content": text}


def _metrics(usage: Event) -> dict[str, Json]:
    metrics: dict[str, Json] = {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "cached_tokens": usage.get("reused_tokens"),
    }
    # A price that nobody knows is left out: 0 would say that it was free.
    if not usage.get("unpriced_calls"):
        metrics["cost_usd"] = usage.get("cost_usd", 0.0)
    return metrics


def _system(event: Event) -> dict[str, Json]:
    kind = text_of(event, "kind")
    why = text_of(event, "reason") or text_of(event, "problem")
    passed = "" if "passed" not in event else "passed: " if event["passed"] else "not passed: "
    left_out = ("v", "n", "at", "thread", "kind", "feedback", "output", "executed")
    return {
        "timestamp": event.get("at"),
        "source": "system",
        "message": f"{kind}: {passed}{why}",
        "extra": {key: value for key, value in event.items() if key not in left_out},
    }


def _totals(turns: Sequence[Turn], steps: int) -> dict[str, Json]:
    usages = [counted(turn) for turn in turns if turn.replied]
    known = [usage for usage in usages if usage is not None]
    totals: dict[str, Json] = {"total_steps": steps}
    if len(known) == len(usages):
        totals |= {
            "total_prompt_tokens": int(sum(number_of(u, "input_tokens") for u in known)),
            "total_completion_tokens": int(sum(number_of(u, "output_tokens") for u in known)),
            "total_cached_tokens": int(sum(number_of(u, "reused_tokens") for u in known)),
        }
        if not any(usage.get("unpriced_calls") for usage in known):
            totals["total_cost_usd"] = round(sum(number_of(u, "cost_usd") for u in known), 6)
    return totals


def _commonest(names: Sequence[str]) -> str:
    return max(dict.fromkeys(names), key=names.count)
