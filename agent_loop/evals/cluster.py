"""Attempts on a Dask cluster that is there already: `--executor dask://HOST:PORT`.

Every worker must see the same runs folder. Dask's own transport is trusted like a shell: keep its
ports inside the cluster. What is tried again, and how often, is decided by the crew alone.
"""

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from agent_loop import tasks
from agent_loop.config import Config
from agent_loop.errors import MissingExtra, UserError
from agent_loop.evals.cases import Case
from agent_loop.evals.rows import failed_row
from agent_loop.graph.parts import Control
from agent_loop.store.reports import FOLDER, Attempt

CONNECT_S = 20
POLL_S = 0.1
NO_WORKER_S = 60.0
"""How long an attempt waits for a worker before the environment has failed."""


def sees(path: str) -> bool:
    """Whether a worker has a file."""
    return Path(path).is_file()


def allowed_failures(dask_scheduler: Any = None) -> int:  # noqa: ANN401 - Dask passes itself in
    return int(dask_scheduler.allowed_failures)


@dataclass(slots=True)
class Cluster:
    """The workers of one eval."""

    client: Any
    bench: str
    slots: int
    stopping: Callable[[], bool]
    _free: "queue.SimpleQueue[str]"
    _known: dict[str, int]
    _lock: threading.Lock

    def drive(self, case: Case, control: Control) -> Attempt:
        """One attempt on a free worker; a lost one is a failure of the environment."""
        worker = self._worker()
        if worker is None:
            return failed_row(case, "no Dask worker is there")
        work = {
            "task": tasks.to_record(case.task),
            "n": case.n,
            "thread": case.thread,
            "tries": case.tries,
        }
        from agent_loop.evals.workbench import work_on  # noqa: PLC0415 - an extra

        future = self.client.submit(
            work_on, self.bench, work, pure=False, retries=0, workers=[worker],
            key=f"{case.thread}-{case.tries}-{secrets.token_hex(4)}",
        )  # fmt: skip
        try:
            row = self._result(future)
        except Exception as error:  # lost, killed, or the worker lacks what it needs
            if self.stopping():
                return _stopped(case)
            self._give_back(worker)
            return failed_row(case, f"Dask worker {worker}: {type(error).__name__}: {error}")
        self._free.put(worker)
        return TypeAdapter(Attempt).validate_python(row)

    def _result(self, future: Any) -> Mapping[str, Any]:  # noqa: ANN401 - Dask has no types
        while not future.done():
            if self.stopping():
                future.cancel(force=True)
                break
            time.sleep(POLL_S)
        return cast(Mapping[str, Any], future.result(timeout=5))

    def _give_back(self, worker: str) -> None:
        """It may be alive: an attempt can fail there for another reason."""
        time.sleep(POLL_S)
        self.refresh()
        if worker in self._known:
            self._free.put(worker)

    def _worker(self) -> str | None:
        end = time.monotonic() + NO_WORKER_S
        while time.monotonic() < end and not self.stopping():
            self.refresh()
            try:
                worker = self._free.get(timeout=0.5)
            except queue.Empty:
                continue
            if worker in self._known:
                return worker
        return None

    def refresh(self) -> int:
        """Take in new workers, forget lost ones; gives the number of threads they have."""
        there = {
            address: int(info["nthreads"])
            for address, info in self.client.scheduler_info(n_workers=-1)["workers"].items()
        }
        with self._lock:
            for address, threads in there.items():
                if address not in self._known:
                    for _ in range(threads):
                        self._free.put(address)
            self._known = there
        return sum(there.values())


@contextlib.contextmanager
def connected(
    url: str, settings: Config, *, time_limit_s: float | None, stopping: Callable[[], bool]
) -> Iterator[Cluster]:
    """A cluster that is ready for attempts.

    Raises:
        UserError: nobody answers, no worker, another runs folder, or a scheduler that tries again
            by itself.
        MissingExtra: the extra `scale` is not installed.
    """
    client = _client(url)
    name = f"agent-loop-{secrets.token_hex(4)}"
    try:
        _refuse_unfit(client, url, settings.runs_dir.resolve())
        absolute = settings.model_copy(update={"runs_dir": settings.runs_dir.resolve()})
        from agent_loop.evals.workbench import Workbench  # noqa: PLC0415 - an extra

        bench = Workbench(name, absolute.model_dump_json(), time_limit_s)
        client.register_plugin(bench, name=name)
        cluster = Cluster(client, name, 0, stopping, queue.SimpleQueue(), {}, threading.Lock())
        cluster.slots = cluster.refresh()
        yield cluster
    finally:
        with contextlib.suppress(Exception):  # the scheduler has gone
            client.unregister_worker_plugin(name)
        with contextlib.suppress(Exception):
            client.close(timeout=5)


def _client(url: str) -> Any:  # noqa: ANN401 - Dask has no types
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingExtra("scale", "distributed, for --executor,") from error
    try:
        address = "tcp://" + url.removeprefix("dask://")
        return cast(Any, Client)(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise UserError(
            f"--executor {url}: nobody answers. Start one there: dask scheduler, dask worker "
            "(docs/scale.md)."
        ) from error


def _refuse_unfit(client: Any, url: str, runs: Path) -> None:  # noqa: ANN401 - Dask has no types
    if client.run_on_scheduler(allowed_failures) != 0:
        raise UserError(
            f"--executor {url}: its scheduler tries lost tasks again by itself, so attempts "
            "could be made twice. Start it with DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0."
        )
    mark = runs / FOLDER / f".seen-{secrets.token_hex(4)}"
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    try:
        answers = client.run(sees, str(mark))
    finally:
        mark.unlink()
    blind = [worker for worker, seen in answers.items() if not seen]
    if not answers or blind:
        which = f"worker {blind[0]} does not see {runs}" if blind else "it has no worker"
        raise UserError(f"--executor {url}: {which}. Workers need the same runs folder.")


def _stopped(case: Case) -> Attempt:
    return Attempt(
        task=case.task.name, n=case.n, thread=case.thread, status="running", tries=case.tries
    )
