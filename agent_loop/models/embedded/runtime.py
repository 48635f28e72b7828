"""The seam to the library that runs the weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

BATCH = 512
"""Tokens per decode. One more than the context was made for and the process dies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the next token is drawn."""

    temperature: float = 0.2
    top_p: float | None = None
    seed: int = 0
    repeat_penalty: float | None = None


class Runtime(Protocol):
    """One loaded model with one context of one sequence. Used by one thread only.

    The engine above keeps the rules whose breach kills the process: never an empty or too
    long `feed`, never `draw` before a `feed`, never anything after `close`.
    """

    n_ctx: int
    trained_ctx: int
    version: str
    template: str

    def control_id(self, text: str) -> int:
        """The id of a control token; `KeyError` where the vocabulary has none."""
        ...

    def tokenize(self, text: str) -> list[int]:
        """Plain tokens; text that looks like a control token is spelled out."""
        ...

    def piece(self, token: int) -> bytes: ...

    def is_end(self, token: int) -> bool: ...

    def feed(self, tokens: Sequence[int], *, at: int) -> None:
        """Process at most `BATCH` tokens at position `at`; the last one can be drawn from.

        Raises:
            InterruptedError: `interrupt` came; what of these tokens was kept is unknown.
        """
        ...

    def sampler(self, sampling: Sampling) -> Callable[[], int]:
        """Draws the next token; remembers what it drew, for its penalties."""
        ...

    def trim(self, keep: int) -> int:
        """Forget every position from `keep` on; returns how many are really kept."""
        ...

    def save(self) -> bytes: ...

    def restore(self, state: bytes) -> None:
        """Put back what `save` gave; `trim(0)` comes first."""
        ...

    def interrupt(self) -> None:
        """From any thread: end the `feed` in hand."""
        ...

    def clear_interrupt(self) -> None: ...

    def close(self) -> None: ...
