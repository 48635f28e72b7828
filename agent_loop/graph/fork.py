"""A new run from a step of an old one. The old thread is only read: its history stays as it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langgraph.checkpoint.base import CheckpointTuple

from agent_loop.errors import StoreFault, ThreadError
from agent_loop.graph import database
from agent_loop.graph.build import build
from agent_loop.graph.drive import held, read_job
from agent_loop.graph.driver import Driver
from agent_loop.graph.jobs import FILE, Begun, write_job
from agent_loop.graph.owner import answered
from agent_loop.graph.parts import Control, Limits, Parts, Result
from agent_loop.graph.saved import Look, config_of, look_of
from agent_loop.graph.state import checked
from agent_loop.ports import Json
from agent_loop.store import RunStore

_MAX_STEPS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One saved step of a run: a place it can be forked at."""

    step: int
    next: str
    """The node that ran, or would run, from here; empty: the run had ended."""
    lap: int
    outcome: str
    checkpoint_id: str
    replies: dict[str, int] = field(default_factory=dict)
    """Finished model calls by role up to here."""

    @property
    def words(self) -> str:
        """For people."""
        if not self.next:
            return f"{self.step}: the end ({self.outcome})"
        return f"{self.step}: before {self.next}" + (f" in lap {self.lap}" if self.lap else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """What a new run is to begin with."""

    origin: str
    past: Past
    guidance: str = ""
    """Said as the owner would at a pause: a new turn begins with the worker."""
    limits: Limits | None = None
    """`None`: those of the old run."""


def steps(store: RunStore, thread: str) -> list[Past]:
    """The saved steps of a thread, oldest first; a pruned thread has its last one only.

    Raises:
        ThreadError: unknown.
        StoreFault: the database cannot be read.
    """
    read_job(store, thread)
    with database.read_only(store, thread) as checkpoints:
        found = list(_pasts(thread, checkpoints)) if checkpoints else []
    return sorted(found, key=lambda past: past.step)


def past_of(store: RunStore, thread: str, step: int) -> Past:
    """The step of that number.

    Raises:
        ThreadError: unknown thread or step; lists the steps there are.
        StoreFault: the database cannot be read.
    """
    known = steps(store, thread)
    for past in known:
        if past.step == step:
            return past
    there = "; ".join(past.words for past in known[-40:]) or "none: it was pruned, or never began"
    raise ThreadError(f"thread '{thread}' has no step {step}. Its steps are {there}.")


def refuse_unforkable(fork: Fork) -> None:
    """Before anything is asked: a fork must have something left to do.

    Raises:
        ThreadError: the step is the end of the run and nothing new is said, or it is too early
            for a word of the owner.
    """
    past, origin = fork.past, fork.origin
    if not past.next and not fork.guidance:
        raise ThreadError(
            f"step {past.step} is the end of '{origin}': nothing is left to do from there. "
            "Fork at an earlier step, or say with --guidance what the worker should do."
        )
    if fork.guidance and not past.lap:
        raise ThreadError(
            f"step {past.step} of '{origin}' is before the first lap: there is nothing to guide "
            "yet. Fork at a later step, or leave --guidance out."
        )


def start_fork(
    fork: Fork, new: str, parts: Parts, store: RunStore, *, control: Control | None = None
) -> Result:
    """Run from the old step under the new thread id until it ends, pauses, or is told to stop.

    Laps, tokens and seconds up to the fork are the old run's and count on.

    Raises:
        ThreadError: `new` is there already or driven elsewhere, or nothing is left to do.
        StoreFault: the database cannot be used, or the step is gone.
    """
    refuse_unforkable(fork)
    job = read_job(store, fork.origin).job
    job = replace(job, limits=fork.limits) if fork.limits else job
    with database.read_only(store, fork.origin) as old:
        found = old and old.get_tuple(config_of(fork.origin, fork.past.checkpoint_id))
    if not found:
        raise StoreFault(f"step {fork.past.step} of '{fork.origin}' is gone from the database.")
    with held(new, parts, store) as checkpoints:
        if store.read_file(new, FILE) is not None or checkpoints.get_tuple(config_of(new)):
            raise ThreadError(f"thread '{new}' is there already. Choose another --thread.")
        begun = Begun(
            thread=new, job=job, started=parts.clock.now_iso(),
            forked=f"{fork.origin}@{fork.past.step}",
        )  # fmt: skip
        driver = Driver(begun, parts, store, checkpoints, control or Control())
        _copy(found, new, checkpoints)
        if fork.guidance:
            _guide(fork.guidance, new, driver, checkpoints)
        write_job(store, begun)
        return driver.go_on(None)


def _pasts(thread: str, checkpoints: database.Saver) -> Iterator[Past]:
    for found in checkpoints.list(config_of(thread), limit=_MAX_STEPS):
        look = look_of(thread, found)
        step = found.metadata.get("step")
        if look is not None and isinstance(step, int):
            yield Past(
                step=step,
                next=look.next,
                lap=look.state["lap"],
                outcome=look.state["outcome"],
                checkpoint_id=str(found.checkpoint["id"]),
                replies=look.state["replies"],
            )


def _copy(found: CheckpointTuple, new: str, checkpoints: database.Saver) -> None:
    """Written by the new thread's saver, so that its long texts are the new thread's own.

    A pause that waits there is not copied: its node asks again.
    """
    metadata = cast(Any, {"source": "fork", "step": found.metadata.get("step", 0), "parents": {}})
    checkpoints.put(config_of(new), found.checkpoint, metadata, {})


def _guide(text: str, new: str, driver: Driver, checkpoints: database.Saver) -> None:
    """What the owner's guidance does at a pause, done here: the counters start again."""
    copied = checkpoints.get_tuple(config_of(new))
    look: Look | None = look_of(new, copied) if copied else None
    if look is None:
        raise StoreFault("checkpoints.sqlite: the copied step cannot be read.")
    state = checked({**cast("Mapping[str, Json]", look.state), "outcome": "", "reason": ""})
    said = answered(state, {"kind": "guidance", "text": text})
    update = {**said, "pauses": state["pauses"], "outcome": "", "reason": ""}
    graph = build(driver.run).compile(checkpointer=checkpoints)
    graph.update_state(config_of(new), update, as_node="ask_owner")
