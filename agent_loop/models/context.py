"""Whether a prompt fits, asked before it is sent and again after it was answered."""

import json
from collections.abc import Sequence

from agent_loop.config import ModelOptions
from agent_loop.errors import ModelUnavailable
from agent_loop.ports import Message, ToolSpec

_FEW = 4
"""Bytes per token of text that packs well; a prompt longer than this says cannot fit."""
_MANY = 3
"""Bytes per token of text that packs badly; a shorter prompt surely fits."""
_ABSURD = 12
"""Bytes per token that no text reaches: so much was sent and not read."""
_ABSURD_FROM_BYTES = 4000
_TURN = 4
"""Tokens around each message."""


class Window:
    """The context window of one model."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        self._name = name
        self._num_ctx = options.num_ctx
        self._real = options.num_ctx
        self._answer = min(options.num_predict, options.num_ctx // 2)

    def allocated(self, tokens: int | None) -> None:
        """What the server says it really gave."""
        if tokens is not None:
            self._real = min(self._num_ctx, tokens)

    def refuse_too_long(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> str:
        """A note where the prompt may not fit, nothing where it surely does.

        Raises:
            ModelUnavailable: it cannot fit; servers would cut it without a word.
        """
        size = _bytes(messages) + sum(
            len(t.name + t.description + json.dumps(t.parameters)) for t in tools
        )
        least = size // _FEW + _TURN * len(messages)
        if least + self._answer > self._real:
            why = "" if self._real == self._num_ctx else " (what the server gave of num_ctx)"
            raise ModelUnavailable(
                f"{self._name}: the prompt has at least {least} tokens, which leaves no room for "
                f"an answer of {self._answer} in a context of {self._real}{why}. Raise num_ctx in "
                "model_options or lower max_context_chars."
            )
        if size // _MANY + self._answer > self._real:
            return f"the prompt (about {least} tokens) may not fit the context of {self._real}"
        return ""

    def was_cut(self, messages: Sequence[Message], counted: int | None) -> str:
        """Why the prompt that was counted cannot be the whole one that was sent, or nothing."""
        if counted is None:
            return ""
        if counted >= self._real - 1:
            return f"the server filled its whole context ({counted} tokens): the prompt was cut"
        return self.absurd(messages, counted)

    def absurd(self, messages: Sequence[Message], counted: int | None) -> str:
        """The same, for servers whose context is not known."""
        size = _bytes(messages)
        if counted is None:
            return ""
        if size >= _ABSURD_FROM_BYTES and counted * _ABSURD < size:
            return f"the server read {counted} tokens of {size} bytes sent: the prompt was cut"
        return ""


def _bytes(messages: Sequence[Message]) -> int:
    calls = sum(len(json.dumps(c.arguments)) for m in messages for c in m.tool_calls)
    return calls + sum(len(m.content.encode("utf-8", "replace")) for m in messages)
