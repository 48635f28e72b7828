"""How far an eval is: a bar with the time left on a terminal, one line per attempt elsewhere."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from agent_loop.evals.cases import Case
from agent_loop.store.reportnumbers import total_tokens
from agent_loop.store.reports import Attempt
from agent_loop.terminal.safe import one_line
from agent_loop.terminal.screen import Screen

_MARKS: Mapping[str, str] = {"environment": "yellow", "budget": "yellow", "running": "yellow"}


class Progress:
    """What a person sees while attempts are made. Called from several threads."""

    def __init__(
        self, screen: Screen, *, total: int, done: int, jobs: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._screen = screen
        self._total = total
        self._done = done
        self._jobs = jobs
        self._now = now
        self._began = now()
        self._here = 0
        """Attempts that ended in this command."""
        self._lock = threading.Lock()
        self._bar: Bar | None = None

    @contextlib.contextmanager
    def shown(self) -> Iterator["Progress"]:
        """Show the bar for as long as the block lasts, on a terminal only."""
        if not self._screen.is_terminal:
            yield self
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                   TimeElapsedColumn(), TextColumn("{task.fields[left]}"))  # fmt: skip
        with Bar(*columns, console=self._screen.people, transient=True) as bar:
            self._bar = bar
            self._id = bar.add_task("attempts", total=self._total, completed=self._done, left="")
            yield self
            self._bar = None

    def begin(self, case: Case) -> None:
        if self._bar is not None:
            self._bar.update(self._id, description=one_line(f"{case.task.name} {case.n}", 40))

    def end(self, case: Case, row: Attempt) -> None:
        with self._lock:
            self._here += 1
            self._done += row.status == "finished"
            left, done = self.left_words(), self._done
        text = f"[{done:>3} of {self._total}] {line_of(row)}"
        failed = "" if row.passed else _MARKS.get(row.status, "dim")
        if self._bar is not None:
            self._bar.update(self._id, completed=done, left=left)
            self._screen.say(text, failed or "green")
        else:
            self._screen.say(f"{text}{' · ' if left else ''}{left}", failed or "green")

    def left_words(self) -> str:
        """From the mean pace of this command; empty before the first has ended."""
        open_ = self._total - self._done
        if not self._here or open_ <= 0:
            return ""
        return f"about {duration((self._now() - self._began) / self._here * open_)} left"


def line_of(row: Attempt) -> str:
    """One attempt in one line."""
    name = one_line(f"{row.task} {row.n}", 60)
    if row.status == "finished":
        word = "passed" if row.passed else row.outcome or "failed"
        tokens = f", {total_tokens(row):,} tokens" if row.tokens else ""
        look = ", look" if row.looks else ""
        laps = "1 lap" if row.laps == 1 else f"{row.laps} laps"
        return f"{name}: {word}{look}, {laps}{tokens}, {row.seconds or 0:.1f} s"
    words = {
        "environment": "the environment failed, not the model",
        "budget": "cut by the budget; more of it continues this attempt",
        "running": "stopped; it can be continued",
    }[row.status]
    again = f" (try {row.tries})" if row.tries > 1 else ""
    return f"{name}: {words}{again}" + (f": {one_line(row.problem, 160)}" if row.problem else "")


def duration(seconds: float) -> str:
    """`40 s`, `7 min`, `2 h 5 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
