"""Builds a benchmark: bugs in a fixed order, screened in waves, accepted one after the other."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations, islice
from types import CodeType

from agent_loop.benchgen.accept import Accepted, Court, Refused
from agent_loop.benchgen.bugs import Bug, changes_code, combined
from agent_loop.benchgen.ground import Ground
from agent_loop.benchgen.journal import Journal
from agent_loop.benchgen.layout import is_test_path
from agent_loop.benchgen.mutators import bugs_of
from agent_loop.benchgen.order import grouped
from agent_loop.benchgen.sieve import Sieve, Sifted
from agent_loop.benchgen.wording import Report

WAVE = 24
"""Bugs screened at a time; fixed, because it decides what is combined with what."""
SPARE_OF = 3
"""One in so many bugs that fail tests is no task of its own but a site of a combined one."""
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
    _standing: int = 0
    _spare: list[Bug] = field(default_factory=list)
    """For combined bugs; in none so far."""
    _aside: dict[str, Sifted] = field(default_factory=dict)
    """All that were kept for combined bugs; a task of their own when no other is left."""
    _seen: set[str] = field(default_factory=set)
    _failing: set[tuple[str, ...]] = field(default_factory=set)
    _codes: dict[str, CodeType] = field(default_factory=dict)
    _parts: dict[str, tuple[Bug, ...]] = field(default_factory=dict)
    """Of each combined bug, by its id."""

    def run(self, waiting: Iterator[Bug]) -> list[Accepted]:
        """Try bugs until enough were accepted, or none are left."""
        while not self._enough and len(self.journal.entries) <= TRIES * self.count:
            batch = list(islice(waiting, WAVE))
            if not batch:
                self._hear(self._unused())
                break
            self._wave(batch)
        return self.accepted

    @property
    def _enough(self) -> bool:
        return len(self.accepted) >= self.count or self.stopped()

    def _wave(self, batch: Sequence[Bug]) -> None:
        alone = self._without_spare(self._sifted(batch))
        chosen = [*self._combined(), *alone]
        self.say(f"screened {len(batch)} more bugs: {len(chosen)} to be judged")
        self._hear(chosen)

    def _sifted(self, bugs: Sequence[Bug]) -> list[Sifted]:
        fresh = [bug for bug in bugs if self._is_new(bug)]
        return [one for one in self.sieve.sift(fresh) if self._stands(one)]

    def _hear(self, chosen: Sequence[Sifted]) -> None:
        told = [(one, self.court.report(one)) for one in self.sieve.explain(chosen)]
        for verdicts in self._in_groups(told):
            for one in verdicts:
                self._take(one)

    def _without_spare(self, found: Sequence[Sifted]) -> list[Sifted]:
        """Every third is put aside: what became a task must not come again in another."""
        alone = []
        for one in found:
            self._standing += 1
            if self._standing % SPARE_OF:
                alone.append(one)
            else:
                self._aside[one.bug.id] = one
                self._spare.append(one.bug)
        return alone

    def _unused(self) -> list[Sifted]:
        """What was put aside and is in no task."""
        used = {part.id for one in self.accepted for part in self._parts.get(one.bug.id, ())}
        return [one for name, one in self._aside.items() if name not in used]

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
            if self._enough:
                return
            group = found[start : start + self.jobs]
            with ThreadPoolExecutor(self.jobs) as pool:
                yield list(pool.map(self._heard, group))

    def _heard(self, pair: tuple[Sifted, Report | Refused]) -> Accepted | Refused:
        found, report = pair
        return report if isinstance(report, Refused) else self.court.hear(found, report)

    def _take(self, verdict: Accepted | Refused) -> None:
        if len(self.accepted) >= self.count:
            return
        if isinstance(verdict, Refused):
            self.journal.add(verdict.bug, verdict.fate, verdict.detail)
            return
        self.accepted.append(verdict)
        self.journal.add(verdict.bug, "accepted")
        for part in self._parts.get(verdict.bug.id, ()):
            self.journal.add(part, "part", f"of {verdict.bug.id}")
        self.say(f"{len(self.accepted)} of {self.count}: {verdict.report.title}")

    def _combined(self) -> list[Sifted]:
        """Bugs of two or three sites, each of which fails tests by itself and is no task yet."""
        made = dict(grouped(self._spare, f"{self.seed}:{self._standing}"))
        self._parts.update({bug.id: parts for bug, parts in made.items()})
        used = {part.id for parts in made.values() for part in parts}
        self._spare = [one for one in self._spare if one.id not in used]
        return [one for one in self._sifted(list(made)) if self._all_matter(one)]

    def _all_matter(self, found: Sifted) -> bool:
        """No two of three sites undo each other."""
        parts = self._parts[found.bug.id]
        less = [combined(some) for some in combinations(parts, 2)] if len(parts) > 2 else []
        sifted = self.sieve.sift([one for one in less if one is not None])
        if any(one.fate == "equivalent" for one in sifted):
            self.journal.add(found.bug, "not needed", "two of its sites undo each other")
            return False
        return True


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
