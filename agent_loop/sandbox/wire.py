"""The attach stream of the Docker engine: one socket, both outputs in 8-byte headed frames."""

import selectors
import socket
from contextlib import suppress
from typing import Protocol

from agent_loop.sandbox.session import ERR, OUT

READ_BYTES = 1 << 18
WRITE_BYTES = 1 << 18
HEADER_BYTES = 8


class Attached(Protocol):
    """What the Docker client hands out; keeps the HTTP response behind the socket alive."""

    def close(self) -> None: ...


class Demultiplexer:
    """Takes the stream apart as it comes; holds at most one unfinished header."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._stream = OUT
        self._left = 0

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """(OUT or ERR, bytes) pairs; a frame's part is given on before the frame is whole."""
        found = []
        view = memoryview(data)
        while view:
            if self._left:
                part = view[: self._left]
                found.append((self._stream, bytes(part)))
                self._left -= len(part)
                view = view[len(part) :]
            else:
                missing = HEADER_BYTES - len(self._header)
                self._header += view[:missing]
                view = view[missing:]
                self._open_frame()
        return found

    def _open_frame(self) -> None:
        if len(self._header) == HEADER_BYTES:
            # 0 (input), 1 (output) and 2 (error) exist; only 2 is kept apart.
            self._stream = ERR if self._header[0] == ERR else OUT
            self._left = int.from_bytes(self._header[4:], "big")
            self._header.clear()


class SocketChannel:
    """`Channel` over an attach socket."""

    def __init__(self, attached: Attached, sock: socket.socket) -> None:
        self._attached = attached
        self._socket = sock
        self._demultiplexer = Demultiplexer()
        self._input_open = True
        self.ended = False
        sock.setblocking(False)

    def wait(self, *, write: bool, timeout_s: float) -> None:
        events = 0 if self.ended else selectors.EVENT_READ
        if write:
            events |= selectors.EVENT_WRITE
        # Another thread may close the socket meanwhile; the caller looks again.
        with selectors.DefaultSelector() as selector, suppress(OSError, ValueError):
            if events:
                selector.register(self._socket, events)
            selector.select(timeout_s)

    def read(self) -> list[tuple[int, bytes]]:
        try:
            data = self._socket.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError:
            data = b""
        if not data:
            self.ended = True
        return self._demultiplexer.feed(data)

    def write(self, data: memoryview) -> int:
        if not self._input_open:
            raise BrokenPipeError("the input is closed")
        try:
            return self._socket.send(data[:WRITE_BYTES])
        except (BlockingIOError, InterruptedError):
            return 0

    def close_input(self) -> None:
        if self._input_open:
            self._input_open = False
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.ended = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._attached.close()
        self._socket.close()
