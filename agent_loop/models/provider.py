"""The seam inside this room: one attempt at one chat call, whatever answers it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent_loop.errors import FaultError
from agent_loop.models.text import TEXT_CHARS, ReasoningFilter
from agent_loop.ports import BadCall, Cancel, Fingerprint, Json, Message, ToolCall, ToolSpec

FaultKind = Literal["connection", "server", "cut", "stall", "repeat"]


class TransientFault(FaultError):
    """One attempt failed in a way that may pass; becomes `ModelUnavailable` when it does not."""

    def __init__(self, kind: FaultKind, problem: str) -> None:
        super().__init__(problem)
        self.kind = kind


class Never:
    """A `Cancel` that nobody sets."""

    def is_set(self) -> bool:
        return False


class Collected:
    """The text of one attempt as it streams in; stops taking it at `TEXT_CHARS`."""

    def __init__(self, on_text: Callable[[str], None] | None = None) -> None:
        self._on_text = on_text
        self._parts = ReasoningFilter()
        self._thoughts: list[str] = []
        self._chars = 0

    def add(self, text: str) -> None:
        """More of the answer; tags in it are looked for here."""
        self._chars += len(text)
        self._say(self._parts.feed(text))

    def think(self, text: str) -> None:
        """More of what the provider itself calls reasoning."""
        self._chars += len(text)
        self._thoughts.append(text)

    @property
    def full(self) -> bool:
        """Nothing more is wanted; the attempt ends with `length`."""
        return self._chars > TEXT_CHARS

    def finish(self) -> tuple[str, str]:
        """(answer, reasoning); nothing may be added afterwards."""
        self._say(self._parts.finish())
        return self._parts.answer, "".join([*self._thoughts, self._parts.reasoning])

    def _say(self, shown: str) -> None:
        if shown and self._on_text is not None:
            self._on_text(shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Which try this is, and what it must do otherwise than the last one."""

    number: int = 1
    after_repeats: int = 0
    """Tries that ended because one token repeated: each asks for other sampling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a finished attempt says about itself; `None` is unknown, never zero."""

    finish: Literal["stop", "length"] = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    reused_tokens: int = 0
    load_s: float = 0.0
    context_cut: bool = False
    notes: tuple[str, ...] = field(default=())
    tool_calls: tuple[ToolCall, ...] = ()
    bad_calls: tuple[BadCall, ...] = ()
    raw: Json = None
    refused: bool = False


class Provider(Protocol):
    """What each adapter is; `Asking` makes a `ports.Model` of it."""

    @property
    def answered(self) -> str:
        """`provider:model` of what really answers."""
        ...

    @property
    def native_tools(self) -> bool:
        """As `ports.Model.native_tools`."""
        ...

    def preflight(self) -> None: ...

    def once(
        self,
        messages: Sequence[Message],
        into: Collected,
        *,
        attempt: Attempt,
        cancel: Cancel,
        tools: Sequence[ToolSpec] = (),
    ) -> Spent:
        """One attempt.

        Raises:
            TransientFault: worth another try.
            ModelUnavailable: not worth one.
            Cancelled: `cancel` was set.
        """
        ...

    def fingerprint(self) -> Fingerprint: ...

    def close(self) -> None: ...
