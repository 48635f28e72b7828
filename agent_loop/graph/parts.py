"""What a run is made of, and how it can be told to stop. `assemble` fills these."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from langgraph.runtime import RunControl

from agent_loop.errors import AgentLoopError
from agent_loop.graph.state import State
from agent_loop.ports import (
    Cancel,
    Check,
    Clock,
    Events,
    Json,
    Message,
    Model,
    Outcome,
    Owner,
    Role,
    Usage,
)
from agent_loop.prompts import Brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may spend in all, over every resume. `None`: no limit."""

    max_pauses: int | None = None
    """Owner calls before a run at its cap ends as `capped`; 0 asks nobody."""
    budget_tokens: int | None = None
    time_limit_s: float | None = None
    """Seconds in nodes, the owner's waiting left out."""
    cost_usd: float | None = None
    """US dollars of model calls; a call of unknown price ends the run, because it may cost more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a run is about. Kept in `runs/<thread>/job.json`, so that a later process can go on."""

    brief: Brief
    name: str
    """The task's name, for people."""
    task_hash: str
    test_hash: str
    """SHA-256 over what decides (visible and hidden tests)."""
    task: Mapping[str, Json]
    """Every field of the task, as plain JSON: assemble makes the task again from it."""
    config: Mapping[str, Json]
    config_hash: str
    rejection_cap: int = 3
    samples: int = 1
    """Answers of the worker in one lap."""
    limits: Limits = Limits()
    prompt_variants: tuple[str, ...] = ()
    prompt_chars: int = 24_000
    """Longest prompt in characters (see prompts.Prompts.max_chars)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A node of some kinds of task: `reproduce` before the lead, `search` before the worker.

    `run` gets the state and returns `material` (text that stands in every prompt's opening) and,
    to end the run, `outcome` with `reason`. It may raise FaultError.
    """

    name: str
    run: Callable[[State], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One lap of a worker with tools."""

    model: Model
    role: Role
    messages: tuple[Message, ...]
    """Its opening: the task, the plan, the laps so far."""
    head: Mapping[str, Json]
    """In front of every event: node, role, lap and sample."""
    events: Events
    cancel: Cancel
    left: Limits = Limits()
    """What the run may still spend: no episode may spend more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What a lap with tools gave: a text that the check can parse, and what it cost."""

    text: str
    answered: str
    usage: Usage
    replies: int
    guessed_tokens: int = 0
    context_cuts: int = 0
    format_failures: int = 0
    """Answers that held no call that could be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The living things a run works with. The caller closes them."""

    models: Mapping[Role, Model]
    """`lead`, `worker`, `reviewer`; `escalation` where configured."""
    check: Check
    owner: Owner
    clock: Clock
    live: Events | None = None
    """Hears every event beside the trace, `model_text` too."""
    sandbox: Callable[[], Mapping[str, Json]] = dict
    """`Sandbox.describe`, asked when the record is written."""
    first: Step | None = None
    before_worker: Step | None = None
    episode: Callable[[Work], Worked] | None = None
    """The worker with tools; `None`: worker and escalation answer with one reply."""


class Control:
    """Tells a run to stop. Any thread may call it; made anew for each drive."""

    def __init__(self) -> None:
        self.graph = RunControl()
        self.cancelled = threading.Event()
        """Reaches `Model.ask`."""
        self._stops: list[Callable[[], None]] = []

    def on_kill(self, stop: Callable[[], None]) -> None:
        """Called once when the run is killed, from the thread that kills; at once if it was."""
        self._stops.append(stop)
        if self.cancelled.is_set():
            stop()

    def drain(self, reason: str = "cancelled") -> None:
        """Stop at the next node boundary (the first Ctrl-C): the node in hand ends as usual."""
        self.graph.request_drain(reason)

    def kill(self) -> None:
        """Stop now (the second Ctrl-C): a model in its answer and a check are cut off."""
        self.drain()
        self.cancelled.set()
        for stop in tuple(self._stops):
            stop()

    @property
    def asked(self) -> str | None:
        """Why it was told to stop, `None` if it was not."""
        return self.graph.drain_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a drive ended. The same is in the record."""

    thread: str
    outcome: Outcome
    reason: str
    exit_code: int
    record: Mapping[str, Json]
    error: AgentLoopError | None = None
    """The fault behind outcome `error`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a thread stands, read without driving it."""

    thread: str
    next: str
    """The node that runs next; `start`: nothing ran yet; empty: it ended."""
    outcome: str
    laps: int
    nonce: str
    """The id of the pause it waits at; empty: it waits for nobody."""
    question: str
    replies: Mapping[str, int] = field(default_factory=dict)
    """Finished model calls by role (`models.Script(answered=...)`)."""
