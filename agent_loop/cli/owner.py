"""The person at the pause: the terminal and the mailbox, whichever answers first."""

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TextIO

from agent_loop.cli.live import Board
from agent_loop.errors import UserError
from agent_loop.ports import Cancel, Owner, OwnerCall, OwnerReply
from agent_loop.terminal.safe import few_lines

LOOK_EVERY_S = 0.2
QUESTION_LINES = 40
ANSWER_LINES = 60


class Typist:
    """Reads lines in a thread of its own, so that a wait for one can end without it."""

    def __init__(self, stream: TextIO | None) -> None:
        """`None`: standard input was closed before we began."""
        self._stream = stream
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._started = False
        self._ended = threading.Event()

    @property
    def is_there(self) -> bool:
        """Somebody could type: a terminal, not a pipe or a closed stream."""
        stream = self._stream
        return stream is not None and not stream.closed and stream.isatty()

    def line(self, timeout_s: float) -> str | None:
        """The next line, `""` from the end of input on, `None` when none came in time."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._read, daemon=True).start()
        try:
            return self._lines.get(timeout=0 if self._ended.is_set() else timeout_s)
        except queue.Empty:
            return "" if self._ended.is_set() else None

    def forget(self) -> None:
        """Drop lines typed before the question stood there; the end of input stays."""
        while not self._lines.empty():
            self._lines.get()

    def _read(self) -> None:
        while self._stream is not None:
            try:
                line = self._stream.readline()
            except (OSError, ValueError):
                line = ""
            if not line:
                break
            self._lines.put(line)
        self._ended.set()
        self._lines.put("")  # wakes who waits


class TerminalOwner:
    """Asks in the terminal and looks into the mailbox meanwhile."""

    def __init__(
        self,
        board: Board,
        typist: Typist,
        *,
        turn: threading.Lock,
        mailbox: Callable[[OwnerCall], OwnerReply | None],
        understand: Callable[[str], OwnerReply],
        stopping: Cancel,
    ) -> None:
        """`turn`: with several runs at once only one asks.

        `understand` turns a typed line into an answer, or raises UserError saying why not.
        """
        self._board = board
        self._typist = typist
        self._mailbox = mailbox
        self._understand = understand
        self._stopping = stopping
        self._turn = turn

    def answer(self, call: OwnerCall) -> OwnerReply | None:
        while not self._turn.acquire(timeout=LOOK_EVERY_S):
            if self._stopping.is_set():
                return None
            if reply := self._mailbox(call):
                return reply
        try:
            return self._mailbox(call) or self._asked(call)
        finally:
            self._turn.release()

    def _asked(self, call: OwnerCall) -> OwnerReply | None:
        if not self._typist.is_there:
            return None
        with self._board.hidden():
            self._typist.forget()
            self._ask(call)
            return self._wait(call)

    def _ask(self, call: OwnerCall) -> None:
        state = "the check PASSED" if call.tests_passed else "the check did NOT pass"
        if call.answer:
            self._board.result(f"the answer so far:\n{few_lines(call.answer, ANSWER_LINES)}")
        self._board.result(few_lines(call.question, QUESTION_LINES))
        self._board.result(
            f"{call.thread}: {state} after {call.rejections} rejections.\n"
            "Type 'stop', 'accept', or what the worker should do differently:",
            "bold yellow",
        )

    def _wait(self, call: OwnerCall) -> OwnerReply | None:
        while not self._stopping.is_set():
            if reply := self._mailbox(call):
                self._board.say("answered through the mailbox", "yellow")
                return reply
            line = self._typist.line(LOOK_EVERY_S)
            if line is None:
                continue
            if not line:
                return None
            try:
                return self._understand(line)
            except UserError as problem:
                self._board.result(str(problem), "red")
        return None


class CannedOwner:
    """Gives prepared answers in order, then hands over to whoever stands behind it."""

    def __init__(self, replies: Sequence[OwnerReply], *, then: Owner) -> None:
        self._left = list(replies)
        self._then = then

    def answer(self, call: OwnerCall) -> OwnerReply | None:
        return self._left.pop(0) if self._left else self._then.answer(call)
