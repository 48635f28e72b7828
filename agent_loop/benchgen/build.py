"""Builds a benchmark: bugs in a fixed order, screened in waves, accepted one after the other."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from types import CodeType

from agent_loop.benchgen.accept import Accepted, Court, Refused
from agent_loop.benchgen.bugs import Bug, changes_code, combined
from agent_loop.benchgen.ground import Ground
from agent_loop.benchgen.journal import Journal
from agent_loop.benchgen.layout import is_test_path
from agent_loop.benchgen.mutators import bugs_of
from agent_loop.benchgen.order import pairs, split_of
from agent_loop.benchgen.sieve import Sieve, Sifted
from agent_loop.benchgen.wording import Report

WAVE = 24
"""Bugs screened at a time; fixed, because it decides what is paired with what."""
PAIRS = 5
"""Combined bugs that go first in each wave after the first."""
TRIES = 60
"""Bugs tried for each task that is wanted, before the build gives up."""


@dataclass(kw_only=True)
class Build:
    """One benchmark out of one library."""

    ground: Ground
    sieve: Sieve
    court: Court
    count: int
    seed: int
    jobs: int
    say: Callable[[str], None]
    stopped: Callable[[], bool] = lambda: False
    """The owner's time limit."""
    journal: Journal = field(default_factory=Journal)
    accepted: list[Accepted] = field(default_factory=list)
    _killed: list[Bug] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _failing: set[tuple[str, ...]] = field(default_factory=set)
    _codes: dict[str, CodeType] = field(default_factory=dict)
    _paired: set[str] = field(default_factory=set)

    def run(self, waiting: Iterator[Bug]) -> list[Accepted]:
        """Try bugs until enough were accepted, or none are left."""
        wave = 0
        while len(self.accepted) < self.count and not self.stopped():
            batch = [*self._combined(wave), *islice(waiting, WAVE)]
            if not batch or len(self.journal.entries) > TRIES * self.count:
                break
            self._wave(batch)
            wave += 1
        return self.accepted

    def _wave(self, batch: Sequence[Bug]) -> None:
        fresh = [bug for bug in batch if self._is_new(bug)]
        sifted = self.sieve.sift(fresh)
        chosen = [one for one in sifted if self._stands(one)]
        self._killed += [one.bug for one in chosen if len(one.bug.edits) == 1]
        told = [(one, self.court.report(one)) for one in self.sieve.explain(chosen)]
        for verdicts in self._in_groups(told):
            for one in verdicts:
                self._take(one)

    def _is_new(self, bug: Bug) -> bool:
        """Not tried, and Python sees a difference."""
        if bug.where == "function" and not self.sieve.covering(bug):
            self.journal.add(bug, "uncovered")
            return False
        digest = changes_code(bug, self.ground.read, self._compiled(bug))
        if not digest:
            self.journal.add(bug, "no change")
        elif digest in self._seen:
            self.journal.add(bug, "duplicate", "the same text")
            return False
        self._seen.add(digest)
        return bool(digest)

    def _compiled(self, bug: Bug) -> dict[str, CodeType]:
        for path in bug.paths:
            if path not in self._codes:
                text = self.ground.read(path)
                self._codes[path] = compile(text, path, "exec", dont_inherit=True, optimize=0)
        return self._codes

    def _stands(self, one: Sifted) -> bool:
        """It fails tests, and not the ones another bug of its function fails already."""
        if one.fate is not None:
            self.journal.add(one.bug, one.fate, one.detail)
            return False
        signature = (*one.bug.functions, *one.failing)
        if signature in self._failing:
            self.journal.add(one.bug, "duplicate", "the same function, the same failing tests")
            return False
        self._failing.add(signature)
        return True

    def _in_groups(
        self, found: Sequence[tuple[Sifted, Report | Refused]]
    ) -> Iterator[list[Accepted | Refused]]:
        """Judged `jobs` at a time, in order, no more of them than are wanted."""
        for start in range(0, len(found), self.jobs):
            if len(self.accepted) >= self.count or self.stopped():
                return
            group = found[start : start + self.jobs]
            with ThreadPoolExecutor(self.jobs) as pool:
                yield list(pool.map(self._heard, group))

    def _heard(self, pair: tuple[Sifted, Report | Refused]) -> Accepted | Refused:
        found, report = pair
        return report if isinstance(report, Refused) else self.court.hear(found, report)

    def _take(self, verdict: Accepted | Refused) -> None:
        if isinstance(verdict, Refused):
            self.journal.add(verdict.bug, verdict.fate, verdict.detail)
        elif len(self.accepted) < self.count:
            self.accepted.append(verdict)
            self._paired.add(verdict.bug.id)
            self.journal.add(verdict.bug, "accepted")
            self.say(f"{len(self.accepted)} of {self.count}: {verdict.report.title}")

    def _combined(self, wave: int) -> list[Bug]:
        """Bugs of several sites, each of which fails tests by itself and is no task of its own."""
        found: list[Bug] = []
        free = [bug for bug in self._killed if bug.id not in self._paired]
        for side in ("dev", "held_out"):
            mine = [bug for bug in free if split_of(bug.functions[0], self.seed) == side]
            for group in pairs(mine, PAIRS, f"{self.seed}:{wave}:{side}"):
                bug = combined(group)
                if bug is not None and not self._paired & {one.id for one in group}:
                    self._paired.update(one.id for one in group)
                    found.append(bug)
        return found[:PAIRS]


def source_files(ground: Ground, files: Sequence[str], only: Sequence[str] = ()) -> list[str]:
    """Python files that run and are no tests; `only` those that start so."""
    return [
        path
        for path in files
        if path.endswith(".py")
        and path in ground.base
        and not is_test_path(path)
        and (not only or any(path.startswith(one) for one in only))
    ]


def single_bugs(ground: Ground, files: Sequence[str]) -> list[Bug]:
    """Every single-site bug of the files."""
    return [bug for path in files for bug in bugs_of(path, ground.read(path))]
