"""The seam to the deterministic judgement."""

from dataclasses import dataclass
from typing import Protocol

from agent_loop.ports.model import Reply
from agent_loop.ports.words import Isolation


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
class LinesRan:
    """Of one changed file: which of its changed lines ran, for the owner's eyes only."""

    path: str
    ran: tuple[int, ...]
    """1-based lines of the new file. Others may be no statement's first line: unknown, not idle."""


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
    lines: tuple[LinesRan, ...] = ()
    """Changed lines of a project's files, where they were traced."""
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
