"""The gate for code tasks: `ports.Check` over containers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_loop.checks.code.apart import Finding
from agent_loop.checks.code.inside.marks import wrongly_skipped
from agent_loop.checks.code.looks import NO_HIDDEN
from agent_loop.checks.code.part import Part, parts_of
from agent_loop.checks.code.relay import JudgeRoom, Times
from agent_loop.checks.code.reply import candidate_from
from agent_loop.checks.code.separate import Separate
from agent_loop.checks.code.shared import Shared
from agent_loop.checks.code.wording import HIDDEN_FAILED, feedback_for, reason_for
from agent_loop.config import CheckSettings
from agent_loop.errors import TaskFileError
from agent_loop.ports import (
    Candidate,
    Clock,
    Limits,
    Look,
    Proof,
    Reply,
    Sandbox,
    Verdict,
)
from agent_loop.tasks import CodeTask

_DEFAULT_LIMITS = Limits()
_LIFE_BEYOND_S = 30.0
"""A container outlives the longest check in it."""


def cannot_judge_apart(task: CodeTask) -> tuple[Finding, ...]:
    """Why this task needs `isolation: shared`, with the lines; empty: it does not.

    Raises:
        TaskFileError: its tests do not parse.
    """
    return tuple(finding for part in parts_of(task) for finding in part.findings)


def looks(task: CodeTask) -> tuple[Look, ...]:
    """What a person should know about these tests before trusting a pass."""
    found = tuple(look for part in parts_of(task) for look in part.looks)
    return found if task.hidden_tests else (NO_HIDDEN, *found)


class CodeCheck:
    """Judges Python against asserts, `ports.Check`.

    Args:
        task: what is asked and what decides.
        sandbox: where both containers come from.
        settings: seconds per call and per check.
        clock: for deadlines and durations.
        limits: what each container may use.
        room: the judge's container, if several checks are to share one.

    Raises:
        TaskFileError: tests that do not parse, or that cannot be judged apart and do not say so.
    """

    def __init__(
        self,
        task: CodeTask,
        sandbox: Sandbox,
        settings: CheckSettings,
        clock: Clock,
        *,
        limits: Limits = _DEFAULT_LIMITS,
        room: JudgeRoom | None = None,
    ) -> None:
        limits = replace(limits, life_s=max(limits.life_s, settings.total_s + _LIFE_BEYOND_S))
        self._parts = parts_of(task)
        self._looks = looks(task)
        self._clock = clock
        self._own_room = None if room else JudgeRoom(sandbox, limits, clock)
        times = Times(call_s=settings.call_s, total_s=settings.total_s)
        self._way: Separate | Shared
        if task.isolation == "shared":
            self._way = Shared(sandbox, limits, times, clock)
        else:
            _refuse_inseparable(task, self._parts)
            used = room or self._own_room
            assert used is not None  # noqa: S101 - one of the two is there
            self._way = Separate(sandbox, used, limits, times)

    def parse(self, reply: Reply) -> Candidate:
        """The code of a reply.

        Raises:
            ReplyError: nothing usable; the message is the worker's feedback.
        """
        return candidate_from(reply)

    def prepare(self) -> None:
        """Have containers waiting while a model is thinking."""
        self._way.prepare(len(self._parts))

    def judge(self, candidate: Candidate) -> Verdict:
        """Shown tests first; hidden ones, in a fresh container, only when those hold.

        Raises:
            SandboxUnavailable: nothing was judged.
        """
        began = self._clock.monotonic()
        verdict = self._judge(candidate.answer)
        return replace(verdict, seconds=self._clock.monotonic() - began)

    def close(self) -> None:
        if self._own_room is not None:
            self._own_room.close()

    def _judge(self, code: str) -> Verdict:
        proofs: list[Proof] = []
        executed: list[str] = []
        looks = list(self._looks)
        outcome: Mapping[str, Any] = {}
        for part in self._parts:
            outcome, own = self._way.run(part, code)
            proofs += [proof for proof in own if proof not in proofs]
            proofs += _proofs(outcome, part)
            executed += _executed(outcome, part)
            looks += outcome.get("looks", ())
            if outcome["kind"]:
                return self._failed(outcome, part, code, tuple(proofs), tuple(executed))
        return Verdict(
            passed=True,
            isolation=self._way.isolation,
            reason=f"{len(executed)} of {len(executed)} asserts held",
            feedback=f"All {len(executed)} asserts held.",
            output=f"All {len(executed)} asserts held.",
            proofs=tuple(proofs),
            looks=tuple(looks),
            executed=tuple(executed),
        )

    def _failed(
        self,
        outcome: Mapping[str, Any],
        part: Part,
        code: str,
        proofs: tuple[Proof, ...],
        executed: tuple[str, ...],
    ) -> Verdict:
        told = feedback_for(outcome, part.sheet, code)
        return Verdict(
            passed=False,
            isolation=self._way.isolation,
            reason="a hidden test failed" if part.hidden else reason_for(outcome, part.sheet),
            feedback=HIDDEN_FAILED if part.hidden else told,
            output=told,
            proofs=proofs,
            looks=self._looks,
            executed=executed,
        )


def _refuse_inseparable(task: CodeTask, parts: tuple[Part, ...]) -> None:
    for part in parts:
        for finding in part.findings:
            where = part.sheet.place(finding.line) if finding.line else "the tests"
            raise TaskFileError(
                str(task.source or task.name),
                f"{where} cannot be judged with solution and asserts apart: {finding.reason}",
                "Write 'isolation: shared' into the task (weaker), or change the test.",
            )


def _proofs(outcome: Mapping[str, Any], part: Part) -> list[Proof]:
    held, ran = not outcome["kind"], set(outcome["ran"])
    word = "hidden asserts" if part.hidden else "asserts"
    all_ran = not wrongly_skipped(part.sheet.asserts, ran)
    count = f"{len(ran)} of {len(part.sheet.asserts)}"
    return [
        Proof(name=f"every {word[:-1]} ran", held=all_ran, detail=count),
        Proof(name=f"{word} held", held=held, detail=outcome["kind"]),
    ]


def _executed(outcome: Mapping[str, Any], part: Part) -> list[str]:
    return [part.sheet.ids[number] for number in outcome["ran"]]
