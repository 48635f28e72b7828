"""From settings to the sandbox they ask for."""

from collections.abc import Callable, Mapping
from pathlib import Path

from agent_loop.config import SandboxSettings
from agent_loop.ports import Sandbox
from agent_loop.sandbox.docker import DockerSandbox
from agent_loop.sandbox.engine import find_engine
from agent_loop.sandbox.image import pinned_image
from agent_loop.sandbox.local import LocalSandbox
from agent_loop.sandbox.project_image import ImageBuilder


def _silent(_line: str) -> None:
    """Nobody listens."""


def make_sandbox(
    settings: SandboxSettings,
    *,
    state_dir: Path,
    notify: Callable[[str], None] = _silent,
    env: Mapping[str, str] | None = None,
) -> Sandbox:
    """The sandbox that `settings` name.

    Args:
        settings: kind, runtime, image, pool.
        state_dir: holds `image.lock`.
        notify: gets one line for each thing the owner should know.
        env: the environment, for DOCKER_HOST and its kin; without it the system's default and the
            active Docker context count.

    Raises:
        SandboxUnavailable: it cannot be had here; the message has the fix.
    """
    if settings.kind == "local":
        return LocalSandbox(allowed=settings.allow_local, notify=notify)
    engine = find_engine(env or {}, Path.home())
    try:
        image = pinned_image(engine, settings.image, state_dir)
        return DockerSandbox(
            engine, image=image, runtime=settings.runtime, pool=settings.pool, notify=notify
        )
    except BaseException:
        engine.close()
        raise


def make_image_builder(
    settings: SandboxSettings,
    *,
    state_dir: Path,
    notify: Callable[[str], None] = _silent,
    env: Mapping[str, str],
) -> ImageBuilder:
    """What builds the images of project tasks on the same engine and base image.

    Args:
        settings: names the base image.
        state_dir: holds `image.lock`.
        notify: gets one line for each thing the owner should know.
        env: the environment, for Docker, the certificate bundle, proxies and pip's settings.

    Raises:
        SandboxUnavailable: no engine or no base image; projects never run without.
    """
    engine = find_engine(env, Path.home())
    try:
        base = pinned_image(engine, settings.image, state_dir)
    except BaseException:
        engine.close()
        raise
    return ImageBuilder(engine, base=base, env=env, notify=notify)
