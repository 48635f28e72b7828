"""The proof that the wanted tests run the changed code: without it they are red again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_loop.checks.project.command import FOLDER, Job
from agent_loop.checks.project.lanes import Errand
from agent_loop.checks.project.patch import Patch
from agent_loop.checks.project.proofs import RED_AGAIN, Judged, sabotaged, shown
from agent_loop.checks.project.records import TestRun
from agent_loop.checks.project.source.sabotage import Marker
from agent_loop.checks.project.source.shape import Key
from agent_loop.ports import Proof

_MOST_ALONE = 12
"""Functions that are sabotaged one by one when all together break the import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedAgain:
    """Sabotage of one patch."""

    patch: Patch
    wanted: Sequence[str]
    job: Callable[[tuple[str, ...]], Job]
    """The run of the wanted tests, which reports the given mark files."""
    marker: Marker = field(default_factory=lambda: Marker.draw(FOLDER))

    def first(self) -> list[Errand]:
        """All changed functions at once; nothing where none changed."""
        functions = self.patch.functions
        return [self._errand(functions)] if functions and self._can(functions) else []

    def judged(
        self, runs: Sequence[TestRun], more: Callable[[list[Errand]], list[TestRun]]
    ) -> Judged:
        """`runs` are those of `first`; `more` makes further ones where they are needed."""
        if not self.patch.functions:
            return self._data_only("no function changed")
        for run in runs:
            if said := sabotaged(run, self.wanted, self.marker):
                return self._held(said)
        alone = [(one,) for one in self.patch.functions[:_MOST_ALONE] if self._can((one,))]
        if len(self.patch.functions) > 1 or not runs:
            for run in more([self._errand(one) for one in alone]):
                if said := sabotaged(run, self.wanted, self.marker):
                    return self._held(f"one by one: {said}")
        if runs and runs[0].uncollected:
            return self._at_import(runs[0])
        names = shown([f"{path}: {key[0]}" for path, key in self.patch.functions])
        return _no(f"the wanted tests do not notice when {names} only raises")

    def _errand(self, functions: tuple[tuple[str, Key], ...]) -> Errand:
        overlay = {**self.patch.files, **self.patch.sabotaged(self.marker, functions)}
        return Errand(job=self.job((self.marker.path,)), overlay=overlay)

    def _can(self, functions: tuple[tuple[str, Key], ...]) -> bool:
        try:
            self.patch.sabotaged(self.marker, functions)
        except SyntaxError:
            return False
        return True

    def _held(self, said: str) -> Judged:
        look = "the changed code runs out of the tests' sight" if "out of sight" in said else ""
        return Judged(proof=Proof(name=RED_AGAIN, held=True, detail=said), look=look)

    def _data_only(self, why: str) -> Judged:
        places = self.patch.more_than_data
        if places:
            return _no(f"{why}, and new import-time code is more than data: {shown(places)}")
        detail = f"{why}, and everything new at import time is data"
        return Judged(proof=Proof(name=RED_AGAIN, held=True, detail=detail))

    def _at_import(self, run: TestRun) -> Judged:
        """Changed functions that are called while modules are imported: only with a person."""
        judged = self._data_only("the changed functions are called at import")
        return Judged(proof=judged.proof, look=judged.proof.detail if judged.proof.held else "")


def _no(detail: str) -> Judged:
    return Judged(proof=Proof(name=RED_AGAIN, held=False, detail=detail))
