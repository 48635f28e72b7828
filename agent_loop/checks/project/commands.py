"""The weaker gate: any command, judged by its exit code in a fresh container."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_loop.checks.project import proofs
from agent_loop.checks.project.command import ENVIRONMENT, Job
from agent_loop.checks.project.feedback import bounded
from agent_loop.checks.project.frozen import Frozen
from agent_loop.checks.project.judge import Findings, Overlay
from agent_loop.checks.project.lanes import Errand, Lanes
from agent_loop.checks.project.patch import Patch, take_apart
from agent_loop.checks.project.protected import Protection
from agent_loop.checks.project.records import Answer
from agent_loop.checks.project.rules import TestFiles, broken_rules
from agent_loop.checks.project.source.looks import looks
from agent_loop.checks.project.source.sabotage import Marker
from agent_loop.checks.project.tree import Base
from agent_loop.errors import TaskFileError
from agent_loop.ports import Look, Proof, Verdict
from agent_loop.tasks import ProjectTask

COMMAND_PASSES = "command passes"
_NOT_FOUND = (126, 127)
_SHOWN_CHARS = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RedCommand:
    """How the command ended on the untouched project."""

    code: int
    output: str

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RedCommand":
        """Raises TypeError for a record of another shape."""
        if type(record.get("code")) is not int or not isinstance(record.get("output"), str):
            raise TypeError("no record of a red run")
        return cls(**record)


def reproduce_command(task: ProjectTask, lanes: Lanes, wall_s: float) -> RedCommand:
    """Run the command twice.

    Raises:
        TaskFileError: it cannot be run, does not end, or ends differently each time.
        FaultError: the sandbox failed.
    """
    errand = Errand(job=command_job(task.test_command, wall_s))
    first, second = lanes.run([errand, errand])
    where = str(task.source or task.name)
    for answer in (first, second):
        if answer.code is None or answer.code in _NOT_FOUND:
            said = answer.output.strip()[-400:]
            raise TaskFileError(
                where,
                f"test_command cannot be run in the test image: {answer.ending}. {said}",
                "Give an image that has what it needs with dockerfile:",
            )
    if (first.code == 0) != (second.code == 0):
        raise TaskFileError(
            where,
            f"test_command is flaky: it ended with {first.code} and then with {second.code}",
            "Name a steady part of the tests",
        )
    return RedCommand(code=first.code or 0, output=bounded(first.said))


def command_job(command: str, wall_s: float) -> Job:
    return Job(argv=("/bin/sh", "-c", command), wall_s=wall_s, env=ENVIRONMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandJudge:
    """Exit code 0 where it was not before; nothing looks into the command."""

    base: Base
    red: RedCommand
    command: str
    protection: Protection
    lanes: Lanes
    wall_s: float
    green_start: bool = False
    """The task allows a command that passed from the start."""

    def judge(self, files: Overlay) -> Verdict:
        """Judge the project with `files` in place of its own.

        Raises:
            FaultError: could not judge.
        """
        red = self.red.code != 0 or self.green_start
        detail = f"it ended with exit code {self.red.code}"
        found = Findings(proofs=[Proof(name=proofs.RED_FIRST, held=red, detail=detail)])
        nothing = Frozen(outcomes={}, kinds={}, wanted=())
        broken = broken_rules(files, self.base, nothing, self.protection)
        kept = proofs.shown(broken) or "kept"
        found.proofs.append(Proof(name=proofs.PATHS, held=not broken, detail=kept))
        if broken:
            return self._said(found, "\n".join(broken))
        try:
            patch = take_apart(files, self.base, is_test=TestFiles(nothing))
        except SyntaxError as error:
            return self._said(found, str(error), "refused: a changed file cannot be parsed")
        if not patch.changes_code:
            why = "no code was changed: only comments, docstrings or blanks differ"
            return self._said(found, why, f"refused: {why}")
        return self._judged(patch, found)

    def _judged(self, patch: Patch, found: Findings) -> Verdict:
        answer = self._run(patch.files)
        found.output = answer.said
        found.executed = (self.command,) if answer.code is not None else ()
        passed = answer.code == 0
        found.proofs.append(Proof(name=COMMAND_PASSES, held=passed, detail=answer.ending))
        if not passed:
            return self._said(found, f"{answer.ending}\n{answer.said[-_SHOWN_CHARS:]}")
        if patch.functions:
            found.proofs.append(self._red_again(patch))
        found.looks += looks(patch.python, {})
        detail = "only the exit code of a command was looked at"
        found.looks.append(Look(signal="weaker gate", detail=detail))
        return self._said(found, "The command passes without running what you changed.")

    def _red_again(self, patch: Patch) -> Proof:
        try:
            broken = patch.sabotaged(Marker.draw())
        except SyntaxError as error:
            detail = f"the changed functions cannot be sabotaged: {error}"
            return Proof(name=proofs.RED_AGAIN, held=False, detail=detail)
        answer = self._run({**patch.files, **broken})
        detail = f"with the changed functions raising: {answer.ending}"
        held = answer.code not in (0, None)
        return Proof(name=proofs.RED_AGAIN, held=held, detail=detail)

    def _run(self, files: Mapping[str, bytes | None]) -> Answer:
        job = command_job(self.command, self.wall_s)
        return self.lanes.run([Errand(job=job, overlay=files)])[0]

    def _said(self, found: Findings, feedback: str, reason: str = "") -> Verdict:
        return found.verdict(feedback, reason, isolation="command")
