"""Reads a streamed answer with limits of our own, and drops it at once when told to.

The clients' own time limits hold per read only, and nothing in them ends a read early: so a
thread reads, and whoever waits for it may cut its sockets. The server then sees the connection
close and stops generating.
"""

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from agent_loop.errors import Cancelled, ModelUnavailable
from agent_loop.models.provider import TransientFault
from agent_loop.ports import Cancel

_POLL_S = 0.05

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds one streamed answer may take."""

    read_s: float
    """Longest wait for the next piece; the wait for the first includes loading."""
    total_s: float
    """Wall clock from the first piece to the last."""


class Wire:
    """The sockets of one call, found through the HTTP client's own hooks."""

    def __init__(self) -> None:
        self._streams: list[Any] = []

    def hooks(self) -> dict[str, list[Callable[..., None]]]:
        """`event_hooks` for an httpx (or httpx2) client made for this call alone."""
        return {"request": [self._watch]}

    def cut(self) -> None:
        """End every read and write in hand; from any thread, more than once."""
        for stream in self._streams:
            line = stream.get_extra_info("socket")
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Free the sockets; from the thread that read, when it is done with them."""
        for stream in self._streams:
            stream.close()

    def _watch(self, request: Any) -> None:  # noqa: ANN401 - httpx or httpx2
        request.extensions["trace"] = self._trace

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self._streams.append(info["return_value"])


class _End:
    """The stream ended by itself."""


def pieces(
    read: Callable[[], Iterator[T]], *, wire: Wire, limits: Limits, cancel: Cancel, who: str
) -> Generator[T, None, None]:
    """What `read` yields, each in time; closing this generator cuts the wire.

    Raises:
        TransientFault: nothing came for `read_s`.
        ModelUnavailable: still talking after `total_s`.
        Cancelled: `cancel` was set.
        Exception: whatever `read` raised.
    """
    came: queue.SimpleQueue[T | _End | Exception] = queue.SimpleQueue()

    def pump() -> None:
        try:
            for piece in read():
                came.put(piece)
            came.put(_End())
        except Exception as error:
            came.put(error)
        finally:
            wire.close()

    threading.Thread(target=pump, name=f"reading {who}", daemon=True).start()
    try:
        yield from _in_time(came, limits, cancel, who)
    finally:
        wire.cut()


def _in_time(
    came: "queue.SimpleQueue[T | _End | Exception]", limits: Limits, cancel: Cancel, who: str
) -> Iterator[T]:
    last = time.monotonic()
    first: float | None = None
    while True:
        if cancel.is_set():
            raise Cancelled(f"{who}: cancelled.")
        now = time.monotonic()
        if first is not None and now - first > limits.total_s:
            raise ModelUnavailable(
                f"{who}: no whole answer within {limits.total_s:g} s. Raise "
                "model_timeouts.total_s or lower num_predict."
            )
        try:
            item = came.get(timeout=_POLL_S)
        except queue.Empty:
            if now - last > limits.read_s:
                what = "nothing came" if first is None else "it fell silent"
                raise TransientFault("stall", f"{what} for {limits.read_s:g} s") from None
            continue
        if isinstance(item, _End):
            return
        if isinstance(item, Exception):
            raise item
        last = time.monotonic()
        first = first or last
        yield item
