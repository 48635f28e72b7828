"""`.traj.json` as mini-swe-agent 2 writes it (its `trajectory_format` mini-swe-agent-1.1)."""

import json
from collections.abc import Mapping, Sequence

from agent_loop import __version__
from agent_loop.ports import Json
from agent_loop.trajectories.story import Event, Story, Turn, counted, maps, number_of, text_of

TRAJ_FORMAT = "mini-swe-agent-1.1"
_EXITS = {
    "submitted": "Submitted",
    "step_limit": "LimitsExceeded",
    "token_limit": "LimitsExceeded",
    "cost_limit": "LimitsExceeded",
    "time_limit": "TimeExceeded",
}
"""Its words for how an agent ended; what it has no word for keeps ours."""


def traj(story: Story) -> dict[str, Json]:
    """The worker's conversation of the last lap: that format holds one agent's, not a run's."""
    turns, reason = _last(story)
    exit_status = _EXITS.get(reason, reason or "Submitted")
    answer = text_of(story.record, "answer")
    usages = [counted(turn) for turn in turns]
    cost = [number_of(usage, "cost_usd") for usage in usages if usage is not None]
    unknown = any(u is None or u.get("unpriced_calls") for u in usages)
    last: dict[str, Json] = {
        "role": "exit",
        "content": answer,
        "extra": {"exit_status": exit_status, "submission": answer},
    }
    return {
        "info": {
            "model_stats": {
                "instance_cost": None if unknown else round(sum(cost), 6),
                "api_calls": len(turns),
            },
            "config": {"agent": {}, "agent_type": "agent_loop.episode"},
            "mini_version": f"exported by agent-loop {__version__}",
            "exit_status": exit_status,
            "submission": answer,
            "thread": story.thread,
            "outcome": story.record.get("outcome"),
        },
        "messages": [*_messages(turns), last],
        "trajectory_format": TRAJ_FORMAT,
    }


def _last(story: Story) -> tuple[list[Turn], str]:
    """(turns of the worker's last lap, how its episode ended)."""
    nodes = ("worker", "escalate")
    turns = [turn for turn in story.turns if turn.asked.get("node") in nodes]
    if not turns:
        return [], ""
    key = _key(turns[-1].asked)
    ended = [e for e in story.events if e.get("kind") == "episode_ended" and _key(e) == key]
    reason = text_of(ended[-1], "reason") if ended else ""
    return [turn for turn in turns if _key(turn.asked) == key], reason


def _key(event: Event) -> tuple[Json, ...]:
    return (event.get("node"), event.get("lap"), event.get("sample"))


def _messages(turns: Sequence[Turn]) -> list[Json]:
    found: list[Json] = []
    for turn in turns:
        # The model's own turns stand in the replies, whole; here they would come twice.
        found += [_shown(m) for m in turn.new if turn.afresh or m.get("role") != "assistant"]
        if turn.replied:
            found.append(_said(turn))
    if turns and turns[-1].steps:
        found += [
            {"role": "tool", "content": _text(step), "tool_call_id": _id(step)}
            for step in turns[-1].steps
        ]
    return found


def _shown(message: Event) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "role": text_of(message, "role"),
        "content": text_of(message, "content"),
    }
    if message.get("tool_call_id"):
        fields["tool_call_id"] = message["tool_call_id"]
    return fields


def _said(turn: Turn) -> dict[str, Json]:
    calls = maps(turn.replied.get("tool_calls"))
    usage = counted(turn)
    actions: list[Json] = [
        {"command": _command(step.get("call")), "tool_call_id": _id(step)}
        for step in turn.steps
        if isinstance(step.get("call"), Mapping)
    ]
    fields: dict[str, Json] = {
        "role": "assistant",
        "content": text_of(turn.replied, "text"),
        "extra": {
            "actions": actions,
            "timestamp": turn.replied.get("at"),
            "cost": usage.get("cost_usd") if usage is not None else None,
        },
    }
    if calls:
        fields["tool_calls"] = [
            {
                "id": text_of(call, "id"),
                "type": "function",
                "function": {
                    "name": text_of(call, "name"),
                    "arguments": json.dumps(call.get("arguments"), ensure_ascii=False),
                },
            }
            for call in calls
        ]
    if turn.replied.get("reasoning"):
        fields["reasoning_content"] = turn.replied["reasoning"]
    return fields


def _command(call: Json) -> str:
    """What a shell was given; another tool's call as JSON."""
    if not isinstance(call, Mapping):
        return ""
    arguments = call.get("arguments")
    if call.get("name") == "bash" and isinstance(arguments, Mapping):
        return text_of(arguments, "command")
    return json.dumps({"tool": call.get("name"), "arguments": arguments}, ensure_ascii=False)


def _id(step: Event) -> str:
    call = step.get("call")
    return text_of(call, "id") if isinstance(call, Mapping) else ""


def _text(step: Event) -> str:
    observation = step.get("observation")
    return text_of(observation, "text") if isinstance(observation, Mapping) else ""
