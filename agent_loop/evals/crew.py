"""Makes the attempts, several at a time: the budget, Ctrl-C and a failing environment stop it."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from agent_loop.assemble.stopping import Stopper
from agent_loop.evals.cases import Case
from agent_loop.evals.ledger import Ledger
from agent_loop.evals.meter import Meter
from agent_loop.evals.progress import Progress
from agent_loop.graph.parts import Control
from agent_loop.store.reportnumbers import total_tokens
from agent_loop.store.reports import Attempt, Report

MAX_STREAK = 3
"""Failures of the environment one after another that stop the eval: the next would fail too."""
TRIES = 2
"""Starts of one attempt in one command where the environment fails."""
Why = Literal["done", "budget", "interrupted", "environment", "decided"]


@dataclass(slots=True, kw_only=True)
class Crew:
    """The attempts of one command."""

    drive: Callable[[Case, Control], Attempt]
    """Makes one attempt; never raises what a row can say."""
    ledger: Ledger
    meter: Meter
    stopper: Stopper
    progress: Progress
    jobs: int = 1
    keep: Callable[[Attempt], Attempt] = lambda row: row
    """What is done with a row before it is saved: its trace is put beside the report."""
    look: Callable[[Report], str] = lambda _report: ""
    """After every attempt: why the rest need not be made; empty: they must."""
    _decided: str = ""
    _waiting: deque[Case] = field(default_factory=deque)
    _running: int = 0
    _streak: int = 0
    _failure: Exception | None = None
    _change: threading.Condition = field(default_factory=threading.Condition)

    def run(self, cases: Iterable[Case]) -> Why:
        """Make them all; the main thread stays free for signals.

        Raises:
            StoreFault: the report cannot be written.
        """
        self._waiting = deque(cases)
        self._look()
        count = min(self.jobs, len(self._waiting))
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        self.stopper.wait(threads)
        if self._failure is not None:
            raise self._failure
        if self.stopper.draining.is_set():
            return "interrupted"
        if self._decided:
            return "decided"
        if self._streak >= MAX_STREAK:
            return "environment"
        return "budget" if self.meter.empty and self._unfinished() else "done"

    def _unfinished(self) -> bool:
        cut = any(row.status == "budget" for row in self.ledger.report.attempts)
        return bool(self._waiting) or cut

    def _work(self) -> None:
        while (case := self._take()) is not None:
            try:
                self._end(case, self._one(case))
            except Exception as error:  # raised again by `run`: the report cannot be kept
                with self._change:
                    self._failure = error
                    self._running -= 1
                    self._change.notify_all()

    def _take(self) -> Case | None:
        """The next attempt; waits while one that runs may still have to be tried again."""
        with self._change:
            while not self._stopped():
                if self._waiting:
                    self._running += 1
                    return self._waiting.popleft()
                if not self._running:
                    return None
                self._change.wait(0.2)
            return None

    def _stopped(self) -> bool:
        return (
            self.stopper.draining.is_set()
            or self.meter.empty
            or self._streak >= MAX_STREAK
            or self._failure is not None
            or bool(self._decided)
        )

    def _look(self) -> None:
        """Attempts that run end as usual; what was decided first stays written down."""
        with self._change:
            if not self._decided and (why := self.look(self.ledger.report)):
                self._decided = why
                self.ledger.change(stopped=why)

    def _one(self, case: Case) -> Attempt:
        name, n = case.key
        self.ledger.begin(
            Attempt(task=name, n=n, thread=case.thread, status="running", tries=case.tries)
        )
        self.progress.begin(case)
        with self.stopper.control() as control:
            self.meter.watch(control)
            try:
                return self.drive(case, control)
            finally:
                self.meter.forget(control)

    def _end(self, case: Case, row: Attempt) -> None:
        row = self.keep(row)
        self.meter.settle(case.thread, total_tokens(row) or 0)
        self.ledger.end(row)
        self.progress.end(case, row)
        self._look()
        with self._change:
            failed = row.status == "environment"
            self._streak = self._streak + 1 if failed else 0
            if failed and not self._was_retried(case):
                self._retried.add(case.key)
                self._waiting.append(replace(case, tries=case.tries + 1))
            self._running -= 1
            self._change.notify_all()

    _retried: set[tuple[str, int]] = field(default_factory=set)

    def _was_retried(self, case: Case) -> bool:
        return case.key in self._retried
