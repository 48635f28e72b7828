"""Runs tasks, one after another or several at a time, and says how each ended."""

import queue
import shlex
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop.assemble import Ask, Workshop
from agent_loop.assemble.stopping import Stopper
from agent_loop.cli.live import Board
from agent_loop.cli.owner import CannedOwner, TerminalOwner, Typist
from agent_loop.cli.tables import Row, answer, ending, token_table, trust
from agent_loop.errors import AgentLoopError, SandboxUnavailable
from agent_loop.graph.parts import Control, Limits, Result
from agent_loop.ports import Json, Owner, OwnerReply
from agent_loop.store import MailboxOwner, reply_from_text
from agent_loop.tasks import Task
from agent_loop.terminal.screen import Screen

PATCH = "changes.patch"
_WORST_FIRST = (130, 3, 4, 2, 1, 5, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A run that is to be: called with what it is given, it runs to its end."""

    name: str
    thread: str
    run: Callable[[Ask], Result]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How one of them ended."""

    row: Row
    exit_code: int


@dataclass(slots=True, kw_only=True)
class Batch:
    """The runs of one command."""

    workshop: Workshop
    screen: Screen
    board: Board
    stopper: Stopper
    typist: Typist
    limits: Limits | None = None
    canned: tuple[OwnerReply, ...] = ()
    """Answers to the first owner calls of each run."""
    named: bool = False
    """Several runs at once: each line says whose it is."""
    total: int = 1
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _said: threading.Lock = field(default_factory=threading.Lock)

    def run(self, planned: Sequence[Planned], jobs: int) -> list[Ended]:
        """Run them all, `jobs` at a time, in this order; the main thread stays free for signals."""
        self.total = len(planned)
        waiting: queue.SimpleQueue[tuple[int, Planned]] = queue.SimpleQueue()
        for item in enumerate(planned):
            waiting.put(item)
        ended: dict[int, Ended] = {}
        threads = [
            threading.Thread(target=self._work, args=(waiting, ended), daemon=True)
            for _ in range(min(jobs, len(planned)))
        ]
        with self.board.shown():
            for thread in threads:
                thread.start()
            self.stopper.wait(threads)
        for index, plan in enumerate(planned):
            ended.setdefault(index, _interrupted(plan))
            self.workshop.give_back(plan.thread)
        return [ended[index] for index in range(len(planned))]

    def _work(
        self, waiting: "queue.SimpleQueue[tuple[int, Planned]]", ended: dict[int, Ended]
    ) -> None:
        while not self.stopper.draining.is_set():
            try:
                index, plan = waiting.get_nowait()
            except queue.Empty:
                return
            if self.total > 1:
                self.board.say(f"[{index + 1} of {self.total}] {plan.name}", "bold")
            done = self._one(plan)
            ended[index] = done
            if done.exit_code == SandboxUnavailable.exit_code:
                _drop(waiting, ended, "not started: there is no sandbox")

    def _one(self, plan: Planned) -> Ended:
        try:
            with self.stopper.control() as control:
                result = plan.run(self._ask(plan, control))
        except AgentLoopError as error:
            return self._failed(plan, error)
        except Exception as error:  # the edge of a run: the other runs go on
            # A bug of ours: whoever reports it needs the place.
            self.screen.error(traceback.format_exc())
            return self._failed(plan, AgentLoopError(f"unexpected {type(error).__name__}: {error}"))
        with self._said:
            self._show(result)
        return Ended(row=_row(plan, result.record), exit_code=result.exit_code)

    def _failed(self, plan: Planned, error: AgentLoopError) -> Ended:
        self.board.drop(plan.thread)
        return refused(self.screen, plan.name, plan.thread, error)

    def _ask(self, plan: Planned, control: Control) -> Ask:
        return Ask(
            owner=self._owner(plan.thread),
            live=self.board.listener(plan.thread, named=self.named),
            control=control,
            limits=self.limits,
        )

    def _owner(self, thread: str) -> Owner:
        mailbox = MailboxOwner(self.workshop.store.mailbox(thread), self.workshop.clock, wait_s=0)
        owner = TerminalOwner(
            self.board,
            self.typist,
            turn=self._turn,
            mailbox=mailbox.poll,
            understand=lambda line: reply_from_text(line, "terminal"),
            stopping=self.stopper.draining,
        )
        return CannedOwner(self.canned, then=owner)

    def _show(self, result: Result) -> None:
        if self.screen.as_json:
            self.screen.machine({**result.record, "exit_code": result.exit_code})
        show_end(self.board, self.screen, result.record)
        patch = self.workshop.store.folder(result.thread) / PATCH
        for line in next_steps(result.thread, result.outcome, patch):
            self.board.say(line)


def next_steps(thread: str, outcome: str, patch: Path) -> list[str]:
    """What a person types next; `patch` need not be there."""
    lines = []
    if outcome in ("paused", "cancelled", "budget", "error"):
        lines.append(f"pick it up with: --continue {thread}")
    if outcome == "paused":
        lines.append(f"answer it with: --continue {thread} --owner-reply TEXT")
    if outcome in ("passed", "accepted") and patch.is_file():
        lines.append(
            f"read it, then: git -C YOUR_PROJECT apply {shlex.quote(str(patch.resolve()))}"
        )
    return lines


def show_end(board: Board, screen: Screen, record: Mapping[str, Json]) -> None:
    """How a run ended: answer, proofs, looks, tokens, and last the outcome."""
    if text := answer(record):
        board.say(text)
    for line in trust(record):
        board.say(line.text, line.style)
    if table := token_table(record):
        screen.show(table)
    last = ending(record)
    board.result(last.text, f"bold {last.style}")


def refused(screen: Screen, name: str, thread: str, error: AgentLoopError) -> Ended:
    """A run that never began, or that stopped without a record."""
    screen.error(f"error: {error}")
    if screen.as_json:
        screen.machine(
            {"task": name, "thread": thread, "outcome": "error", "reason": str(error),
             "exit_code": error.exit_code}
        )  # fmt: skip
    row = Row(task=name, thread=thread, outcome="error", reason=str(error))
    return Ended(row=row, exit_code=error.exit_code)


def exit_code(ended: Sequence[Ended]) -> int:
    """The one code of a whole batch: what most needs a person's eyes."""
    codes = {one.exit_code for one in ended}
    return next((code for code in _WORST_FIRST if code in codes), max(codes, default=0))


def plan_tasks(
    workshop: Workshop, given: Sequence[tuple[Task, Path | None]], thread: str | None
) -> list[Planned]:
    """A run for each task, under the given or a new thread id."""
    planned = []
    for task, _ in given:
        name = thread or workshop.new_thread(task.name)
        planned.append(Planned(name=task.name, thread=name, run=_runner(workshop, task, name)))
    return planned


def _runner(workshop: Workshop, task: Task, thread: str) -> Callable[[Ask], Result]:
    return lambda ask: workshop.run(task, thread, ask)


def _row(plan: Planned, record: Mapping[str, Json]) -> Row:
    tokens = record.get("tokens")
    rows = tokens.values() if isinstance(tokens, Mapping) else ()
    used = [used for used in rows if isinstance(used, Mapping)]
    laps, spent = record.get("laps"), record.get("spent_s")
    return Row(
        task=plan.name,
        thread=plan.thread,
        outcome=str(record.get("outcome") or "not ended"),
        look=record.get("look") is True,
        laps=len(laps) if isinstance(laps, list | tuple) else 0,
        tokens=sum(_whole(u.get("input_tokens")) + _whole(u.get("output_tokens")) for u in used),
        seconds=float(spent) if isinstance(spent, int | float) else 0.0,
        reason=str(record.get("reason") or ""),
    )


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _interrupted(plan: Planned) -> Ended:
    row = Row(task=plan.name, thread=plan.thread, outcome="cancelled", reason="interrupted")
    return Ended(row=row, exit_code=130)


def _drop(
    waiting: "queue.SimpleQueue[tuple[int, Planned]]", ended: dict[int, Ended], why: str
) -> None:
    while True:
        try:
            index, plan = waiting.get_nowait()
        except queue.Empty:
            return
        row = Row(task=plan.name, thread=plan.thread, outcome="error", reason=why)
        ended[index] = Ended(row=row, exit_code=SandboxUnavailable.exit_code)
