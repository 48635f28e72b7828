"""The worker's side of `--executor`: one workshop for each eval, kept while the eval runs."""

import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from distributed import get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from agent_loop import config as configuration
from agent_loop import tasks
from agent_loop.assemble import Workshop
from agent_loop.evals.attempt import attempt
from agent_loop.evals.cases import Case
from agent_loop.graph.parts import Control
from agent_loop.ports import Json
from agent_loop.store import RunStore


class Workbench(WorkerPlugin):
    """What each worker holds for one eval: its own sandbox and models."""

    idempotent = True

    def __init__(self, name: str, settings: str, time_limit_s: float | None) -> None:
        self.name = name
        self._settings = settings
        self._time_limit_s = time_limit_s
        self._workshop: Workshop | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"given": (self.name, self._settings, self._time_limit_s)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__(*state["given"])  # type: ignore[misc]

    def setup(self, worker: object) -> None:
        """Nothing yet: a worker that gets no attempt opens no sandbox."""

    def teardown(self, worker: object) -> None:
        with self._lock:
            made, self._workshop = self._workshop, None
        if made is not None:
            made.close()

    def make(self, work: Mapping[str, Any]) -> dict[str, Any]:
        """One attempt, its row as plain data."""
        case = Case(
            task=tasks.from_record(work["task"]),
            n=work["n"],
            thread=work["thread"],
            tries=work["tries"],
        )
        row = attempt(
            self._open(), case, control=Control(), live=_Quiet(), time_limit_s=self._time_limit_s
        )
        return asdict(row)

    def _open(self) -> Workshop:
        with self._lock:
            if self._workshop is None:
                settings = configuration.for_this_process(self._settings)
                store = RunStore(settings.runs_dir)
                self._workshop = Workshop(config=settings, store=store, notify=_nobody)
                self._workshop.share_servers()
            return self._workshop


class _Quiet:
    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        """The trace says it already."""


def _nobody(line: str) -> None:
    """Nobody watches a worker's terminal."""


def work_on(name: str, work: Mapping[str, Any]) -> dict[str, Any]:
    """What a worker runs."""
    bench: Any = get_worker().plugins[name]
    made: dict[str, Any] = bench.make(work)
    return made
