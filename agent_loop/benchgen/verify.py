"""Runs every task of a finished benchmark again: green with the gold patch, red without it."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_loop import tasks
from agent_loop.assemble import Yard
from agent_loop.benchgen.accept import candidate
from agent_loop.benchgen.output import CERTIFICATES, GOLD, MANIFEST, PROJECTS
from agent_loop.checks.project import ProjectCheck
from agent_loop.errors import ReplyError, StoreFault, UserError
from agent_loop.tasks import ProjectTask
from agent_loop.workspace import FileState, write_patch

NOTHING = ("the empty patch", "a patch that only adds a comment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What became of one task."""

    name: str
    runs: int = 0
    green: int = 0
    """Runs in which the gold patch passed with every proof."""
    passes: int = 0
    """Runs in which the buggy project passed, as it is or with a patch that changes nothing."""
    flaky: int = 0
    """Runs in which the tests of the buggy project differed."""
    proofs: int = 0
    """Of the gold patch that hold, the fewest."""
    problems: tuple[str, ...] = ()

    def line(self) -> str:
        """How it went."""
        said = (
            f"gold passes {self.green} of {self.runs}, buggy tree passes {self.passes} of "
            f"{self.runs}, flaky {self.flaky}; {self.proofs} proofs"
        )
        return "; ".join([said, *self.problems])


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
                say(f"{one.name}: {one.line()}")
        return found

    def one(self, name: str) -> Verified:
        """Reproduce and judge it `runs` times, each time anew."""
        task = tasks.load(self.folder / f"{name}.yaml")
        if not isinstance(task, ProjectTask):
            return Verified(name=name, problems=("it is no project task",))
        runs = [self._run(task, also_nothing=number == 0) for number in range(self.runs)]
        problems = dict.fromkeys(problem for run in runs for problem in run.problems)
        return Verified(
            name=name,
            runs=self.runs,
            green=sum(run.green for run in runs),
            passes=sum(run.passes for run in runs),
            flaky=sum(run.flaky for run in runs),
            proofs=min(run.proofs for run in runs),
            problems=tuple(problems),
        )

    def _read(self, place: str, name: str) -> bytes:
        try:
            return (self.folder / place / name).read_bytes()
        except OSError as error:
            raise UserError(f"{place}/{name} cannot be read ({error.strerror})") from None

    def _certificate(self, name: str) -> tuple[Any, Any]:
        """The tests and the tree it is about."""
        try:
            read = json.loads(self._read(CERTIFICATES, f"{name}.json"))
            return read["wanted"], read["tree_hash"]
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{CERTIFICATES}/{name}.json is no certificate") from None

    def _run(self, task: ProjectTask, *, also_nothing: bool) -> Verified:
        """One run; one that cannot be judged is a problem and no pass."""
        place = self.work / task.name
        shutil.rmtree(place, ignore_errors=True)
        check = self.yard.check(task, place)
        try:
            red = check.reproduce()
            if red.green or red.flaky:
                said = "green without a patch" if red.green else f"flaky: {red.flaky[0]}"
                flaky = 0 if red.green else 1
                return Verified(name=task.name, passes=red.green, flaky=flaky, problems=(said,))
            wanted, tree = self._certificate(task.name)
            if list(red.wanted) != wanted:
                return Verified(name=task.name, problems=("the certificate names other tests",))
            if check.evidence()["tree_hash"] != tree:
                return Verified(name=task.name, problems=("the certificate names another tree",))
            return self._judged(task, check, also_nothing=also_nothing)
        except (UserError, ReplyError, StoreFault) as problem:
            return Verified(name=task.name, problems=(str(problem).split("\n")[0],))
        finally:
            check.close()
            shutil.rmtree(place, ignore_errors=True)

    def _judged(self, task: ProjectTask, check: ProjectCheck, *, also_nothing: bool) -> Verified:
        gold = self._read(GOLD, f"{task.name}.patch")
        verdict = check.judge(candidate(gold))
        nothing = zip(NOTHING, (b"", self._comment(gold, task)), strict=True)
        passed = [
            said
            for said, patch in (nothing if also_nothing else ())
            if check.judge(candidate(patch)).passed
        ]
        problems = [f"{said} passes" for said in passed]
        if not verdict.passed:
            problems.append(f"the gold patch: {verdict.reason}")
        return Verified(
            name=task.name,
            green=int(verdict.passed),
            passes=int(bool(passed)),
            proofs=sum(one.held for one in verdict.proofs),
            problems=tuple(problems),
        )

    def _comment(self, gold: bytes, task: ProjectTask) -> bytes:
        """A patch of the file that the gold patch mends, which mends nothing."""
        paths = re.findall(rb"^\+\+\+ b/(.+?)\t?$", gold, re.MULTILINE)
        if not paths:
            raise UserError(f"{GOLD}/{task.name}.patch is no patch")
        path = paths[0].decode("utf-8", "replace")
        data = self._read(PROJECTS, f"{task.name}/{path}")
        more = data + (b"" if data.endswith(b"\n") else b"\n") + b"# nothing\n"
        return write_patch({path: FileState(data=data)}, {path: FileState(data=more)})


def summary(found: Sequence[Verified]) -> str:
    """One line."""
    runs = sum(one.runs for one in found)
    return (
        f"{sum(not one.problems for one in found)} of {len(found)} tasks hold: gold passes "
        f"{sum(one.green for one in found)} of {runs}, buggy tree passes "
        f"{sum(one.passes for one in found)} of {runs}, flaky "
        f"{sum(one.flaky for one in found)}; {min((one.proofs for one in found), default=0)} "
        "proofs or more"
    )
