"""Replies from a list or a YAML file: for tests, demos and runs without any model."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from agent_loop.errors import Cancelled, ModelUnavailable
from agent_loop.models.asking import Asking
from agent_loop.models.prices import Prices
from agent_loop.models.provider import Attempt, Collected, FaultKind, Spent, TransientFault
from agent_loop.ports import (
    BadCall,
    Cancel,
    Clock,
    Fingerprint,
    Message,
    Reply,
    SystemClock,
    ToolCall,
    ToolSpec,
)

Fault = FaultKind | Literal["unavailable"]
FAULTS: tuple[Fault, ...] = (*get_args(FaultKind), "unavailable")
_SLICE_S = 0.05
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One scripted reply."""

    text: str = ""
    reasoning: str = ""
    finish: Literal["stop", "length"] = "stop"
    delay_s: float = 0.0
    """Waited before the first word, on the run's clock; a cancel ends it."""
    fault: Fault | None = None
    """Instead of a reply: `unavailable` stops the run, every other kind is tried again with
    the next line."""
    context_cut: bool = False
    usage: bool = True
    """`False`: a server that gives no token counts."""
    tool_calls: tuple[ToolCall | BadCall, ...] = ()
    """Calls without an id get one: `call-<reply>-<place>`."""
    refused: bool = False
    """The provider says that the model declined."""


class Script:
    """Lines in order, handed out once each; several roles may share one."""

    def __init__(self, where: str, lines: Iterable[str | Line], *, answered: int = 0) -> None:
        """`answered` replies were given before (a resumed run) and are passed over."""
        self._where = where
        self._lines = [Line(text=x) if isinstance(x, str) else x for x in lines]
        self._next = self._after(answered)
        self._lock = threading.Lock()

    def take(self) -> Line:
        """The next line.

        Raises:
            ModelUnavailable: there is none; says how many there were.
        """
        with self._lock:
            if self._next >= len(self._lines):
                raise ModelUnavailable(
                    f"{self._where}: the script has {len(self._lines)} replies and one more was "
                    "asked for. Add a reply to it, or lower the number of laps."
                )
            self._next += 1
            return _numbered(self._lines[self._next - 1], self._next)

    def _after(self, answered: int) -> int:
        at = 0
        while answered and at < len(self._lines):
            answered -= self._lines[at].fault is None
            at += 1
        return at


def _size(call: ToolCall | BadCall) -> int:
    return len(call.name) + len(str(call.arguments) if isinstance(call, ToolCall) else call.text)


def _numbered(line: Line, reply: int) -> Line:
    calls = tuple(
        call if call.id else replace(call, id=f"call-{reply}-{place}")
        for place, call in enumerate(line.tool_calls, start=1)
    )
    return replace(line, tool_calls=calls)


class _ScriptedProvider:
    native_tools = True

    def __init__(self, name: str, script: Script, clock: Clock) -> None:
        self.answered = name
        self._script = script
        self._clock = clock

    def preflight(self) -> None:
        """Nothing to look at: the script was read when it was made."""

    def once(
        self,
        messages: Sequence[Message],
        into: Collected,
        *,
        attempt: Attempt,
        cancel: Cancel,
        tools: Sequence[ToolSpec] = (),
    ) -> Spent:
        line = self._script.take()
        self._wait(line.delay_s, cancel)
        if line.fault == "unavailable":
            raise ModelUnavailable(f"{self.answered}: unavailable, says the script.")
        if line.fault is not None:
            raise TransientFault(line.fault, f"{line.fault} fault, says the script")
        if line.tool_calls and not tools:
            raise ModelUnavailable(
                f"{self.answered}: the script calls a tool, but no tools were offered here. Say "
                "worker_mode: tools, or take tool_calls out of the script."
            )
        into.think(line.reasoning)
        for piece in line.text.splitlines(keepends=True):
            into.add(piece)
        sent = sum(len(m.content) for m in messages)
        got = len(line.text) + len(line.reasoning) + sum(map(_size, line.tool_calls))
        return Spent(
            finish=line.finish,
            input_tokens=-(-sent // _CHARS_PER_TOKEN) if line.usage else None,
            output_tokens=-(-got // _CHARS_PER_TOKEN) if line.usage else None,
            context_cut=line.context_cut,
            tool_calls=tuple(c for c in line.tool_calls if isinstance(c, ToolCall)),
            bad_calls=tuple(c for c in line.tool_calls if isinstance(c, BadCall)),
            refused=line.refused,
        )

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name=self.answered, answered=self.answered)

    def close(self) -> None:
        """Nothing is held."""

    def _wait(self, seconds: float, cancel: Cancel) -> None:
        for _ in range(round(seconds / _SLICE_S)):
            if cancel.is_set():
                break
            self._clock.sleep(_SLICE_S)
        if cancel.is_set():
            raise Cancelled(f"{self.answered}: cancelled.")


class ScriptedModel:
    """A `Model` that says its lines in order and remembers what it was asked."""

    def __init__(
        self,
        name: str = "scripted:test",
        replies: Iterable[str | Line] | Script = (),
        *,
        clock: Clock | None = None,
        retries: int = 3,
        prices: Prices | None = None,
    ) -> None:
        clock = clock or SystemClock()
        script = replies if isinstance(replies, Script) else Script(name, replies)
        provider = _ScriptedProvider(name, script, clock)
        self._inner = Asking(provider, retries=retries, clock=clock, prices=prices)
        self.asked: list[tuple[Message, ...]] = []
        """Every prompt, in order."""

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def native_tools(self) -> bool:
        return self._inner.native_tools

    def preflight(self) -> None:
        self._inner.preflight()

    def ask(
        self,
        messages: Sequence[Message],
        *,
        on_text: Callable[[str], None] | None = None,
        cancel: Cancel | None = None,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        self.asked.append(tuple(messages))
        return self._inner.ask(messages, on_text=on_text, cancel=cancel, tools=tools)

    def fingerprint(self) -> Fingerprint:
        return self._inner.fingerprint()

    def close(self) -> None:
        self._inner.close()
