"""A `ports.Model` over any provider: retries, clean text, honest usage."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agent_loop.errors import Cancelled, ModelUnavailable
from agent_loop.models.prices import Prices
from agent_loop.models.provider import Attempt, Collected, Never, Provider, Spent, TransientFault
from agent_loop.models.text import REASONING_CHARS, TEXT_CHARS, bounded, clean
from agent_loop.ports import (
    Cancel,
    Clock,
    Fingerprint,
    Message,
    Model,
    Reply,
    SystemClock,
    ToolSpec,
    Usage,
)

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
_SLICE_S = 0.1

_CHANCE = random.SystemRandom()


@dataclass(slots=True)
class _Tally:
    """What the attempts of one ask cost so far."""

    attempt: Attempt = field(default_factory=Attempt)
    failed: int = 0
    notes: list[str] = field(default_factory=list)

    def note(self, fault: TransientFault) -> None:
        self.failed += 1
        self.notes.append(f"try {self.attempt.number} failed ({fault.kind}): {fault}")
        self.attempt = replace(
            self.attempt,
            number=self.attempt.number + 1,
            after_repeats=self.attempt.after_repeats + (fault.kind == "repeat"),
        )


class Asking:
    """One configured model behind one role."""

    def __init__(
        self,
        provider: Provider,
        *,
        name: str | None = None,
        retries: int = 3,
        clock: Clock | None = None,
        jitter: Callable[[], float] = _CHANCE.random,
        prices: Prices | None = None,
    ) -> None:
        self._provider = provider
        self._name = name or provider.answered
        self._retries = retries
        self._clock = clock or SystemClock()
        self._jitter = jitter
        self._prices = prices or Prices()

    @property
    def name(self) -> str:
        return self._name

    @property
    def native_tools(self) -> bool:
        return self._provider.native_tools

    def preflight(self) -> None:
        self._provider.preflight()

    def fingerprint(self) -> Fingerprint:
        return replace(self._provider.fingerprint(), name=self._name)

    def close(self) -> None:
        self._provider.close()

    def ask(
        self,
        messages: Sequence[Message],
        *,
        on_text: Callable[[str], None] | None = None,
        cancel: Cancel | None = None,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        sent = [replace(m, content=clean(m.content)) for m in messages]
        cancel = cancel or Never()
        began = self._clock.monotonic()
        tally = _Tally()
        while True:
            into = Collected(on_text)
            try:
                spent = self._provider.once(
                    sent, into, attempt=tally.attempt, cancel=cancel, tools=tools
                )
            except TransientFault as fault:
                self._after(fault, tally, cancel)
                continue
            return self._reply(into, spent, tally, self._clock.monotonic() - began)

    def _after(self, fault: TransientFault, tally: _Tally, cancel: Cancel) -> None:
        tally.note(fault)
        if tally.failed > self._retries:
            tries = "1 try" if tally.failed == 1 else f"{tally.failed} tries"
            raise ModelUnavailable(
                f"{self._name}: {fault} ({tries}, nothing was judged)."
            ) from fault
        wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (tally.failed - 1))
        self._wait(wait * (0.5 + self._jitter()), cancel)

    def _wait(self, seconds: float, cancel: Cancel) -> None:
        for _ in range(max(1, round(seconds / _SLICE_S))):
            if cancel.is_set():
                raise Cancelled(f"{self._name}: cancelled while waiting to try again.")
            self._clock.sleep(_SLICE_S)

    def _reply(self, into: Collected, spent: Spent, tally: _Tally, seconds: float) -> Reply:
        answer, reasoning = into.finish()
        answer = clean(answer).strip("\n")
        notes = [*tally.notes, *spent.notes]
        finish = spent.finish
        if into.full:
            finish = "length"
            notes.append(f"the reply passed {TEXT_CHARS} characters and was cut there")
        known = spent.input_tokens is not None and spent.output_tokens is not None
        usage = Usage(
            calls=tally.failed + 1,
            unmeasured_calls=tally.failed + (not known),
            input_tokens=spent.input_tokens or 0 if known else 0,
            output_tokens=spent.output_tokens or 0 if known else 0,
            reused_tokens=spent.reused_tokens,
            load_s=spent.load_s,
            seconds=seconds,
            retries=tally.failed,
        )
        return Reply(
            text=bounded(answer, TEXT_CHARS),
            reasoning=bounded(clean(reasoning), REASONING_CHARS),
            finish=finish,
            usage=self._prices.priced(usage, self._provider.answered),
            answered=self._provider.answered,
            context_cut=spent.context_cut,
            notes=tuple(clean(note) for note in notes),
            tool_calls=spent.tool_calls,
            bad_calls=spent.bad_calls,
            raw=spent.raw,
            refused=spent.refused,
        )


class _Renamed:
    """A stand-in: keeps the configured name, says in every reply who really answered."""

    def __init__(self, inner: Model, name: str) -> None:
        self._inner = inner
        self.name = name
        self.preflight = inner.preflight
        self.ask = inner.ask
        self.close = inner.close

    @property
    def native_tools(self) -> bool:
        return self._inner.native_tools

    def fingerprint(self) -> Fingerprint:
        return replace(self._inner.fingerprint(), name=self.name)


def renamed(model: Model, name: str) -> Model:
    """The same model under the name that was configured."""
    return _Renamed(model, name)
