"""Starts a run, goes on with one, says where one stands. `assemble` and `cli` call this."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from agent_loop.errors import ThreadError
from agent_loop.graph import database
from agent_loop.graph.driver import Driver
from agent_loop.graph.jobs import FILE, Begun, read_job, write_job
from agent_loop.graph.parts import Control, Job, Limits, Parts, Result, Standing
from agent_loop.graph.saved import config_of, ended_before, look_at
from agent_loop.ports import OwnerReply
from agent_loop.prompts import load
from agent_loop.store import RunStore

__all__ = ["held", "read_job", "resume", "standing", "start"]


def start(
    thread: str, job: Job, parts: Parts, store: RunStore, *, control: Control | None = None
) -> Result:
    """Run a task under a new thread id until it ends, pauses, or is told to stop.

    A fault does not raise: it is the outcome `error`, in the result and in the record, resumable.

    Raises:
        ThreadError: the thread is there already, badly named, or driven elsewhere.
        ConfigError: an unknown prompt variant.
        StoreFault: the database or the disk cannot be written; no model was asked.
    """
    load(job.brief.kind, variants=job.prompt_variants)  # before a folder and a lock are made
    with held(thread, parts, store) as checkpoints:
        if store.read_file(thread, FILE) is not None:
            raise ThreadError(
                f"thread '{thread}' is there already. Say --continue {thread}, "
                "or choose another --thread."
            )
        if checkpoints.get_tuple(config_of(thread)) is not None:
            raise ThreadError(
                f"thread '{thread}' has checkpoints but no folder in {store.root}. "
                "Choose another --thread."
            )
        begun = Begun(thread=thread, job=job, started=parts.clock.now_iso())
        driver = Driver(begun, parts, store, checkpoints, control or Control())
        write_job(store, begun)
        return driver.begin(resumed=False)


def resume(
    thread: str,
    parts: Parts,
    store: RunStore,
    *,
    reply: OwnerReply | None = None,
    limits: Limits | None = None,
    control: Control | None = None,
) -> Result:
    """Go on with a run that was killed, paused, drained, or stopped by a fault or its budget.

    `reply` answers the owner call it is paused at. `limits` replaces those it has (a larger
    budget, say) for good; what is spent stays spent. A run killed before its first step begins.

    Raises:
        ThreadError: unknown, finished, driven elsewhere; or `reply` is given and it asks nobody.
        StoreFault: the database or the disk cannot be used, or holds a state that is not ours.
    """
    read_job(store, thread)  # an unknown thread gets its error before a folder and a lock are made
    with held(thread, parts, store) as checkpoints:
        begun = read_job(store, thread)
        if limits is not None and limits != begun.job.limits:
            begun = replace(begun, job=replace(begun.job, limits=limits))
            write_job(store, begun)
        driver = Driver(begun, parts, store, checkpoints, control or Control())
        return driver.go_on(reply)


def standing(store: RunStore, thread: str) -> Standing:
    """Where a thread stands, without driving it; waits for no writer.

    Raises:
        ThreadError: unknown.
        StoreFault: its state cannot be read.
    """
    read_job(store, thread)
    with database.read_only(store, thread) as checkpoints:
        look = look_at(checkpoints, thread) if checkpoints else None
    if look is None:
        ended = ended_before(store, thread)
        following = "" if ended else "start"
        return Standing(thread=thread, next=following, outcome=ended, laps=0, nonce="", question="")
    return Standing(
        thread=thread,
        next=look.next,
        outcome=look.state["outcome"],
        laps=look.state["lap"],
        nonce=look.call.nonce if look.call else "",
        question=look.call.question if look.call else "",
        replies=look.state["replies"],
    )


@contextmanager
def held(thread: str, parts: Parts, store: RunStore) -> Iterator[database.Saver]:
    """The thread's lock and its open database, for as long as it is driven."""
    with (
        store.lock(thread, parts.clock),
        database.opened(store, thread) as checkpoints,
    ):
        yield checkpoints
