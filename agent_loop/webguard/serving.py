"""Runs a guarded application on the loopback, and nowhere else."""

import contextlib
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from agent_loop.errors import UserError

LOOPBACK = "127.0.0.1"
STALLED_MS = 15_000
SHUTDOWN_S = 3
"""Streams that do not end by themselves are cut after this."""


def bound(port: int) -> socket.socket:
    """A socket on 127.0.0.1; port 0 takes a free one.

    Raises:
        UserError: the port is taken.
    """
    # The protocol by name: asyncio then sends small answers at once, not after 40 ms.
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform == "linux":
        # A reader that stopped reading: what waits for it is dropped, not kept for ever.
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
    try:
        server.bind((LOOPBACK, port))
    except OSError as error:
        server.close()
        raise UserError(
            f"port {port} cannot be used: {error.strerror}. Choose another --port, or 0 for any."
        ) from error
    return server


def serve(app: ASGIApp, server: socket.socket, *, ready: Callable[[], None] | None = None) -> None:
    """Answer until a signal comes. `ready` is called when requests are taken."""
    running = _Announcing(settings(app))
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(_worth_saying)
    running.ready = ready
    running.run(sockets=[server])


def settings(app: ASGIApp) -> uvicorn.Config:
    """How both doors run: no access log (addresses hold tokens), no proxy believed, no sockets."""
    return uvicorn.Config(
        app,
        host=LOOPBACK,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http="h11",
        loop="asyncio",
        lifespan="on",
        h11_max_incomplete_event_size=32_768,
        limit_concurrency=512,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )


class _Announcing(uvicorn.Server):
    ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.ready is not None and self.started:
            self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, and end as ended: uvicorn's own would raise it once more."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _worth_saying(record: logging.LogRecord) -> bool:
    """Streams that are cut at the end, and clients that go, are no errors."""
    said = record.getMessage()
    return not said.startswith(("ASGI callable returned without", "socket.send() raised"))


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
