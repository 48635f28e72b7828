"""Between our messages and LangChain's; its types go no further than this room."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Never

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from agent_loop.config import ModelSettings
from agent_loop.errors import AgentLoopError
from agent_loop.models.flow import Limits, Wire, pieces
from agent_loop.models.provider import Collected
from agent_loop.ports import Cancel, Message


def to_langchain(messages: Sequence[Message]) -> list[BaseMessage]:
    """The same prompt for a LangChain client."""
    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[m.role](content=m.content) for m in messages]


class Gathered:
    """What the pieces of one answer said besides its text."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}
        """Response metadata of all pieces, later ones over earlier."""
        self.usage: Mapping[str, Any] | None = None

    def take(self, chunks: Iterator[BaseMessage], into: Collected) -> None:
        """Read to the end, or until enough has been read."""
        for chunk in chunks:
            for text, thought in _texts(chunk.content):
                into.think(text) if thought else into.add(text)
            into.think(str(chunk.additional_kwargs.get("reasoning_content") or ""))
            self.said |= chunk.response_metadata
            self._count(getattr(chunk, "usage_metadata", None))
            if into.full:
                return

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
    make: Callable[[Wire], BaseChatModel],
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
        return client.stream(to_langchain(messages))

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
