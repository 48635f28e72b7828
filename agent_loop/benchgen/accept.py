"""The last word on a bug: fresh containers, the real gate, and a certificate."""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_loop import tasks
from agent_loop.assemble import Yard
from agent_loop.benchgen.bugs import Bug, Edit
from agent_loop.benchgen.certificate import certified
from agent_loop.benchgen.difficulty import Difficulty, estimate
from agent_loop.benchgen.examples import Example, examples
from agent_loop.benchgen.ground import Ground
from agent_loop.benchgen.journal import Fate
from agent_loop.benchgen.leaks import Secrets, leaks, secrets_of
from agent_loop.benchgen.sieve import Sifted
from agent_loop.benchgen.taskfiles import lay, task_text
from agent_loop.benchgen.wording import Report, write_report
from agent_loop.checks.project import ProjectCheck
from agent_loop.checks.project.records import BAD
from agent_loop.errors import ReplyError, UserError
from agent_loop.ports import Candidate, Verdict
from agent_loop.tasks import ProjectTask
from agent_loop.workspace import FileState, write_patch

GOLD_RUNS = 2
"""The gate draws what it alters: a gold patch that holds by luck is no gold patch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A bug that became a task."""

    ground: Ground
    bug: Bug
    report: Report
    difficulty: Difficulty
    wanted: tuple[str, ...]
    """FAIL_TO_PASS."""
    keep: tuple[str, ...]
    """PASS_TO_PASS."""
    gold: bytes
    test_files: tuple[str, ...]
    certificate: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why a bug did not become a task."""

    bug: Bug
    fate: Fate
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Court:
    """Judges bugs that screening let through."""

    ground: Ground
    yard: Yard
    work: Path
    """Absolute; each bug gets a folder in it."""
    packages: tuple[str, ...]
    rewrite: Callable[[Report, Secrets], Report] = lambda report, _: report
    """Another wording of a report, checked for leaks by whoever makes it."""

    def report(self, found: Sifted) -> Report | Refused:
        """What the solver is told, if it can be said without giving the bug away."""
        if found.fate is not None:
            return Refused(bug=found.bug, fate=found.fate, detail=found.detail)
        told = examples(found.failures, self.ground.read, self.packages)
        if not told:
            return Refused(bug=found.bug, fate="refused", detail="no check says anything")
        secrets = secrets_of(found.bug, self.ground.read, self.allowed(found.failing, told))
        problems: list[str] = []
        for plain in (False, True):
            name, pick = self.ground.library.name, int(found.bug.id, 16)
            report = write_report(told, name, pick, plain=plain)
            problems = leaks(report.text, secrets)
            if not problems:
                return self.rewrite(report, secrets)
        return Refused(bug=found.bug, fate="leak", detail=problems[0])

    def hear(self, found: Sifted, report: Report) -> Accepted | Refused:
        """Run everything anew.

        Raises:
            FaultError: could not judge.
        """
        folder = self.work / found.bug.id
        shutil.rmtree(folder, ignore_errors=True)
        try:
            return self._judged(found, report, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def allowed(self, failing: Sequence[str], told: Sequence[Example]) -> list[str]:
        """What anybody may say: the tests' files and what the failing tests said."""
        files = dict.fromkeys(one.partition("::")[0] for one in failing)
        texts = [self.ground.read(path).decode("utf-8", "replace") for path in files]
        said = [one.message for one in told]
        names = [api for one in told for api in one.apis]
        return [*texts, *said, *names, *failing]

    # --- the gate ---

    def _judged(self, found: Sifted, report: Report, folder: Path) -> Accepted | Refused:
        gold = self.gold(found.bug)
        wanted = self._ordered(found.failing)
        for _ in range(2):
            task = self._task(found.bug, wanted, folder)
            check = self.yard.check(task, folder / "run")
            try:
                verdict = self._verdict(found.bug, check, wanted, gold, folder)
            except (UserError, ReplyError) as problem:
                return Refused(bug=found.bug, fate="refused", detail=_short(problem))
            finally:
                check.close()
            if isinstance(verdict, tuple):
                # More tests fail in the whole suite than screening has run.
                wanted = verdict
                continue
            if isinstance(verdict, Refused):
                return verdict
            return self._accepted(found, report, wanted, gold, verdict, check)
        return Refused(bug=found.bug, fate="flaky", detail="other tests fail each time")

    def _verdict(
        self, bug: Bug, check: ProjectCheck, wanted: tuple[str, ...], gold: bytes, folder: Path
    ) -> Verdict | Refused | tuple[str, ...]:
        red = check.reproduce()
        if red.flaky:
            return Refused(bug=bug, fate="flaky", detail=f"{len(red.flaky)} tests in two runs")
        outcomes = _outcomes(folder / "run" / "reproduced.json")
        gone = [one for one in self.ground.outcomes if one not in outcomes]
        if gone:
            return Refused(bug=bug, fate="import", detail=f"{len(gone)} tests do not run")
        failing = self._ordered(
            [one for one, out in outcomes.items() if out in BAD and one in self.ground.passing]
        )
        if failing != wanted:
            return failing or Refused(bug=bug, fate="equivalent", detail="in the whole suite")
        if len(failing) > len(self.ground.passing) // 4:
            return Refused(bug=bug, fate="too broad", detail=f"{len(failing)} tests")
        verdicts = [check.judge(candidate(gold)) for _ in range(GOLD_RUNS)]
        for verdict in verdicts:
            if not verdict.passed:
                return Refused(bug=bug, fate="gate", detail=verdict.reason[:200])
        for part in self.partial(bug):
            if check.judge(candidate(part)).passed:
                return Refused(bug=bug, fate="not needed", detail="passes with one site left")
        return verdicts[0]

    def partial(self, bug: Bug) -> list[bytes]:
        """For each site of a combined bug the patch that mends all others."""
        if bug.kind != "combined":
            return []
        return [self.gold(bug, left=(edit,)) for edit in bug.edits]

    def _ordered(self, names: Sequence[str]) -> tuple[str, ...]:
        """In the order of the suite."""
        wanted = set(names)
        return tuple(one for one in self.ground.outcomes if one in wanted)

    def _task(self, bug: Bug, wanted: Sequence[str], folder: Path) -> ProjectTask:
        project = folder / "project"
        if not project.exists():
            lay(self.ground, bug, project)
        path = folder / "task.yaml"
        path.write_text(task_text("x", Report(title="x", body="x"), self.ground, wanted, "project"))
        task = tasks.load(path)
        if not isinstance(task, ProjectTask):
            raise TypeError(task)
        return task

    def gold(self, bug: Bug, left: tuple[Edit, ...] = ()) -> bytes:
        """The patch from wrong to right; what is `left` stays wrong."""
        wrong = bug.files(self.ground.read)
        right = {path: self.ground.read(path) for path in wrong}
        right |= replace(bug, edits=left).files(self.ground.read)
        before = {path: FileState(data=data) for path, data in wrong.items()}
        after = {path: FileState(data=data) for path, data in right.items()}
        return write_patch(before, after)

    def _accepted(
        self, found: Sifted, report: Report, wanted: tuple[str, ...], gold: bytes,
        verdict: Verdict, check: ProjectCheck,
    ) -> Accepted:  # fmt: skip
        keep = tuple(
            one for one in self.ground.outcomes if one in self.ground.passing and one not in wanted
        )
        return Accepted(
            ground=self.ground,
            bug=found.bug,
            report=report,
            difficulty=estimate(found.bug, wanted, found.depths),
            wanted=wanted,
            keep=keep,
            gold=gold,
            test_files=tuple(sorted({one.partition("::")[0] for one in wanted})),
            certificate=certified(
                gold,
                wanted,
                verdict,
                check.evidence(),
                gold_runs=GOLD_RUNS,
                partial_patches_refused=len(self.partial(found.bug)),
            ),
        )


def candidate(patch: bytes) -> Candidate:
    """A patch as the gate takes it."""
    return Candidate(
        answer=patch.decode("utf-8", "replace"), digest=hashlib.sha256(patch).hexdigest()
    )


def _outcomes(path: Path) -> dict[str, str]:
    """What `reproduce` saw of every test."""
    record = json.loads(path.read_text(encoding="utf-8"))
    found: dict[str, str] = record["red"]["outcomes"]
    return found


def _short(problem: Exception) -> str:
    text = str(problem)
    return text[text.find(": ") + 2 :][:200] if ": " in text else text[:200]
