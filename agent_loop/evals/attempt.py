"""Makes one attempt, or goes on with it, and gives its row. Never raises what a row can say."""

import contextlib
import os
import shutil
import traceback
from collections.abc import Mapping
from pathlib import Path

from agent_loop.assemble import Ask, Workshop
from agent_loop.config import Config
from agent_loop.errors import AgentLoopError, ThreadError
from agent_loop.evals.cases import Case, config_of
from agent_loop.evals.rows import CUT, failed_row, is_over, row_of
from agent_loop.graph.jobs import FILE as JOB
from agent_loop.graph.parts import Control, Limits, Result
from agent_loop.ports import Events, Json, OwnerCall, OwnerReply
from agent_loop.store import RunStore, read_trace
from agent_loop.store.reports import FOLDER, Attempt


class Stopping:
    """The owner of an eval's runs: should one ever ask, the answer is stop."""

    def answer(self, call: OwnerCall) -> OwnerReply:
        return OwnerReply(kind="stop", text="stop", source="argument")


def attempt(
    workshop: Workshop,
    case: Case,
    *,
    control: Control,
    live: Events,
    time_limit_s: float | None = None,
) -> Attempt:
    """The row of this attempt; `environment` with the problem where nothing could be judged."""
    store = workshop.store
    try:
        record = _ended(store, case.thread)
        if record is None:
            record = _driven(workshop, case, control, live, time_limit_s).record
        cut = (control.asked or "").startswith(CUT)
        return row_of(case, record, read_trace(store.trace_path(case.thread)), cut=cut)
    except AgentLoopError as error:
        return failed_row(case, str(error))
    except Exception as error:  # the edge of an attempt: the others go on
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return failed_row(case, f"unexpected {type(error).__name__} at {place}: {error}")


def tokens_so_far(store: RunStore, thread: str) -> int:
    """What an attempt that will be gone on with has spent already."""
    try:
        table = store.read_record(thread).get("tokens")
    except ThreadError:
        return 0
    rows = table.values() if isinstance(table, Mapping) else ()
    counts = [row.get(key) for row in rows if isinstance(row, Mapping) for key in _COUNTS]
    return sum(count for count in counts if isinstance(count, int))


def keep_trace(store: RunStore, stem: str, row: Attempt) -> str:
    """Put the trace beside the report, where pruning runs does not take it; gives its place."""
    source = store.trace_path(row.thread)
    if not source.is_file():
        return ""
    name = f"{row.thread.removeprefix(f'eval.{stem}.')}.jsonl"
    target = store.root / FOLDER / stem / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        target.unlink()
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)
    return target.relative_to(store.root).as_posix()


_COUNTS = ("input_tokens", "output_tokens")


def _ended(store: RunStore, thread: str) -> Mapping[str, Json] | None:
    """The record of a run that ended before its row was written."""
    try:
        record = store.read_record(thread)
    except ThreadError:
        return None
    return record if is_over(record) else None


def _driven(
    workshop: Workshop, case: Case, control: Control, live: Events, time_limit_s: float | None
) -> Result:
    settings: Config = config_of(workshop.config, case.task.name, case.n)
    limits = Limits(max_pauses=0, time_limit_s=time_limit_s)
    ask = Ask(owner=Stopping(), live=live, control=control, limits=limits)
    if workshop.store.read_file(case.thread, JOB) is None:
        return workshop.run(case.task, case.thread, ask, settings)
    return workshop.go_on(case.thread, settings, ask, None)
