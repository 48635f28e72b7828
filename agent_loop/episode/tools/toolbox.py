"""What both toolsets share: one call at a time, every fault of the model an observation."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_loop.episode.tools.container import Container, Ran, Restarted
from agent_loop.episode.tools.harvest import Harvest
from agent_loop.episode.tools.shown import cut, visible
from agent_loop.episode.tools.specs import BadCall, arguments
from agent_loop.ports import Cancel, Clock, Observation, ToolCall, ToolSpec

MOST_CHARS = 12_000
COMMAND_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What one tool gave."""

    text: str
    ok: bool = True
    submitted: bool = False
    cut: bool = False


class Tools(ABC):
    """`ports.Toolbox` over one container."""

    def __init__(
        self,
        container: Container,
        clock: Clock,
        *,
        shell: str = "/bin/bash",
        most_chars: int = MOST_CHARS,
        command_s: float = COMMAND_S,
    ) -> None:
        """`command_s`: longest time of one command, whatever the caller's deadline is."""
        self.container = container
        self.shell = shell
        self.most_chars = most_chars
        self.left_out: tuple[str, ...] = ()
        self._clock = clock
        self._command_s = command_s
        self._deadline = 0.0
        self._cancel: Cancel | None = None
        self._one = threading.Lock()

    @property
    @abstractmethod
    def specs(self) -> tuple[ToolSpec, ...]: ...

    @abstractmethod
    def do(self, name: str, given: Mapping[str, Any]) -> Done:
        """One call whose arguments fit.

        Raises:
            BadCall: it cannot be done; the text says why.
        """

    # --- ports.Toolbox ---

    def call(self, call: ToolCall, *, deadline: float, cancel: Cancel | None = None) -> Observation:
        with self._one:
            began = self._clock.monotonic()
            self._deadline, self._cancel = deadline, cancel
            done = self._tried(call)
            text, shorter = cut(visible(done.text), self.most_chars + 200)
            return Observation(
                text=text,
                ok=done.ok,
                submitted=done.submitted,
                cut=done.cut or shorter,
                seconds=self._clock.monotonic() - began,
            )

    def tree(self) -> Mapping[str, bytes]:
        return self.harvest().files

    def close(self) -> None:
        self.container.close()

    # --- for toolsets and doors ---

    def harvest(self) -> Harvest:
        """As `tree`, with what is executable and what was left out."""
        with self._one:
            found = self.container.tree()
            self.left_out = found.left_out
            return found

    def run(self, argv: list[str], *, most_s: float | None = None) -> Ran:
        """A command within the call's deadline."""
        left_s = self._deadline - self._clock.monotonic()
        wall_s = min(left_s, self._command_s if most_s is None else most_s)
        return self.container.run(argv, wall_s=wall_s, cancel=self._cancel)

    # --- inner ---

    def _tried(self, call: ToolCall) -> Done:
        try:
            given = arguments(call, self.specs)
            if self._deadline <= self._clock.monotonic():
                return Done(text="There is no time left.", ok=False)
            return self.do(call.name, given)
        except BadCall as problem:
            return Done(text=str(problem), ok=False)
        except Restarted as problem:
            return Done(text=_RESTARTED.format(problem=problem), ok=False)


_RESTARTED = (
    "The container ended while this ran: {problem}. A fresh one was started: your files are kept, "
    "/tmp is empty."
)
