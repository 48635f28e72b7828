"""Server-sent events: how they are written and what keeps proxies from holding them back."""

import contextlib
from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent_loop.viewer.jsontext import dumps

HEARTBEAT_S = 15
SEND_TIMEOUT_S = 10.0
"""A reader that takes nothing for so long is dropped; it comes back with the id it has."""
RETRY_MS = 2_000
_HEADERS = {"Cache-Control": "no-store, no-transform", "Content-Encoding": "identity"}
OPENING = b": " + b" " * 2_048 + b"\nretry: %d\n\n" % RETRY_MS
"""Small buffers between us and the page are full after this."""


def event(name: str, data: object, *, id_: str = "") -> bytes:
    """One event; its data is one line, as JSON knows no line ends."""
    head = f"id: {id_}\n" if id_ else ""
    return f"{head}event: {name}\ndata: ".encode() + dumps(data) + b"\n\n"


def stream(events: AsyncIterator[bytes]) -> EventSourceResponse:
    """The answer that carries them, with heartbeats."""
    return _Stream(
        events, headers=_HEADERS, ping=HEARTBEAT_S, send_timeout=SEND_TIMEOUT_S, sep="\n"
    )


class _Stream(EventSourceResponse):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whoever takes nothing for too long is let go, without a word in the log."""
        with contextlib.suppress(SendTimeoutError):
            await super().__call__(scope, receive, send)
