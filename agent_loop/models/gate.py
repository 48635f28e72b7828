"""Several runs, one server with room for one model: calls for the loaded model go first.

Weights take seconds to minutes to load, and two models that take turns are loaded at every turn.
Here calls wait until their model's turn: those for the loaded one pass those for another, but no
call is passed more than `most_passed` times.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from agent_loop.errors import Cancelled
from agent_loop.models.provider import Never
from agent_loop.ports import Cancel, Fingerprint, Message, Model, Reply, ToolSpec

MOST_PASSED = 16
_SLICE_S = 0.05


@dataclass(slots=True, eq=False)
class _Waiting:
    key: str
    passed: int = 0
    """Calls that came later and were let in before this one."""


class ModelGate:
    """The calls of one server. Made once for all models of it."""

    def __init__(self, *, slots: int = 1, most_passed: int = MOST_PASSED) -> None:
        """`slots`: calls of one model the server answers at a time."""
        self._slots = slots
        self._most_passed = most_passed
        self._loaded = ""
        self._running = 0
        self._waiting: list[_Waiting] = []
        self._change = threading.Condition()

    @contextmanager
    def turn(self, key: str, cancel: Cancel) -> Iterator[None]:
        """Wait for this model's turn and hold it for the block.

        Raises:
            Cancelled: `cancel` was set while waiting.
        """
        self._enter(key, cancel)
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._change.notify_all()

    def _enter(self, key: str, cancel: Cancel) -> None:
        mine = _Waiting(key)
        with self._change:
            self._waiting.append(mine)
            try:
                while self._next() is not mine:
                    _refuse_cancelled(cancel)
                    self._change.wait(_SLICE_S)
            except BaseException:
                self._waiting.remove(mine)
                self._change.notify_all()
                raise
            at = self._waiting.index(mine)
            for earlier in self._waiting[:at]:
                earlier.passed += 1
            del self._waiting[at]
            self._loaded = key
            self._running += 1
            self._change.notify_all()

    def _next(self) -> _Waiting | None:
        """Who may enter now: one for the loaded model, unless somebody has waited long enough."""
        if not self._waiting or self._running >= self._slots:
            return None
        first = self._waiting[0]
        if first.passed < self._most_passed:
            for one in self._waiting:
                if one.key == self._loaded:
                    return one
        if first.key != self._loaded and self._running:
            return None  # it loads its model once the calls of this one have ended
        return first


def _refuse_cancelled(cancel: Cancel) -> None:
    if cancel.is_set():
        raise Cancelled("cancelled while waiting for the model's turn.")


class Gated:
    """A model whose calls wait for their turn."""

    def __init__(self, inner: Model, gate: ModelGate, key: str) -> None:
        self._inner = inner
        self._gate = gate
        self._key = key
        self.preflight = inner.preflight
        self.close = inner.close

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def native_tools(self) -> bool:
        return self._inner.native_tools

    def fingerprint(self) -> Fingerprint:
        return self._inner.fingerprint()

    def ask(
        self,
        messages: Sequence[Message],
        *,
        on_text: Callable[[str], None] | None = None,
        cancel: Cancel | None = None,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        with self._gate.turn(self._key, cancel or Never()):
            return self._inner.ask(messages, on_text=on_text, cancel=cancel, tools=tools)
