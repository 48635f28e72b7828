"""One episode's events, and its model calls with theirs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import cast

from agent_loop.episode.terms import Episode, Setting
from agent_loop.ports import Cancel, Json, Message, Observation, Reply, ToolCall, ToolSpec
from agent_loop.prompts import cleaned


class Wire:
    """Says everything that happens to the trace."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._told: tuple[Message, ...] = ()

    def ask(
        self, messages: Sequence[Message], step: int, *, tools: Sequence[ToolSpec], cancel: Cancel
    ) -> Reply:
        """One model call.

        Its event holds only what the ask before did not: else a trace would grow with the square
        of the steps.
        """
        setting, kept = self._setting, self._kept(messages)
        node = setting.head.get("node")
        self._emit(
            "model_asked",
            {
                "step": step,
                "model": setting.model.name,
                "kept": kept,
                "messages": [message_fields(m) for m in messages[kept:]],
                "tools": [tool.name for tool in tools],
            },
        )
        self._told = tuple(messages)
        reply = setting.model.ask(
            messages,
            on_text=lambda text: setting.events.emit("model_text", {"node": node, "text": text}),
            cancel=cancel,
            tools=tools,
        )
        reply = replace(reply, text=cleaned(reply.text))
        self._emit("model_replied", {"step": step, **reply_fields(reply)})
        return reply

    def told_start(self, protocol: str, tools: Sequence[ToolSpec]) -> None:
        limits = cast(Json, asdict(self._setting.limits))
        names = [tool.name for tool in tools]
        self._emit("episode_started", {"protocol": protocol, "tools": names, "limits": limits})

    def told_step(
        self, step: int, call: ToolCall | None, seen: Observation, *, recovered: bool = False
    ) -> None:
        self._emit(
            "episode_step",
            {
                "step": step,
                "seconds": round(seen.seconds, 4),
                "call": call_fields(call) if call else None,
                "recovered": recovered,
                "observation": {
                    "text": cleaned(seen.text),
                    "ok": seen.ok,
                    "cut": seen.cut,
                    "submitted": seen.submitted,
                },
            },
        )

    def told_summary(self, step: int, text: str) -> None:
        self._emit("episode_summary", {"step": step, "text": text})

    def told_end(self, episode: Episode) -> None:
        self._emit(
            "episode_ended",
            {
                "reason": episode.reason,
                "detail": cleaned(episode.detail),
                "steps": episode.steps,
                "calls": episode.calls,
                "native_calls": episode.native_calls,
                "recovered_calls": episode.recovered_calls,
                "no_calls": episode.no_calls,
                "protocol": episode.protocol,
                "histories": len(episode.histories),
                "seconds": round(episode.seconds, 4),
                "usage": cast(Json, asdict(episode.usage)),
            },
        )

    def _kept(self, messages: Sequence[Message]) -> int:
        """How many messages at the front the ask before had too."""
        kept = 0
        for old, new in zip(self._told, messages, strict=False):
            if old is not new and old != new:
                break
            kept += 1
        return kept

    def _emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        self._setting.events.emit(kind, {**self._setting.head, **fields})


def message_fields(message: Message) -> dict[str, Json]:
    """A message as JSON; what an event of the graph holds of one, and more where there is more."""
    fields: dict[str, Json] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = [call_fields(call) for call in message.tool_calls]
    if message.tool_call_id:
        fields["tool_call_id"] = message.tool_call_id
    return fields


def call_fields(call: ToolCall) -> dict[str, Json]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def reply_fields(reply: Reply) -> dict[str, Json]:
    """A reply as JSON, whole enough for a replay."""
    return {
        "answered": reply.answered, "text": reply.text, "reasoning": reply.reasoning,
        "finish": reply.finish, "usage": cast(Json, asdict(reply.usage)),
        "context_cut": reply.context_cut, "notes": reply.notes,
        "tool_calls": [call_fields(call) for call in reply.tool_calls],
        "bad_calls": [cast(Json, asdict(call)) for call in reply.bad_calls],
        "raw": reply.raw, "refused": reply.refused,
    }  # fmt: skip
