"""Judging with solution and asserts in two containers."""

from collections.abc import Mapping
from typing import Any, Literal

from agent_loop.checks.code.part import Part
from agent_loop.checks.code.programs import solution_box
from agent_loop.checks.code.relay import JudgeLost, JudgeRoom, Times
from agent_loop.ports import Limits, Proof, Sandbox

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
        job = {
            **part.job,
            "solution": code,
            "total_s": self._times.total_s,
            "memory_mib": int(self._limits.memory_mib * _MEMORY_SHARE),
        }
        with self._sandbox.open(self._box) as solution:
            try:
                outcome: Mapping[str, Any] = self._room.check(job, solution, self._times)
            except JudgeLost as lost:
                outcome = refused(str(lost))
        return outcome, (Proof(name="isolation", held=True, detail="separate: two containers"),)


def refused(reason: str) -> dict[str, Any]:
    """An outcome where the asserts did not get to an end of their own."""
    return {"kind": "refused", "reason": reason, "ran": [], "failed": None, "trace": [], "line": 0}
