"""Drives one thread that is locked and whose database is open."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained, GraphRecursionError
from langgraph.types import Command
from langsmith import tracing_context

from agent_loop.errors import AgentLoopError, Cancelled, FaultError, StoreFault, ThreadError
from agent_loop.graph.build import build
from agent_loop.graph.database import Saver, fault_of
from agent_loop.graph.jobs import Begun
from agent_loop.graph.nodes import Run, spent
from agent_loop.graph.parts import Control, Parts, Result
from agent_loop.graph.record import Ending, certificate, facts_of, record, summary
from agent_loop.graph.saved import Look, config_of, ended_before, look_at
from agent_loop.graph.state import State, fresh
from agent_loop.ports import Json, Outcome, OwnerCall, OwnerReply
from agent_loop.prompts import load
from agent_loop.store import RunStore, Tee
from agent_loop.store.trace import last_event

_EXIT: dict[Outcome, int] = {"passed": 0, "accepted": 0, "paused": 5, "cancelled": 130}
Move = dict[str, Any] | Command[Any] | None
"""What an invoke of the graph is given: a first state, an answer, or nothing to go on."""
_ASKING = "ask_owner"
_STEPS_PER_LAP = 3
_MORE_STEPS = 20
_NOTE_EVERY_S = 1.0
"""Laps of a real model take longer; without it, quick laps would spend a third on their record."""


class Driver:
    """One drive of one thread: from where it stands to its end, a pause, or a stop."""

    def __init__(
        self,
        begun: Begun,
        parts: Parts,
        store: RunStore,
        checkpoints: Saver,
        control: Control,
    ) -> None:
        job = begun.job
        trace = store.trace(begun.thread, parts.clock)
        self._begun = begun
        self._thread = begun.thread
        self._job = job
        self._parts = parts
        self._store = store
        self._control = control
        self._checkpoints = checkpoints
        self._events = Tee(trace, parts.live) if parts.live else trace
        self._noted = float("-inf")
        self._last = fresh(
            rejection_cap=job.rejection_cap, can_escalate="escalation" in parts.models
        )
        prompts = load(job.brief.kind, variants=job.prompt_variants, max_chars=job.prompt_chars)
        self._run = Run(
            brief=job.brief, prompts=prompts, parts=parts, events=self._events, control=control,
            limits=job.limits, samples=job.samples, lap_closed=self._note,
        )  # fmt: skip

    @property
    def run(self) -> Run:
        """What the nodes work with."""
        return self._run

    def begin(self, *, resumed: bool) -> Result:
        """Run from the first node."""
        self._announce(resumed=resumed)
        return self._guarded(lambda: self._go(dict(self._last), None))

    def go_on(self, reply: OwnerReply | None) -> Result:
        """Run from where the database says."""
        look = look_at(self._checkpoints, self._thread)
        if look is None:
            if ended := ended_before(self._store, self._thread):
                raise ThreadError(
                    f"thread '{self._thread}' has ended ({ended}) and its steps were pruned: "
                    f"nothing to continue. Say --show {self._thread} to see it."
                )
            self._refuse_reply(reply, asking=False)
            return self.begin(resumed=True)
        self._last = look.state
        if look.state["outcome"]:
            self._refuse_finished(look.state)
            return self._finish(cast(Outcome, look.state["outcome"]), look.state["reason"])
        self._refuse_reply(reply, asking=look.next == _ASKING)
        self._run = replace(self._run, interrupted=self._cut_off())
        self._announce(resumed=True)
        return self._guarded(lambda: self._go_on_from(look, reply))

    # --- the loop

    def _go_on_from(self, look: Look, reply: OwnerReply | None) -> Result:
        if look.call is None:
            return self._go(None, reply)
        said = self._answer(look.call, reply)
        return said if isinstance(said, Result) else self._go(said, None)

    def _go(self, value: Move, reply: OwnerReply | None) -> Result:
        """Advance until something other than an answered owner call comes."""
        while True:
            if why := spent(self._last, self._job.limits):
                return self._finish("budget", why.removeprefix("budget: "))
            self._advance(value)
            look = self._seen()
            if look.call is None:
                state = look.state
                return self._finish(cast(Outcome, state["outcome"]), state["reason"])
            said = self._answer(look.call, reply)
            if isinstance(said, Result):
                return said
            value, reply = said, None

    def _guarded(self, drive: Callable[[], Result]) -> Result:
        """Every way out that is no end of the graph becomes an outcome."""
        try:
            return drive()
        except GraphDrained:
            return self._drained()
        except (Cancelled, KeyboardInterrupt) as stop:
            return self._stopped(stop)
        except FaultError as fault:
            return self._faulted(fault)
        except Exception as bug:
            self._faulted(FaultError(f"internal error: {type(bug).__name__}: {bug}"))
            raise

    def _advance(self, value: Move) -> None:
        laps = self._job.rejection_cap + 2
        config: RunnableConfig = {
            **config_of(self._thread),
            # Its default of 10,007 stops nothing; a turn of the worker needs this much.
            "recursion_limit": laps * _STEPS_PER_LAP + _MORE_STEPS,
        }
        try:
            # Whatever the environment says: prompts do not leave the machine.
            with tracing_context(enabled=False):
                self._graph.invoke(
                    cast(Any, value), config, durability="sync", control=self._control.graph
                )
        except GraphRecursionError as error:
            raise StoreFault(f"the run took more steps than its caps allow ({error}).") from error
        except Exception as error:
            if fault := fault_of(error):
                raise fault from error
            raise

    @cached_property
    def _graph(self) -> Any:  # noqa: ANN401 - langgraph's compiled type has four parameters
        return build(self._run).compile(checkpointer=self._checkpoints)

    def _answer(self, call: OwnerCall, reply: OwnerReply | None) -> Command[Any] | Result:
        """A Command that carries the answer, or the Result of a run that stays paused."""
        mailbox = self._store.mailbox(self._thread)
        said = mailbox.answered(call.nonce)
        if said is None:
            fields: dict[str, Json] = {
                "nonce": call.nonce,
                "question": call.question,
                "tests_passed": call.tests_passed,
                "rejections": call.rejections,
            }
            self._events.emit("paused", fields)
            said = reply or self._parts.owner.answer(call)
            if said is None:
                return self._finish("paused", call.question)
            # On the disk before anything else: a kill from here on does not ask again.
            mailbox.keep(call.nonce, said)
            self._events.emit(
                "owner_replied",
                {
                    "nonce": call.nonce,
                    "answer": said.kind,
                    "text": said.text,
                    "source": said.source,
                },
            )
        # A dict of our own: a bare None crashes langgraph, other shapes it reads as id -> value.
        return Command(resume={"kind": said.kind, "text": said.text, "source": said.source})

    def _seen(self) -> Look:
        look = look_at(self._checkpoints, self._thread)
        if look is None:
            raise StoreFault("checkpoints.sqlite: the run's own steps are gone.")
        self._last = look.state
        return look

    # --- ways out

    def _drained(self) -> Result:
        self._look_again()
        why = self._control.asked or "cancelled"
        if why.startswith("budget: "):
            return self._finish("budget", why.removeprefix("budget: "))
        return self._finish("cancelled", f"{why}; it can be continued")

    def _stopped(self, stop: BaseException) -> Result:
        self._look_again()
        words = str(stop) or "interrupted"
        return self._finish("cancelled", f"{words}; it can be continued")

    def _faulted(self, fault: FaultError) -> Result:
        self._look_again()
        return self._finish("error", str(fault), fault)

    def _look_again(self) -> None:
        """The newest state for the record; where the database is the fault, the last known one."""
        try:
            look = look_at(self._checkpoints, self._thread)
        except FaultError:
            return
        self._last = look.state if look else self._last

    def _finish(self, outcome: Outcome, reason: str, error: AgentLoopError | None = None) -> Result:
        ending = Ending(outcome=outcome, reason=reason, at=self._parts.clock.now_iso())
        fields = record(self._begun, self._last, ending, facts_of(self._parts))
        self._events.emit("run_ended", {"outcome": outcome, "reason": reason})
        if outcome == "passed":
            paper = certificate(self._begun, fields)
            self._store.write_file(self._thread, "certificate.json", paper)
        # Last: a record with an outcome says that everything else is written.
        self._store.write_record(self._thread, fields, summary(fields))
        code = error.exit_code if error else _EXIT.get(outcome, 1)
        return Result(
            thread=self._thread, outcome=outcome, reason=reason, exit_code=code, record=fields,
            error=error,
        )  # fmt: skip

    # --- the way in

    def _announce(self, *, resumed: bool) -> None:
        job = self._job
        self._events.emit(
            "run_started",
            {
                "task": job.name,
                "task_hash": job.task_hash,
                "task_kind": job.brief.kind,
                "config": job.config,
                "resumed": resumed,
                **({"forked": self._begun.forked} if self._begun.forked else {}),
            },
        )
        fields = record(self._begun, self._last, Ending(), {})
        self._store.write_record(self._thread, fields, summary(fields))

    def _note(self, state: State) -> None:
        """Refresh the record of a run that goes on; a disk that refuses will say so elsewhere."""
        now = self._parts.clock.monotonic()
        if not state["outcome"] and now - self._noted >= _NOTE_EVERY_S:
            self._noted = now
            fields = record(self._begun, state, Ending(), {})
            with contextlib.suppress(StoreFault):
                line = summary(fields)
                self._store.write_record(self._thread, fields, line, lasting=False)

    def _cut_off(self) -> tuple[str, int] | None:
        """The node and lap that the trace names last: to run them again is to repeat them."""
        event = last_event(self._store.trace_path(self._thread), ("node_started", "node_finished"))
        if event is None:
            return None
        node, lap = event.get("node"), event.get("lap")
        return (node, lap) if isinstance(node, str) and isinstance(lap, int) else None

    def _refuse_finished(self, state: State) -> None:
        try:
            record = self._store.read_record(self._thread)
        except ThreadError:
            return  # killed before its record was written: write it now
        if record["outcome"] == state["outcome"]:
            raise ThreadError(
                f"thread '{self._thread}' has ended ({state['outcome']}): nothing to continue. "
                f"Say --show {self._thread} to see it."
            )

    def _refuse_reply(self, reply: OwnerReply | None, *, asking: bool) -> None:
        if reply is not None and not asking:
            raise ThreadError(
                f"thread '{self._thread}' asks its owner nothing now. "
                f"Say --continue {self._thread} without an answer."
            )
