"""Progress while a run runs: lines that stay, and on a terminal a panel that moves."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from agent_loop.cli.narrate import lines
from agent_loop.ports import Json
from agent_loop.terminal.safe import one_line, safe
from agent_loop.terminal.screen import Screen

TAIL_LINES = 4
TAIL_CHARS = 2_000


@dataclass(slots=True)
class _Now:
    """What one run does at this moment."""

    thread: str
    node: str = ""
    lap: int = 0
    model: str = ""
    since: float = field(default_factory=time.monotonic)
    tail: str = ""
    pieces: int = 0
    tokens: int = 0
    """Counted by servers so far, input and output."""


class Board:
    """The live panel of all runs of this command; prints above it never tear it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._lock = threading.RLock()
        self._runs: dict[str, _Now] = {}
        self._live: Live | None = None

    @contextlib.contextmanager
    def shown(self) -> Iterator["Board"]:
        """Show the panel for as long as the block lasts, on a terminal only."""
        self._start()
        try:
            yield self
        finally:
            self._stop()

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Take the panel away while somebody types."""
        was_shown = self._live is not None
        self._stop()
        try:
            yield
        finally:
            if was_shown:
                self._start()

    def listener(self, thread: str, *, named: bool) -> "Listener":
        """Where one run says what it does; `named` puts the thread in front of each line."""
        return Listener(self, thread, named=named)

    def say(self, text: str, style: str = "") -> None:
        # Not under our lock: the panel's thread takes rich's lock first and then ours.
        self._screen.say(text, style)

    def result(self, text: str, style: str = "") -> None:
        """A line that `--quiet` keeps."""
        self._screen.result(text, style)

    def change(self, thread: str, change: Callable[[_Now], None]) -> None:
        with self._lock:
            change(self._runs.setdefault(thread, _Now(thread=thread)))

    def drop(self, thread: str) -> None:
        with self._lock:
            self._runs.pop(thread, None)

    def __rich__(self) -> RenderableType:
        with self._lock:
            return Group(*(part for run in self._runs.values() for part in _panel(run)))

    def _start(self) -> None:
        if self._screen.is_terminal and self._live is None:
            self._live = Live(
                self, console=self._screen.people, transient=True, refresh_per_second=8
            )
            self._live.start()

    def _stop(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()


class Listener:
    """The `Events` of one run, made visible."""

    def __init__(self, board: Board, thread: str, *, named: bool) -> None:
        self._board = board
        self._thread = thread
        self._prefix = f"{thread}  " if named else ""

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        self._board.change(self._thread, lambda run: _follow(run, kind, fields))
        for line in lines(kind, fields):
            text = line.text.replace("\n", f"\n{self._prefix}")
            self._board.say(self._prefix + text, line.style)
        if kind in ("run_ended", "paused"):
            self._board.drop(self._thread)


def _follow(run: _Now, kind: str, fields: Mapping[str, Json]) -> None:
    if kind in ("node_started", "node_finished"):
        run.node, run.model, run.tail, run.pieces = "", "", "", 0
        run.since = time.monotonic()
    if kind == "node_started":
        run.node = one_line(str(fields.get("node") or ""), 40)
        lap = fields.get("lap")
        run.lap = lap if isinstance(lap, int) else 0
    elif kind == "model_asked":
        run.model = one_line(str(fields.get("model") or ""), 60)
    elif kind == "model_text":
        run.pieces += 1
        run.tail = (run.tail + str(fields.get("text") or ""))[-TAIL_CHARS:]
    elif kind == "model_replied":
        run.tail = ""
        usage = fields.get("usage")
        if isinstance(usage, Mapping):
            for key in ("input_tokens", "output_tokens"):
                count = usage.get(key)
                run.tokens += count if isinstance(count, int) else 0


def _panel(run: _Now) -> list[Text]:
    seconds = time.monotonic() - run.since
    lap = f" · lap {run.lap}" if run.lap else ""
    model = f" · {run.model}" if run.model else ""
    pieces = f" · {run.pieces} pieces" if run.pieces else ""
    tokens = f" · {run.tokens:,} tokens so far" if run.tokens else ""
    head = f"▸ {run.thread}{lap} · {run.node or 'between nodes'}{model} · {seconds:.0f} s"
    parts = [Text(head + pieces + tokens, style="cyan", no_wrap=True, overflow="ellipsis")]
    tail = [part for part in safe(run.tail).split("\n") if part.strip()]
    for part in tail[-TAIL_LINES:]:
        parts.append(Text(f"  │ {part}", style="dim", no_wrap=True, overflow="ellipsis"))
    return parts
