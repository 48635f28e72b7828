"""Between our messages and LangChain's; its types go no further than this room."""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Never

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCallChunk,
    ToolMessage,
)
from langchain_core.runnables import Runnable
from langsmith import tracing_context

from agent_loop.config import ModelSettings
from agent_loop.errors import AgentLoopError
from agent_loop.models.flow import Limits, Wire, pieces
from agent_loop.models.provider import Collected
from agent_loop.ports import BadCall, Cancel, Json, Message, ToolCall, ToolSpec

_RAW = "langchain"
"""Whose form `Message.raw` has: another adapter's is not understood here."""


Client = Runnable[Any, BaseMessage]


def to_langchain(messages: Sequence[Message]) -> list[BaseMessage]:
    """The same prompt for a LangChain client."""
    return [_to_langchain(m) for m in messages]


def _to_langchain(message: Message) -> BaseMessage:
    match message.role:
        case "system":
            return SystemMessage(content=message.content)
        case "user":
            return HumanMessage(content=message.content)
        case "tool":
            return ToolMessage(content=message.content, tool_call_id=message.tool_call_id)
    raw = message.raw
    if isinstance(raw, Mapping) and raw.get("form") == _RAW:
        fields: dict[str, Any] = {key: raw[key] for key in raw if key != "form"}
        return AIMessage(**fields)
    calls = [{"name": c.name, "args": dict(c.arguments), "id": c.id} for c in message.tool_calls]
    return AIMessage(content=message.content, tool_calls=calls)


def tool_schemas(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """The tools in the form that every client's `bind_tools` takes."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": json.loads(json.dumps(tool.parameters)),
            },
        }
        for tool in tools
    ]


def offering(client: BaseChatModel, tools: Sequence[ToolSpec]) -> Client:
    """The client, with the tools where there are any."""
    return client.bind_tools(tool_schemas(tools)) if tools else client


class Gathered:
    """What the pieces of one answer said besides its text."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}
        """Response metadata of all pieces, later ones over earlier."""
        self.usage: Mapping[str, Any] | None = None
        self._chunks: list[AIMessageChunk] = []

    def take(self, chunks: Iterator[BaseMessage], into: Collected) -> None:
        """Read to the end, or until enough has been read."""
        for chunk in chunks:
            for text, thought in _texts(chunk.content):
                into.think(text) if thought else into.add(text)
            into.think(str(chunk.additional_kwargs.get("reasoning_content") or ""))
            self.said |= chunk.response_metadata
            if isinstance(chunk, AIMessageChunk):
                self._chunks.append(chunk)
            self._count(getattr(chunk, "usage_metadata", None))
            if into.full:
                return

    def whole(self) -> AIMessageChunk | None:
        """All pieces as one message."""
        return self._chunks[0] + self._chunks[1:] if self._chunks else None

    def _count(self, usage: Mapping[str, Any] | None) -> None:
        """Counts may come in parts (input first, output last): the sums count."""
        if usage is None:
            return
        known = self.usage or {}
        details = usage.get("input_token_details") or {}
        self.usage = {
            "input_tokens": known.get("input_tokens", 0) + (usage.get("input_tokens") or 0),
            "output_tokens": known.get("output_tokens", 0) + (usage.get("output_tokens") or 0),
            "reused": known.get("reused", 0) + (details.get("cache_read") or 0),
        }

    def tokens(self, key: str) -> int | None:
        """A count, or `None` where the server gave none: no prompt has 0 tokens."""
        if self.usage is None or not self.usage["input_tokens"]:
            return None
        return int(self.usage[key])


class Called:
    """The tool calls of an answer, and the answer as it has to be sent back."""

    def __init__(self, gathered: Gathered) -> None:
        whole = gathered.whole()
        self.calls: tuple[ToolCall, ...] = ()
        self.bad: tuple[BadCall, ...] = ()
        self.raw: Json = None
        self.refused = False
        if whole is None:
            return
        self.refused = bool(whole.additional_kwargs.get("refusal"))
        read = [_call(chunk) for chunk in whole.tool_call_chunks]
        self.calls = tuple(one for one in read if isinstance(one, ToolCall))
        self.bad = tuple(one for one in read if isinstance(one, BadCall))
        self.raw = _plain(
            {
                "form": _RAW,
                "content": whole.content,
                "additional_kwargs": whole.additional_kwargs,
                "tool_calls": [
                    {"name": c.name, "args": c.arguments, "id": c.id} for c in self.calls
                ],
                "invalid_tool_calls": [
                    {"name": c.name, "args": c.text, "id": c.id, "error": None} for c in self.bad
                ],
            }
        )


def _call(chunk: ToolCallChunk) -> ToolCall | BadCall:
    """Read strictly: the library closes what a model left open, so half a file could be written."""
    name, text = str(chunk["name"] or ""), str(chunk["args"] or "{}")
    id_ = str(chunk["id"] or f"call-{secrets.token_hex(6)}")
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        return BadCall(id=id_, name=name, text=text, problem=f"its arguments are not JSON: {error}")
    if not isinstance(arguments, dict):
        return BadCall(id=id_, name=name, text=text, problem="its arguments are no JSON object")
    return ToolCall(id=id_, name=name, arguments=arguments)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON of a provider
    """A copy in plain JSON types: what a trace can hold and give back the same."""
    return json.loads(json.dumps(value, default=str))


def _texts(content: str | list[str | dict[Any, Any]]) -> Iterator[tuple[str, bool]]:
    """(text, is it reasoning) of a message's content, which may come in typed blocks."""
    if isinstance(content, str):
        yield content, False
        return
    for block in content:
        if isinstance(block, str):
            yield block, False
        elif block.get("type") in {"thinking", "reasoning"}:
            yield str(block.get("thinking") or block.get("reasoning") or ""), True
        elif block.get("type") == "text":
            yield str(block.get("text") or ""), False


def read_answer(
    make: Callable[[Wire], Client],
    messages: Sequence[Message],
    into: Collected,
    *,
    settings: ModelSettings,
    cancel: Cancel,
    translate: Callable[[Exception, Collected], Never],
) -> Gathered:
    """Ask and read to the end, within the settings' limits; the sockets are cut in any case.

    Raises:
        AgentLoopError: from the limits, or from `translate`, which gets every other error.
    """
    wire = Wire()
    client = make(wire)
    limits = Limits(read_s=settings.read_s, total_s=settings.total_s)

    def read() -> Iterator[BaseMessage]:
        # Whatever the environment says: prompts go to the model alone. Said in the thread that
        # reads, which knows nothing of what was said around the run.
        with tracing_context(enabled=False):
            yield from client.stream(to_langchain(messages))

    gathered = Gathered()
    stream = pieces(read, wire=wire, limits=limits, cancel=cancel, who=settings.name)
    try:
        gathered.take(stream, into)
    except AgentLoopError:
        raise
    except Exception as error:
        translate(error, into)
    finally:
        stream.close()
    return gathered
