"""One container: made, attached, started, killed, removed."""

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import requests
from docker.errors import APIError, ImageNotFound, NotFound

from agent_loop.errors import AgentLoopError, SandboxUnavailable
from agent_loop.ports import Limits
from agent_loop.sandbox.engine import Engine, plain
from agent_loop.sandbox.flags import Config
from agent_loop.sandbox.session import PipeSession
from agent_loop.sandbox.wire import SocketChannel

ATTACH = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
FEED_S = 20.0


class Container:
    """`Body` of a session in Docker. `remove` decides when it goes: now or in the background."""

    def __init__(
        self,
        engine: Engine,
        name: str,
        *,
        notify: Callable[[str], None],
        remove: "Callable[[Container], None] | None" = None,
    ) -> None:
        self.name = name
        self._engine = engine
        self._notify = notify
        self._remove = remove or Container.remove_now

    def kill(self) -> None:
        try:
            with self._engine.client(f"kill {self.name}") as api, suppress(NotFound):
                try:
                    api.kill(self.name)
                except APIError as error:
                    # 409: it has ended by itself meanwhile.
                    if error.status_code != requests.codes.conflict:
                        raise
        except SandboxUnavailable as error:
            self._notify(f"kill failed: {error}. Fix: docker rm -f {self.name}")

    def confirm_end(self) -> None:
        state = self._state()
        # A pipe can be closed by a program that lives on, and by an engine that goes down.
        if state["Status"] not in ("running", "exited"):
            raise SandboxUnavailable(f"container {self.name} is {state['Status']}")

    def wait(self, timeout_s: float) -> tuple[int, bool] | None:
        until = time.monotonic() + timeout_s
        pause_s = 0.002
        while (state := self._state())["Running"]:
            if (left_s := until - time.monotonic()) <= 0:
                return None
            time.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 2, 0.1)
        return int(state["ExitCode"]), bool(state["OOMKilled"])

    def destroy(self) -> None:
        self._remove(self)

    def remove_now(self) -> None:
        """Kill and remove, whatever state it is in."""
        try:
            remove(self._engine, self.name)
        except SandboxUnavailable as error:
            self._notify(f"remove failed: {error}. Fix: docker rm -f {self.name}")

    def _state(self) -> dict[str, Any]:
        with self._engine.client(f"look at container {self.name}") as api:
            state: dict[str, Any] = api.inspect_container(self.name)["State"]
        return state


def remove(engine: Engine, name: str) -> None:
    """Kill and remove one container; fine when it is gone or going.

    Raises:
        SandboxUnavailable: the engine refused; the container may still be there.
    """
    with engine.client(f"remove {name}") as api, suppress(NotFound):
        try:
            api.remove_container(name, force=True, v=True)
        except APIError as error:
            # 409: another thread or process is removing it.
            if error.status_code != requests.codes.conflict:
                raise


def start(
    engine: Engine,
    config: Config,
    limits: Limits,
    *,
    first: bytes,
    notify: Callable[[str], None],
    remove: Callable[[Container], None] | None = None,
) -> PipeSession:
    """Create, attach, start and feed; on any failure nothing is left.

    Args:
        engine: where.
        config: body of the create request.
        limits: what the session counts itself.
        first: the bytes of the bootstrap's bundle.
        notify: gets one line when a container could not be killed or removed.
        remove: takes the container when the session closes; the default removes it at once.

    Raises:
        SandboxUnavailable: the engine or the image failed; the message has the fix.
    """
    name = f"agent-loop-{secrets.token_hex(8)}"
    body = Container(engine, name, notify=notify, remove=remove)
    try:
        channel = _attach_and_start(engine, name, config)
        session = PipeSession(channel, body, limits)
        try:
            session.send(first, deadline=time.monotonic() + FEED_S)
        except (AgentLoopError, BrokenPipeError) as error:
            end = session.end(deadline=time.monotonic() + 1)
            raise SandboxUnavailable(
                f"the program of a container did not start ({error}): {end.stderr[-800:]}"
            ) from error
    except BaseException:
        body.remove_now()
        raise
    return session


def _attach_and_start(engine: Engine, name: str, config: Config) -> SocketChannel:
    with engine.client("start a container") as api:
        try:
            api.create_container_from_config(config, name)  # type: ignore[no-untyped-call]
        except ImageNotFound as error:
            raise SandboxUnavailable(
                f"image {config['Image']} is not on this engine: {plain(error)}. Fix: make setup"
            ) from error
        # Attached before it starts: no byte can be missed.
        attached = api.attach_socket(name, params=ATTACH)
        channel = SocketChannel(attached, attached._sock)
        try:
            api.start(name)
        except BaseException:
            channel.close()
            raise
    return channel
