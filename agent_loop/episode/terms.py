"""What an episode is given, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent_loop.errors import AgentLoopError
from agent_loop.ports import Cancel, Clock, Events, Json, Message, Model, Toolbox, Usage

StopReason = Literal[
    "submitted",
    "step_limit",
    "token_limit",
    "cost_limit",
    "time_limit",
    "model_refusal",
    "loop_detected",
    "error",
]
Protocol = Literal["native", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeLimits:
    """Where an episode ends, whoever is right. `None`: no limit."""

    max_steps: int = 40
    """Model calls, those for a summary included."""
    tokens: int | None = None
    """Input and output together; a rough count where the server gives none."""
    cost_usd: float | None = None
    """US dollars; a call of unknown price ends the episode, because it may cost more."""
    seconds: float = 1800.0
    """Wall clock; a model or tool call in hand is cut off there."""
    call_s: float = 120.0
    """One tool call."""
    context_tokens: int = 7_000
    """What a prompt may hold. Near it the model writes a summary and a fresh history begins."""
    observation_chars: int = 8_000
    """What a model sees of one observation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything around one episode."""

    model: Model
    toolbox: Toolbox
    opening: tuple[Message, ...]
    """System and user; every history begins with them."""
    limits: EpisodeLimits
    protocol: Literal["auto", "native", "text"] = "auto"
    clock: Clock
    events: Events
    cancel: Cancel
    head: Mapping[str, Json]
    """In front of every event: node, role, lap and sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """How an episode went. What it did to the files, only `Toolbox.tree` knows."""

    reason: StopReason
    detail: str
    """One line for people."""
    steps: int
    usage: Usage
    guessed_tokens: int
    """Rough tokens of calls whose server gave no counts."""
    seconds: float
    protocol: Protocol
    calls: int
    """Tool calls that were run."""
    native_calls: int
    recovered_calls: int
    """Calls that stood alone in the text although the model had native tools."""
    no_calls: int
    """Answers that held no call that could be run."""
    replies: int
    """Finished model calls, those for a summary included."""
    answered: str
    """The model that really answered last; empty: none did."""
    context_cuts: int
    histories: tuple[tuple[Message, ...], ...]
    """Every message list that was sent, in order; each only ever grew at its end."""
    fault: AgentLoopError | None = None
    """Behind `error`: the world around the model failed, or somebody stopped it."""
