"""From settings to the sandbox they ask for."""

from collections.abc import Callable
from pathlib import Path

from agent_loop.config import SandboxSettings
from agent_loop.errors import SandboxUnavailable
from agent_loop.ports import Sandbox
from agent_loop.sandbox.local import LocalSandbox


def _silent(_line: str) -> None:
    """Nobody listens."""


def make_sandbox(
    settings: SandboxSettings,
    *,
    state_dir: Path,
    notify: Callable[[str], None] = _silent,
) -> Sandbox:
    """The sandbox that `settings` name.

    Args:
        settings: kind, runtime, image, pool.
        state_dir: holds `image.lock`.
        notify: gets one line for each thing the owner should know.

    Raises:
        SandboxUnavailable: it cannot be had here; the message has the fix.
    """
    if settings.kind == "local":
        return LocalSandbox(allowed=settings.allow_local, notify=notify)
    raise SandboxUnavailable(f"sandbox: {settings.kind} is being built ({state_dir})")
