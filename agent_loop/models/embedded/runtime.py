"""The seam to the library that runs the weights, and the choice between the two we know."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from agent_loop.errors import ModelUnavailable

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


def installed_runtime() -> str:
    """`cyllama` or `llama_cpp`, whichever is there.

    Raises:
        ModelUnavailable: neither; the message says what to type on this machine.
    """
    for package in ("cyllama", "llama_cpp"):
        if find_spec(package) is not None:
            return package
    raise ModelUnavailable(f"embedded: {missing_runtime(platform.system(), platform.machine())}")


def missing_runtime(system: str, machine: str) -> str:
    """What to type where no runtime is installed. Wheels of cyllama as of 0.2.18 and 0.7.0."""
    wheels = {
        ("Linux", "x86_64"),
        ("Darwin", "arm64"),
        ("Darwin", "x86_64"),
        ("Windows", "AMD64"),
    }
    if (system, machine) in wheels and not _is_musl():
        return "no runtime is installed. Type: pip install 'agent-loop[embedded]'"
    where = f"{system} {machine}" + (" with musl" if _is_musl() else "")
    return (
        f"cyllama has no wheel for {where}. Type: pip install 'agent-loop[llamacpp]' "
        "(needs a C++ compiler and some minutes), or use ollama."
    )


def _is_musl() -> bool:
    return platform.system() == "Linux" and not platform.libc_ver()[0]


def load_runtime(path: Path, *, n_ctx: int, threads: int) -> Runtime:
    """Load the weights; 0.2 seconds when the file is in the page cache.

    Raises:
        ModelUnavailable: the file or the library cannot be used.
    """
    package = installed_runtime()
    try:
        # Here, not above: whoever uses Ollama needs neither library.
        if package == "cyllama":
            from agent_loop.models.embedded.cyllama_runtime import (  # noqa: PLC0415
                CyllamaRuntime,
            )

            return CyllamaRuntime(path, n_ctx=n_ctx, threads=threads)
        from agent_loop.models.embedded.llamacpp_runtime import LlamaCppRuntime  # noqa: PLC0415

        return LlamaCppRuntime(path, n_ctx=n_ctx, threads=threads)
    except (ImportError, OSError, RuntimeError, ValueError, MemoryError) as error:
        raise ModelUnavailable(
            f"embedded: {package} could not load {path.name}: {error}"
        ) from error
