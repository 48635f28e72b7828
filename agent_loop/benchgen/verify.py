"""Runs every task of a finished benchmark again: red each time, green with the gold patch."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_loop import tasks
from agent_loop.assemble import Yard
from agent_loop.benchgen.output import CERTIFICATES, GOLD, MANIFEST
from agent_loop.errors import UserError
from agent_loop.ports import Candidate, Verdict
from agent_loop.tasks import ProjectTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What became of one task."""

    name: str
    red: int
    """Runs of the buggy project (two for each time it was reproduced) that failed as they must."""
    proofs: int
    """Of the gold patch that hold."""
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """Looks at the tasks of one folder."""

    folder: Path
    yard: Yard
    work: Path
    runs: int

    def names(self) -> list[str]:
        """Raises UserError: `build` has not written this folder."""
        try:
            manifest = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
            return [str(one["name"]) for one in manifest["tasks"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{self.folder}: no benchmark ({MANIFEST}: {error}). Name a folder that build wrote"
            ) from None

    def all(self, jobs: int, say: Callable[[str], None]) -> list[Verified]:
        found: list[Verified] = []
        with ThreadPoolExecutor(jobs) as pool:
            for one in pool.map(self.one, self.names()):
                found.append(one)
                said = "; ".join(one.problems) or f"red {one.red} times, {one.proofs} proofs hold"
                say(f"{one.name}: {said}")
        return found

    def one(self, name: str) -> Verified:
        """Reproduce it `runs` times, each time anew, and judge the gold patch once."""
        task = tasks.load(self.folder / f"{name}.yaml")
        if not isinstance(task, ProjectTask):
            return Verified(name=name, red=0, proofs=0, problems=("it is no project task",))
        certificate = self._certificate(name)
        problems: list[str] = []
        red = 0
        verdict: Verdict | None = None
        for number in range(self.runs):
            said = self._reproduced(task, certificate, judge=number == 0)
            if isinstance(said, str):
                problems.append(said)
            else:
                red, verdict = red + 2, said or verdict
        if verdict is not None and not verdict.passed:
            problems.append(f"the gold patch: {verdict.reason}")
        held = sum(one.held for one in verdict.proofs) if verdict else 0
        return Verified(name=name, red=red, proofs=held, problems=tuple(problems))

    def _certificate(self, name: str) -> dict[str, Any]:
        path = self.folder / CERTIFICATES / f"{name}.json"
        certificate: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return certificate

    def _reproduced(
        self, task: ProjectTask, certificate: dict[str, Any], *, judge: bool
    ) -> str | Verdict | None:
        """What is wrong, else the verdict over the gold patch where one was asked for."""
        place = self.work / task.name
        shutil.rmtree(place, ignore_errors=True)
        check = self.yard.check(task, place)
        try:
            red = check.reproduce()
            if red.green or red.flaky:
                return "green without the patch" if red.green else f"flaky: {red.flaky[0]}"
            if list(red.wanted) != certificate["wanted"]:
                return "other tests fail than the certificate says"
            if check.evidence()["tree_hash"] != certificate["tree_hash"]:
                return "the project is not the one the certificate is about"
            return check.judge(self._gold(task.name)) if judge else None
        finally:
            check.close()
            shutil.rmtree(place, ignore_errors=True)

    def _gold(self, name: str) -> Candidate:
        patch = (self.folder / GOLD / f"{name}.patch").read_bytes()
        return Candidate(answer=patch.decode(), digest=hashlib.sha256(patch).hexdigest())


def summary(found: Sequence[Verified]) -> str:
    """One line."""
    good = [one for one in found if not one.problems]
    fewest = min((one.proofs for one in good), default=0)
    return (
        f"{len(good)} of {len(found)} tasks hold: {sum(one.red for one in good)} red runs, "
        f"none flaky; the gold patch passes with {fewest} proofs or more"
    )
