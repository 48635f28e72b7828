"""Counts the tokens of every attempt as they are spent, and stops them all at the budget."""

import threading
from collections.abc import Mapping

from agent_loop.evals.rows import CUT
from agent_loop.graph.parts import Control
from agent_loop.ports import Json


class Meter:
    """The tokens of one eval, over every resume."""

    def __init__(self, budget_tokens: int | None, spent: Mapping[str, int]) -> None:
        """`spent` by thread: what the report and unfinished runs say already."""
        self._budget = budget_tokens
        self._spent = dict(spent)
        self._controls: set[Control] = set()
        self._lock = threading.RLock()

    @property
    def total(self) -> int:
        with self._lock:
            return sum(self._spent.values())

    @property
    def empty(self) -> bool:
        """Nothing more may be spent."""
        return self._budget is not None and self.total >= self._budget

    @property
    def words(self) -> str:
        return f"{CUT}'s {self._budget or 0:,} tokens are spent"

    def add(self, thread: str, tokens: int) -> None:
        """More tokens of one attempt; past the budget every run stops at its next node."""
        with self._lock:
            self._spent[thread] = self._spent.get(thread, 0) + tokens
            if self.empty:
                for control in self._controls:
                    if control.asked is None:
                        control.drain(self.words)

    def settle(self, thread: str, tokens: int) -> None:
        """What an attempt spent in all, as its record says."""
        with self._lock:
            self._spent[thread] = tokens

    def watch(self, control: Control) -> None:
        with self._lock:
            self._controls.add(control)

    def forget(self, control: Control) -> None:
        with self._lock:
            self._controls.discard(control)


class Counter:
    """The `Events` of one attempt: its model calls go to the meter."""

    def __init__(self, meter: Meter, thread: str) -> None:
        self._meter = meter
        self._thread = thread

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        usage = fields.get("usage") if kind == "model_replied" else None
        if isinstance(usage, Mapping):
            counts = (usage.get("input_tokens"), usage.get("output_tokens"))
            self._meter.add(self._thread, sum(n for n in counts if isinstance(n, int)))
