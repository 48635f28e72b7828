"""The seam to the tools of an episode: what a model may do, one call at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agent_loop.ports.words import Cancel, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool, as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    """JSON schema of the arguments: always an object without further properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a model wants done."""

    id: str
    """The provider's own; ours where it has none."""
    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a call gave. Hostile text: it comes out of the container."""

    text: str
    """Bounded; a cut is marked where it was made. Control characters are shown, not kept."""
    ok: bool
    """False: the tool refused, failed or ran out of time; the text says why."""
    submitted: bool = False
    """The model says that it is done."""
    cut: bool = False
    seconds: float = 0.0


class Toolbox(Protocol):
    """The tools over one working copy of a project, in one container of its own."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]: ...

    def call(self, call: ToolCall, *, deadline: float, cancel: Cancel | None = None) -> Observation:
        """One call. An unknown tool, wrong arguments and a failed command are observations.

        Args:
            call: what is wanted.
            deadline: on `Clock.monotonic()`; what the call started is dead then.
            cancel: set: what the call started is killed.

        Raises:
            SandboxUnavailable: the engine failed, or the container is gone (out of memory, its
                life is over): nothing more can be done in this episode, `tree()` included.
            Cancelled: `cancel` was set; the container lives on.
        """
        ...

    def tree(self) -> Mapping[str, bytes]:
        """The regular files of the working copy, read from outside the container's programs.

        Raises:
            SandboxUnavailable: they cannot be read.
        """
        ...

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the last `tree()` did not take and why, one line each."""
        ...

    def close(self) -> None:
        """Remove the container; safe to call twice and from another thread."""
        ...
