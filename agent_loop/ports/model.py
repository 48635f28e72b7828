"""The seam to language models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent_loop.ports.tools import ToolCall, ToolSpec
from agent_loop.ports.words import Cancel, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    """`tool`: what a call gave; only for models that take native tool calls."""
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant's turn: what it wanted done."""
    tool_call_id: str = ""
    """Of a tool's turn: the call that it answers."""
    raw: Json = None
    """Of an assistant's turn: the provider's own content, sent back to it unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one or several model calls cost. Unknown is not zero: see `unmeasured_calls`."""

    calls: int = 0
    unmeasured_calls: int = 0
    """Calls whose server gave no token counts; the sums below leave them out."""
    input_tokens: int = 0
    output_tokens: int = 0
    """Generated tokens, reasoning included."""
    reused_tokens: int = 0
    """Input tokens the server took from its prefix cache, where it says so."""
    load_s: float = 0.0
    """Seconds spent loading weights; never counted against an answer's time limit."""
    seconds: float = 0.0
    """Wall clock of the calls, retries and waits included."""
    retries: int = 0
    cost_usd: float = 0.0
    """US dollars, where the price is known; see `unpriced_calls`."""
    unpriced_calls: int = 0
    """Calls whose price nobody knows; the sum above leaves them out."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            unmeasured_calls=self.unmeasured_calls + other.unmeasured_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reused_tokens=self.reused_tokens + other.reused_tokens,
            load_s=self.load_s + other.load_s,
            seconds=self.seconds + other.seconds,
            retries=self.retries + other.retries,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced_calls=self.unpriced_calls + other.unpriced_calls,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What exactly answered; `None` where a provider does not say."""

    name: str
    """As configured: `provider:model`."""
    answered: str
    """What really answered: differs after a fallback."""
    digest: str | None = None
    quantisation: str | None = None
    template_hash: str | None = None
    server_version: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BadCall:
    """A tool call that the provider itself could not read. It is never executed."""

    id: str
    name: str
    text: str
    """The arguments as the model wrote them."""
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The text one model call gave, reasoning already taken out of it."""

    text: str
    reasoning: str = ""
    finish: Literal["stop", "length"] = "stop"
    """`length`: the answer was cut at its token limit and must not be applied."""
    usage: Usage
    answered: str
    """The model that really answered, `provider:model`."""
    context_cut: bool = False
    """The server processed fewer prompt tokens than were sent."""
    notes: tuple[str, ...] = ()
    """One line per retry or oddity, for the trace."""
    tool_calls: tuple[ToolCall, ...] = ()
    bad_calls: tuple[BadCall, ...] = ()
    raw: Json = None
    """The provider's own content of this turn, for `Message.raw`; `None`: the text is all of it."""
    refused: bool = False
    """The provider says that the model declined to answer."""


class Model(Protocol):
    """One configured model behind one role."""

    @property
    def name(self) -> str:
        """`provider:model`, as configured."""
        ...

    @property
    def native_tools(self) -> bool:
        """Whether it takes tools and calls them itself; else they are described in text.

        Raises:
            ModelUnavailable: a server has to be asked, and it could not be.
        """
        ...

    def preflight(self) -> None:
        """Find out before the first call whether this model can be asked.

        Raises:
            ModelUnavailable: server down or model missing; the message says what to type.
        """
        ...

    def ask(
        self,
        messages: Sequence[Message],
        *,
        on_text: Callable[[str], None] | None = None,
        cancel: Cancel | None = None,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """One chat call, transient faults retried inside and counted in `Reply.usage`.

        `tools` may be given to a model that has `native_tools` only.

        Raises:
            ModelUnavailable: it could not be asked (retries spent, context refused, model missing).
            Cancelled: `cancel` was set; the server-side generation was dropped.
        """
        ...

    def fingerprint(self) -> Fingerprint: ...

    def close(self) -> None: ...
