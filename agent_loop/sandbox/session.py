"""One conversation over a pipe: deadlines, byte caps and the end, whatever runs behind it."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from agent_loop.errors import DeadlinePassed
from agent_loop.ports import Exit, Limits

PIECE_BYTES = 1 << 20
STDERR_TAIL_BYTES = 64_000
STDERR_CHARS = 16_000
# Two threads may wait on one pipe: the one that did not get the bytes looks again after this.
SLICE_S = 0.05
# An engine may keep the pipe of a dead program open while input waits that nobody will read: after
# this long without a byte the body is asked, and what is still on the way gets one slice.
QUIET_S, LOOK_S = 0.25, 0.5
OUT, ERR = 1, 2


class Channel(Protocol):
    """Both directions of a pipe, never blocking by themselves."""

    @property
    def ended(self) -> bool:
        """Nothing more will come."""
        ...

    def wait(self, *, write: bool, timeout_s: float) -> None:
        """Until something can be read (or written, when asked), or the time is over."""
        ...

    def read(self) -> list[tuple[int, bytes]]:
        """(OUT or ERR, bytes) pairs that are there now; sets `ended` at the end."""
        ...

    def write(self, data: memoryview) -> int:
        """How many bytes went; 0 when the pipe is full. BrokenPipeError when nobody reads."""
        ...

    def close_input(self) -> None: ...

    def close(self) -> None: ...


class Body(Protocol):
    """What runs behind the pipe."""

    @property
    def name(self) -> str:
        """Of the container; empty where there is none."""
        ...

    def kill(self) -> None:
        """Now, without asking; quiet when it has ended already."""
        ...

    def confirm_end(self) -> None:
        """The pipe ended: SandboxUnavailable when that was the engine's doing."""
        ...

    def wait(self, timeout_s: float) -> tuple[int, bool] | None:
        """Exit code and whether memory ran out; `None` while it lives."""
        ...

    def destroy(self) -> None:
        """Leave nothing behind; may happen in the background."""
        ...


class PipeSession:
    """`ports.Session` over a channel and a body."""

    def __init__(self, channel: Channel, body: Body, limits: Limits) -> None:
        self._channel = channel
        self._body = body
        self._limits = limits
        self._out: list[bytes] = []
        self._err = bytearray()
        self._seen_bytes = 0
        self._pipe = threading.Lock()
        self._ending = threading.Lock()
        self._killed_for = ""
        self._closed = False
        self._confirmed = False
        self._look_at = 0.0
        self._dead = False
        self.on_close: Callable[[PipeSession], None] = lambda _session: None

    # --- ports.Session ---

    @property
    def name(self) -> str:
        return self._body.name

    def send(self, data: bytes, *, deadline: float) -> None:
        view = memoryview(data)
        self._stir()
        while view:
            # Reading while writing: a program that answers before it has read all would block us.
            self._pump()
            if taken := self._write(view):
                self._stir()
            view = view[taken:]
            if view:
                self._wait(deadline, write=True)

    def receive(self, *, deadline: float) -> bytes:
        self._stir()
        while True:
            self._pump()
            piece = self._next_piece()
            if piece or self._over():
                return piece
            self._wait(deadline, write=False)

    def close_input(self) -> None:
        with self._pipe, suppress(OSError):
            if not self._stopped():
                self._channel.close_input()

    def end(self, *, deadline: float) -> Exit:
        self._drain(deadline)
        if self._closed:
            why = self._killed_for or "it was closed"
            return Exit(code=None, oom_killed=False, stderr=self._stderr(), why=why)
        state = None
        while state is None and not self._stopped():
            left_s = deadline - time.monotonic()
            state = self._body.wait(max(0.0, min(left_s, 5.0)))
            if state is None and left_s <= 0:
                self.kill("it did not end in time")
        if state is None:
            state = self._body.wait(5.0)
        oom_killed = bool(state and state[1])
        code = None if self._killed_for or state is None else state[0]
        return Exit(code=code, oom_killed=oom_killed, stderr=self._stderr(), why=self._killed_for)

    def close(self) -> None:
        with self._ending:
            if self._closed:
                return
            self._closed = True
        try:
            # Under the lock: a number closed while another thread reads would become its next file.
            with self._pipe:
                if not self._killed_for:
                    self._channel.close()
        finally:
            self._body.destroy()
            self.on_close(self)

    def __enter__(self) -> "PipeSession":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- for this room ---

    def kill(self, why: str) -> None:
        """Stop it now; the first reason stays."""
        with self._ending:
            if self._killed_for or self._closed:
                return
            self._killed_for = why
        # First the pipe: an engine that cannot get rid of output does not get round to killing.
        with self._pipe:
            self._channel.close()
        self._body.kill()

    def alive(self) -> bool:
        """Whether a waiting session is still good: nothing said, nothing ended."""
        self._pump()
        return not (self._channel.ended or self._seen_bytes or self._stopped())

    # --- inner ---

    def _stopped(self) -> bool:
        return self._closed or bool(self._killed_for)

    def _over(self) -> bool:
        if self._stopped():
            return True
        if not (self._channel.ended or self._dead):
            return False
        self._confirm()
        return True

    def _confirm(self) -> None:
        if not (self._confirmed or self._stopped()):
            self._body.confirm_end()
            self._confirmed = True

    def _write(self, view: memoryview) -> int:
        if self._channel.ended:
            # A socket takes some bytes even when nobody is at its other end any more.
            self._confirm()
        with self._pipe, suppress(OSError):
            if not (self._dead or self._stopped()):
                return self._channel.write(view)
        self._confirm()
        raise BrokenPipeError("the program has ended")

    def _pump(self) -> None:
        """Take what is there and count it."""
        with self._pipe:
            if self._closed or self._channel.ended:
                return
            for stream, data in self._channel.read():
                self._seen_bytes += len(data)
                self._stir()
                if stream == OUT:
                    self._out.append(data)
                else:
                    self._err += data
                    del self._err[:-STDERR_TAIL_BYTES]
        if self._seen_bytes > self._limits.output_bytes:
            self.kill(f"its output passed {self._limits.output_bytes} bytes")

    def _next_piece(self) -> bytes:
        with self._pipe:
            if not self._out:
                return b""
            if len(self._out) > 1:
                self._out = [b"".join(self._out)]
            whole = self._out.pop()
            if len(whole) > PIECE_BYTES:
                self._out.append(whole[PIECE_BYTES:])
            return whole[:PIECE_BYTES]

    def _wait(self, deadline: float, *, write: bool) -> None:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise DeadlinePassed("no answer in time" if not write else "input not read in time")
        if not self._stopped():
            self._channel.wait(write=write, timeout_s=min(left_s, SLICE_S))
            self._look_for_death()

    def _stir(self) -> None:
        """Something moves: no need to ask whether it lives."""
        self._look_at = time.monotonic() + QUIET_S

    def _look_for_death(self) -> None:
        now = time.monotonic()
        if now < self._look_at or self._stopped():
            return
        self._look_at = now + LOOK_S
        if self._body.wait(0.0) is not None:
            seen_bytes = self._seen_bytes
            self._channel.wait(write=False, timeout_s=SLICE_S)
            self._pump()
            # Bytes may still be under way as long as any come.
            self._dead = self._seen_bytes == seen_bytes

    def _drain(self, deadline: float) -> None:
        """Read to the end, keeping what came for a later `receive`."""
        while not self._over():
            self._pump()
            if not self._channel.ended and not self._stopped():
                try:
                    self._wait(deadline, write=False)
                except DeadlinePassed:
                    self.kill("it did not end in time")

    def _stderr(self) -> str:
        return bytes(self._err).decode("utf-8", "replace")[-STDERR_CHARS:]
