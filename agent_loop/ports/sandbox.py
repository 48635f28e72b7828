"""The seam to the place where model-written code runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_loop.ports.words import Json


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
    """A read-only folder or file of the host inside the container."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A writable folder in memory: of no disk of the host, and gone with the session it began in.

    Two sessions may share one, so that what runs in the first cannot touch who reads it in the
    second.
    """

    target: str
    size_mib: int = 64
    files: int = 50_000
    """Most files and folders."""
    of: str = ""
    """`Session.name` of the session it began in; empty: a fresh and empty one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What kind of container is wanted; equal boxes share one warm pool."""

    program: Program
    limits: Limits = Limits()
    mounts: tuple[Mount, ...] = ()
    image: str | None = None
    """Image id (`sha256:…`); `None` is the pinned base image. Never a tag."""
    python: tuple[str, ...] = ("python3", "-I", "-S", "-B", "-u")
    """Interpreter and its flags; `-S` keeps an image's installed packages out of code tasks."""
    workspace: Workspace | None = None
    init: bool = True
    """False: the program itself is process 1, which nothing inside can kill or stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a session ended."""

    code: int | None
    """`None`: killed by us before it ended."""
    oom_killed: bool
    stderr: str
    """Last 16,000 characters."""
    why: str = ""
    """Why we killed it; empty when it ended by itself."""


class Session(Protocol):
    """One disposable container, spoken to over its pipe. Judges one thing, then is destroyed.

    Raises (every method): SandboxUnavailable when the engine failed, so nothing was judged.
    """

    @property
    def name(self) -> str:
        """Of its container; empty where there is none."""
        ...

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
