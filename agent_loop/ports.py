"""The seams of the system, and the frozen values that cross them.

Implementations live in rooms above and never import each other; `assemble` joins them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Role = Literal["lead", "worker", "reviewer", "escalation"]
Outcome = Literal[
    "passed",
    "accepted",
    "stopped",
    "capped",
    "paused",
    "nothing_to_fix",
    "budget",
    "cancelled",
    "error",
]
Isolation = Literal["separate", "shared", "command", "pytest", "citations", "none"]


# --- models ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one or several model calls cost. Unknown is not zero: see `unmeasured_calls`."""

    calls: int = 0
    unmeasured_calls: int = 0
    """Calls whose server gave no token counts; the sums below leave them out."""
    input_tokens: int = 0
    output_tokens: int = 0
    """Generated tokens, reasoning included."""
    reused_tokens: int = 0
    """Input tokens the server took from its prefix cache, where it says so."""
    load_s: float = 0.0
    """Seconds spent loading weights; never counted against an answer's time limit."""
    seconds: float = 0.0
    """Wall clock of the calls, retries and waits included."""
    retries: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            unmeasured_calls=self.unmeasured_calls + other.unmeasured_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reused_tokens=self.reused_tokens + other.reused_tokens,
            load_s=self.load_s + other.load_s,
            seconds=self.seconds + other.seconds,
            retries=self.retries + other.retries,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What exactly answered; `None` where a provider does not say."""

    name: str
    """As configured: `provider:model`."""
    answered: str
    """What really answered: differs after a fallback."""
    digest: str | None = None
    quantisation: str | None = None
    template_hash: str | None = None
    server_version: str | None = None
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The text one model call gave, reasoning already taken out of it."""

    text: str
    reasoning: str = ""
    finish: Literal["stop", "length"] = "stop"
    """`length`: the answer was cut at its token limit and must not be applied."""
    usage: Usage
    answered: str
    """The model that really answered, `provider:model`."""
    context_cut: bool = False
    """The server processed fewer prompt tokens than were sent: recorded as `truncated`."""
    notes: tuple[str, ...] = ()
    """One line per retry or oddity, for the trace."""


class Cancel(Protocol):
    """Somebody may want the work in hand to stop (`threading.Event` fits)."""

    def is_set(self) -> bool: ...


class Model(Protocol):
    """One configured model behind one role."""

    @property
    def name(self) -> str:
        """`provider:model`, as configured."""
        ...

    def preflight(self) -> None:
        """Find out before the first call whether this model can be asked.

        Raises:
            ModelUnavailable: server down or model missing; the message says what to type.
        """
        ...

    def ask(
        self,
        messages: Sequence[Message],
        *,
        on_text: Callable[[str], None] | None = None,
        cancel: Cancel | None = None,
    ) -> Reply:
        """One chat call, transient faults retried inside and counted in `Reply.usage`.

        Raises:
            ModelUnavailable: it could not be asked (retries spent, context refused, model missing).
            Cancelled: `cancel` was set; the server-side generation was dropped.
        """
        ...

    def fingerprint(self) -> Fingerprint: ...

    def close(self) -> None: ...


# --- sandbox --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Python text that runs inside a container: our own code, never a model's.

    `modules` are (name, source) pairs put into `sys.modules` in this order; then
    `entry` ("module:function") is called without arguments, standard input and output being
    the session's pipe. A warm session has already done all that and waits on standard input.
    """

    name: str
    modules: tuple[tuple[str, str], ...]
    entry: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one container may use."""

    memory_mib: int = 256
    """Hard cap, swap off."""
    cpus: float = 1.0
    pids: int = 128
    open_files: int = 256
    tmp_mib: int = 16
    """Size of the noexec tmpfs at /tmp."""
    output_bytes: int = 8 << 20
    """Standard output and error together; past it the session is killed."""
    life_s: float = 120.0
    """Wall clock from first use to kill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A read-only folder of the host inside the container."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What kind of container is wanted; equal boxes share one warm pool."""

    program: Program
    limits: Limits = Limits()
    mounts: tuple[Mount, ...] = ()
    image: str | None = None
    """Image id (`sha256:…`); `None` is the pinned base image. Never a tag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a session ended."""

    code: int | None
    """`None`: killed by us before it ended."""
    oom_killed: bool
    stderr: str
    """Last 16,000 characters."""


class Session(Protocol):
    """One disposable container, spoken to over its pipe. Judges one thing, then is destroyed.

    Raises (every method): SandboxUnavailable when the engine failed, so nothing was judged.
    """

    def send(self, data: bytes, *, deadline: float) -> None:
        """Write all of `data`. `deadline` is on `Clock.monotonic()`.

        Raises:
            DeadlinePassed: the program did not read it in time.
            BrokenPipeError: the program has ended.
        """
        ...

    def receive(self, *, deadline: float) -> bytes:
        """The next bytes of standard output, at most 1 MiB; `b""` when it has ended.

        Raises:
            DeadlinePassed: nothing came in time.
        """
        ...

    def close_input(self) -> None: ...

    def end(self, *, deadline: float) -> Exit:
        """Wait for the program's own end, kill it at the deadline."""
        ...

    def close(self) -> None:
        """Kill and remove; safe to call twice and from another thread."""
        ...

    def __enter__(self) -> "Session": ...

    def __exit__(self, *exc: object) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeLine:
    """One protection, looked at inside a real container."""

    protection: str
    held: bool
    detail: str


class Sandbox(Protocol):
    """Where model-written code runs."""

    def probe(self) -> Sequence[ProbeLine]:
        """Look at every protection inside a real container; once per process.

        Raises:
            SandboxUnavailable: one is missing; no model code has run.
        """
        ...

    def open(self, box: Box) -> Session:
        """A fresh session, a waiting one where the pool has it. Probes first if nobody has."""
        ...

    def warm(self, box: Box, count: int) -> None:
        """Start sessions of this kind ahead, in the background."""
        ...

    def describe(self) -> Mapping[str, Json]:
        """Engine, runtime, image id and limits, for the record."""
        ...

    def close(self) -> None: ...


# --- check ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One independent reason to believe a verdict."""

    name: str
    held: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A signal that a person must read this pass before trusting it."""

    signal: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What a reply offers for judgement, taken out of its text."""

    answer: str
    """Code, patch or research answer."""
    digest: str
    """SHA-256 over what matters to the check: equal digests would be judged alike."""
    notes: tuple[str, ...] = ()
    """What was recovered, corrected or ignored while reading the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the deterministic check decided. Never built from model text."""

    passed: bool
    isolation: Isolation
    reason: str
    """One line: `12 of 12 asserts held`, `assert 3 failed`, `refused: …`."""
    feedback: str = ""
    """Shown to worker and reviewer; never quotes a hidden test. At most 16,000 characters."""
    output: str = ""
    """For the owner's eyes (record and page); may name hidden tests."""
    proofs: tuple[Proof, ...] = ()
    looks: tuple[Look, ...] = ()
    executed: tuple[str, ...] = ()
    """Ids of the asserts or tests that really ran."""
    seconds: float = 0.0


class Check(Protocol):
    """The deterministic judgement of one task."""

    def parse(self, reply: Reply) -> Candidate:
        """Take the candidate out of a reply.

        Raises:
            ReplyError: nothing usable; the message is the worker's feedback.
        """
        ...

    def judge(self, candidate: Candidate) -> Verdict:
        """Judge in fresh containers.

        Raises:
            FaultError: could not judge; never costs a lap.
        """
        ...

    def prepare(self) -> None:
        """Start what the next `judge` needs while a model is thinking."""
        ...

    def close(self) -> None: ...


# --- owner, clock, events -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerCall:
    """What the person is asked at the pause."""

    thread: str
    nonce: str
    """The id of this pause: an answer that names another one is not for it."""
    question: str
    tests_passed: bool
    rejections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerReply:
    """What the person said."""

    kind: Literal["stop", "accept", "guidance"]
    text: str
    source: Literal["terminal", "mailbox", "argument"]


class Owner(Protocol):
    """The person at the pause."""

    def answer(self, call: OwnerCall) -> OwnerReply | None:
        """Wait for an answer. `None`: nobody is there, the run stays paused."""
        ...


class Clock(Protocol):
    """Time, so that tests can own it."""

    def monotonic(self) -> float: ...

    def now_iso(self) -> str:
        """UTC, ISO 8601 with `Z`."""
        ...

    def sleep(self, seconds: float) -> None: ...


class Events(Protocol):
    """Where a run says what it does: the trace, the live view, the job server."""

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        """One event. `kind` is one of the words in docs/architecture.md, section Events."""
        ...
