"""Judges one candidate of a pytest project: the runs, and the proofs drawn from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent_loop.checks.project import proofs
from agent_loop.checks.project.command import Job, Kind, Setting, Trace, pytest_job
from agent_loop.checks.project.feedback import after_proofs, after_suite, bounded
from agent_loop.checks.project.frozen import Frozen
from agent_loop.checks.project.lanes import Errand, Lanes
from agent_loop.checks.project.patch import Patch, take_apart
from agent_loop.checks.project.proofs import Judged
from agent_loop.checks.project.protected import Protection
from agent_loop.checks.project.records import TestRun, read
from agent_loop.checks.project.red_again import RedAgain
from agent_loop.checks.project.rules import TestFiles, broken_rules, new_tests
from agent_loop.checks.project.source.looks import looks
from agent_loop.checks.project.source.text import Source
from agent_loop.checks.project.tree import Base
from agent_loop.checks.project.twins.copies import Copy
from agent_loop.checks.project.twins.place import NodeId
from agent_loop.checks.project.wanted import (
    Copies,
    HiddenTests,
    by_path,
    copied_tests,
    make_copies,
    untouched,
)
from agent_loop.ports import Isolation, LinesRan, Look, Proof, Verdict

Overlay = Mapping[str, bytes | None]
GUARDED = Kind(guard=True)
"""Runs that have to pass and those that have to fail alike: nothing may tell them apart."""


@dataclass(slots=True)
class Findings:
    """What has been found about one candidate so far."""

    proofs: list[Proof] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    executed: tuple[str, ...] = ()
    lines: tuple[LinesRan, ...] = ()
    output: str = ""
    runs: list[TestRun] = field(default_factory=list)
    """Those that had to pass."""

    def add(self, judged: Judged) -> None:
        self.proofs.append(judged.proof)
        if judged.look:
            self.looks.append(Look(signal=judged.proof.name, detail=judged.look))

    @property
    def hold(self) -> bool:
        return all(one.held for one in self.proofs)

    def verdict(
        self, feedback: str, reason: str = "", *, isolation: Isolation = "pytest"
    ) -> Verdict:
        failed = [one for one in self.proofs if not one.held]
        first = f"{failed[0].name}: {failed[0].detail}" if failed else ""
        return Verdict(
            passed=not failed and not reason,
            isolation=isolation,
            reason=bounded(reason or first or f"{len(self.proofs)} proofs hold").split("\n")[0],
            feedback=bounded(feedback) if failed or reason else "",
            output=bounded(self.output),
            proofs=tuple(self.proofs),
            looks=tuple(self.looks),
            executed=self.executed,
            lines=self.lines,
        )


@dataclass(frozen=True, kw_only=True)
class ProjectJudge:
    """The gate of one project."""

    base: Base
    frozen: Frozen
    setting: Setting
    protection: Protection
    lanes: Lanes
    wall_s: float
    hidden: HiddenTests | None = None
    every_proof: bool = False
    """Go on after a proof has failed: for the matrix of the tamper suite."""

    def judge(self, files: Overlay) -> Verdict:
        """Judge the project with `files` in place of its own.

        Raises:
            FaultError: could not judge.
        """
        found = Findings(proofs=[proofs.red_first(self.frozen)])
        broken = broken_rules(files, self.base, self.frozen, self.protection)
        found.proofs.append(
            Proof(name=proofs.PATHS, held=not broken, detail=proofs.shown(broken) or "kept")
        )
        if broken and not self.every_proof:
            return found.verdict("\n".join(broken))
        try:
            patch = take_apart(files, self.base, is_test=self._is_test)
        except SyntaxError as error:
            return found.verdict(str(error), "refused: a changed file cannot be parsed")
        if not patch.changes_code:
            why = "no code was changed: only comments, docstrings or blanks differ"
            return found.verdict(why, f"refused: {why}")
        return self._judged(patch, found)

    @cached_property
    def _is_test(self) -> TestFiles:
        return TestFiles(self.frozen)

    def _judged(self, patch: Patch, found: Findings) -> Verdict:
        fresh = new_tests(patch.files, self.base)
        job = self._job((*self.frozen.ids, *fresh))
        suite = self._runs([Errand(job=job, overlay=patch.files)])[0]
        found.output = suite.answer.said
        found.runs.append(suite)
        found.executed = tuple(suite.outcomes)
        same = proofs.same_tests(self.frozen, suite, fresh)
        found.proofs.append(same)
        if not same.held and not self.every_proof:
            return found.verdict(after_suite(self.frozen, suite, same.detail))
        self._prove(patch, suite, found)
        if self.hidden is not None and (self.every_proof or found.hold):
            found.proofs.append(self._hidden_proof(patch, self.hidden, found))
        found.looks += self._looks(patch)
        if looked := proofs.looked_in(self.frozen, found.runs):
            found.looks.append(looked)
        return found.verdict(after_proofs(found.proofs))

    def _prove(self, patch: Patch, suite: TestRun, found: Findings) -> None:
        """Every run that repeats the wanted tests only, two at a time."""
        wanted = proofs.real_ids(self.frozen, suite)
        red = RedAgain(patch=patch, wanted=wanted, job=lambda marks: self._job(wanted, marks=marks))
        copies = self._copies(patch, wanted, suite)
        errands = self._errands(patch, wanted, copies)
        first = red.first()
        runs = self._runs([*first, *errands.values()])
        named = dict(zip(errands, runs[len(first) :], strict=True))
        found.add(red.judged(runs[: len(first)], self._runs))
        inside = bool(patch.functions)
        found.add(proofs.lines_ran(named["lines"], wanted, patch.lines, inside=inside))
        found.lines = proofs.lines_of(named["lines"], patch.lines)
        found.runs += [named[name] for name in ("lines", "alone", "renamed")]
        found.proofs.append(proofs.nothing_replaced(self.frozen, found.runs[1:]))
        parts = self._parts(patch, wanted, copies, named)
        ran = proofs.reached(self.frozen, named["lines"])
        found.add(proofs.twins_fail(parts, wanted, ran, copies.without))
        found.proofs.append(proofs.alone_passes(named["alone"], wanted))
        found.proofs.append(proofs.renamed_passes(named["renamed"], copied_tests(copies.renamed)))
        if copies.spare:
            detail = f"{len(copies.spare)} altered checks are more than were tried"
            found.looks.append(Look(signal="not every check was altered", detail=detail))
        if copies.checkless:
            detail = proofs.shown(copies.checkless)
            found.looks.append(Look(signal="a wanted test checks nothing", detail=detail))

    def _copies(self, patch: Patch, wanted: Sequence[str], suite: TestRun) -> Copies:
        helpers = [one for one in self.base.digests if one.endswith(".py") and self._is_test(one)]
        return make_copies(
            wanted, {**suite.kinds, **self.frozen.kinds}, self._reader(patch), helpers
        )

    def _errands(self, patch: Patch, wanted: Sequence[str], copies: Copies) -> dict[str, Errand]:
        tests = tuple(sorted({NodeId.parse(one).path for one in wanted}))
        trace = Kind(name="lines", trace=Trace(changed=patch.lines, tests=tests), guard=True)
        alone = {**patch.files, **untouched((*tests, *copies.helpers), self._reader(patch))}
        found = {
            "lines": Errand(job=self._job(wanted, trace), overlay=patch.files),
            "renamed": self._copy_errand(
                patch, copies.renamed, Kind(name="renamed", guard=True), copies.renamed_helpers
            ),
            "alone": Errand(job=self._job(wanted, GUARDED), overlay=alone),
        }
        if copies.fresh_twins:
            found["twins"] = self._copy_errand(patch, copies.fresh_twins)
        # The same ids and files as alone: only the altered values differ.
        for name, altered in (("in_place", by_path(copies.in_place)), ("helpers", copies.helpers)):
            if altered:
                found[name] = Errand(job=self._job(wanted, GUARDED), overlay={**alone, **altered})
        return found

    def _parts(
        self, patch: Patch, wanted: Sequence[str], copies: Copies, named: Mapping[str, TestRun]
    ) -> list[proofs.MustFail]:
        """What had to fail; where drawing left a test no altered check that ran, the spare too."""
        parts = _must_fail(copies, named) + self._more(patch, copies.more)
        bare = set(proofs.not_turned(parts, wanted)) if copies.spare else set()
        spare = [one for one in copies.spare if any(test.original in bare for test in one.tests)]
        return parts + self._more(patch, [spare] if spare else [])

    def _more(
        self, patch: Patch, chosen: Sequence[Sequence[Copy]], more: Overlay | None = None
    ) -> list[proofs.MustFail]:
        runs = self._runs([self._copy_errand(patch, copies, more=more) for copies in chosen])
        return [
            proofs.MustFail(run=run, tests=copied_tests(copies))
            for run, copies in zip(runs, chosen, strict=True)
        ]

    def _copy_errand(
        self,
        patch: Patch,
        copies: Sequence[Copy],
        kind: Kind = GUARDED,
        more: Overlay | None = None,
    ) -> Errand:
        overlay = {**patch.files, **(more or {}), **by_path(copies)}
        ids = [test.run for test in copied_tests(copies)]
        return Errand(job=self._job(ids, kind), overlay=overlay)

    def _hidden_proof(self, patch: Patch, hidden: HiddenTests, found: Findings) -> Proof:
        """Tests that no model has seen, and their twins: the same cheats could aim at them."""
        overlay = {**patch.files, **hidden.files}
        run = self._runs([Errand(job=self._job(hidden.modules, GUARDED), overlay=overlay)])[0]
        found.runs.append(run)
        proof = proofs.hidden_pass(run, hidden.names(), proofs.replaced(self.frozen, [run]))
        if not proof.held:
            return proof
        ids = [one for one, outcome in run.outcomes.items() if outcome == "passed"]
        copies = make_copies(ids, run.kinds, hidden.files.get, ())
        errands = self._hidden_errands(patch, hidden, copies)
        named = dict(zip(errands, self._runs([*errands.values()]), strict=True))
        parts = _must_fail(copies, named) + self._more(patch, copies.more, hidden.files)
        return proofs.hidden_twins(proof, parts, proofs.reached(self.frozen, named["lines"]))

    def _hidden_errands(
        self, patch: Patch, hidden: HiddenTests, copies: Copies
    ) -> dict[str, Errand]:
        overlay = {**patch.files, **hidden.files}
        trace = Kind(name="lines", trace=Trace(changed={}, tests=hidden.modules), guard=True)
        found = {"lines": Errand(job=self._job(hidden.modules, trace), overlay=overlay)}
        if copies.fresh_twins:
            found["twins"] = self._copy_errand(patch, copies.fresh_twins, more=hidden.files)
        if copies.in_place:
            # Told from the run that has to pass by nothing but the altered values.
            altered = {**overlay, **by_path(copies.in_place)}
            found["in_place"] = Errand(job=self._job(hidden.modules, GUARDED), overlay=altered)
        return found

    def _looks(self, patch: Patch) -> list[Look]:
        read_file = self._reader(patch)
        paths = {NodeId.parse(one).path for one in self.frozen.all_wanted}
        tests = {path: data for path in sorted(paths) if (data := read_file(path))}
        sources = {
            path: Source(text=data.decode("utf-8", "replace")) for path, data in tests.items()
        }
        found = list(looks(patch.python, sources))
        if self.hidden is None:
            detail = "inputs that are hard-coded behind a hash would not be seen"
            found.append(Look(signal="no hidden tests", detail=detail))
        if edited := [path for path in patch.files if self._is_test(path)]:
            found.append(Look(signal="tests were edited", detail=proofs.shown(edited)))
        return found

    def _reader(self, patch: Patch) -> Callable[[str], bytes | None]:
        def read_file(path: str) -> bytes | None:
            return patch.files[path] if path in patch.files else self.base.read(path)

        return read_file

    def _job(
        self, ids: Sequence[str], kind: Kind | None = None, *, marks: tuple[str, ...] = ()
    ) -> Job:
        return pytest_job(self.setting, ids, wall_s=self.wall_s, kind=kind, marks=marks)

    def _runs(self, errands: Sequence[Errand]) -> list[TestRun]:
        self.lanes.refuse_tampered(self._is_test)
        return list(map(read, self.lanes.run(errands)))


def _must_fail(copies: Copies, named: Mapping[str, TestRun]) -> list[proofs.MustFail]:
    parts = [
        proofs.MustFail(run=named[name], tests=copied_tests(chosen))
        for name, chosen in (("twins", copies.fresh_twins), ("in_place", copies.in_place))
        if name in named
    ]
    if "helpers" in named:
        tests = [proofs.itself(one) for one in copies.by_helpers]
        parts.append(proofs.MustFail(run=named["helpers"], tests=tests))
    return parts
