"""The seams of a run: its owner, its clock and where it says what it does."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from agent_loop.ports.words import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerCall:
    """What the person is asked at the pause."""

    thread: str
    nonce: str
    """The id of this pause: an answer that names another one is not for it."""
    question: str
    tests_passed: bool
    rejections: int
    answer: str = ""
    """What the person would accept: code, a diff, a text; written by a model."""


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


class SystemClock:
    """The machine's clock; the `Clock` of every run that is not a test."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now_iso(self) -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))


class Events(Protocol):
    """Where a run says what it does: the trace, the live view, the job server."""

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        """One event. `kind` is one of the words in docs/architecture.md, section Events."""
        ...
