"""Judging with solution and asserts in two containers."""

from collections.abc import Mapping
from typing import Any, Literal

from agent_loop.checks.code.challenge import Challenged, challenge
from agent_loop.checks.code.part import Part
from agent_loop.checks.code.programs import solution_box
from agent_loop.checks.code.relay import JudgeLost, JudgeRoom, Times
from agent_loop.checks.code.twins import referee_twins
from agent_loop.ports import Limits, Look, Proof, Sandbox

_MEMORY_SHARE = 0.8
"""Of a container's memory that the judge may use: a MemoryError comes before the kill."""


class Separate:
    """Runs a part against a solution that only answers calls."""

    isolation: Literal["separate"] = "separate"

    def __init__(self, sandbox: Sandbox, room: JudgeRoom, limits: Limits, times: Times) -> None:
        self._sandbox = sandbox
        self._room = room
        self._limits = limits
        self._times = times
        self._box = solution_box(limits)

    def prepare(self, count: int) -> None:
        self._sandbox.warm(self._box, count)
        self._room.start()

    def run(self, part: Part, code: str) -> tuple[Mapping[str, Any], tuple[Proof, ...]]:
        """How the asserts ended, and the proofs this kind of judging gives.

        Raises:
            SandboxUnavailable: nothing was judged.
        """
        apart = Proof(name="isolation", held=True, detail="separate: two containers")
        outcome = self._once(part, code, part.sheet.text)
        if outcome["kind"] or not outcome["refereed"]:
            return outcome, (apart,)
        all_twins = referee_twins(part.reading, part.sheet.text)
        twins = {number: all_twins[number] for number in outcome["refereed"] if all_twins[number]}
        shown = challenge(
            lambda tests: not self._once(part, code, tests)["kind"], part.sheet.text, twins
        )
        looks = [_own_referee(part, n) for n in outcome["refereed"] if n not in twins]
        proofs = (apart, twins_failed(shown)) if twins else (apart,)
        return {**believed(outcome, shown, part), "looks": looks}, proofs

    def _once(self, part: Part, code: str, tests: str) -> Mapping[str, Any]:
        job = {
            **part.job,
            "tests": tests,
            "solution": code,
            "total_s": self._times.total_s,
            "memory_mib": int(self._limits.memory_mib * _MEMORY_SHARE),
        }
        with self._sandbox.open(self._box) as solution:
            try:
                return self._room.check(job, solution, self._times)
            except JudgeLost as lost:
                return refused(str(lost))


def _own_referee(part: Part, number: int) -> Look:
    where = part.sheet.ids[number]
    why = "whether it holds is for the class under test to say, and no altered value shows more"
    return Look(signal="instances compared by their own class", detail=f"{where}: {why}")


def believed(outcome: Mapping[str, Any], shown: Challenged, part: Part) -> Mapping[str, Any]:
    """A pass, as far as the runs that had to fail did."""
    if shown.passed:
        places = ", ".join(part.sheet.ids[number] for number in shown.passed)
        return refused(f"tests with an altered expected value pass as well: {places}")
    if not shown.steady:
        return refused("the same tests do not end the same way each time")
    return outcome


def twins_failed(shown: Challenged) -> Proof:
    """The proof that rests on them."""
    detail = f"{shown.count - len(shown.passed)} of {shown.count}"
    return Proof(name="twins failed", held=not shown.passed and shown.steady, detail=detail)


def refused(reason: str) -> dict[str, Any]:
    """An outcome where the asserts did not get to an end of their own."""
    return {"kind": "refused", "reason": reason, "ran": [], "failed": None, "trace": [], "line": 0}
