"""Screens bugs in warm containers: only tests that run the changed lines, a fork for each bug."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from agent_loop.assemble import Yard
from agent_loop.benchgen.bugs import Bug
from agent_loop.benchgen.ground import Ground
from agent_loop.benchgen.journal import Fate
from agent_loop.benchgen.screen import FLAGS, LIMITS, Screen, program, start_of
from agent_loop.checks.project.command import TREE
from agent_loop.errors import UserError
from agent_loop.ports import Box, Mount

BROAD = 0.25
"""A bug that fails more of the passing tests than this is no bug report but an outage."""
_SLOWER, _AT_LEAST_S, _MOST_S = 7.0, 1.0, 120.0
"""A mutant may use so many times the processor time of the right library, and so much more."""
_WAIT_S, _WAITING = 60.0, 20.0
"""The wall clock gives so much, and so many times that: for one that waits instead of working."""
_IMPORT_S = 10.0
_ALL = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """What screening says of one bug; `fate` is `None` where tests fail as they should."""

    bug: Bug
    fate: Fate | None
    detail: str = ""
    failing: tuple[str, ...] = ()
    failures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)


class Sieve:
    """`jobs` containers, each with the library and its tests imported."""

    def __init__(self, ground: Ground, yard: Yard, jobs: int, *, wait_s: float = _WAIT_S) -> None:
        """`wait_s`: seconds of wall clock that any mutant may take."""
        self._ground = ground
        self._wait_s = wait_s
        box = Box(
            program=program(),
            limits=LIMITS,
            mounts=(Mount(source=str(ground.base.root), target=TREE),),
            image=ground.image,
            python=(yard.python, *FLAGS),
        )
        start = start_of(ground.setting)
        self._screens = [
            Screen(sandbox=yard.sandbox, box=box, start=start, clock=yard.clock)
            for _ in range(jobs)
        ]
        self._free: SimpleQueue[Screen] = SimpleQueue()
        for one in self._screens:
            self._free.put(one)
        self._lines: dict[str, dict[str, frozenset[int]]] = {}
        self._at_import: dict[str, frozenset[int]] = {}
        self._seconds: dict[str, float] = {}
        self.trusted: tuple[str, ...] = ()
        """Tests that pass here as they do in fresh containers, in order."""

    @property
    def restarts(self) -> int:
        return sum(one.restarts for one in self._screens)

    @property
    def covered(self) -> Sequence[str]:
        """Files of which some line runs."""
        return sorted({*self._lines, *self._at_import})

    def used_s(self) -> float:
        """Processor time that the containers have used, in seconds."""
        said = [one.ask({"do": "usage", "wall_s": 60.0}) for one in self._screens]
        return sum(float(one.get("cpu_s", 0.0)) for one in said)

    def learn(self) -> None:
        """Find out which test runs which line, and which tests behave here as elsewhere.

        Raises:
            UserError: the tests cannot be run here.
        """
        wall_s = 60.0 + 20 * self._ground.seconds
        said = self._ask({"do": "cover", "wall_s": wall_s})
        if "trouble" in said or not said["outcomes"]:
            loaded = self._ask({"do": "load", "wall_s": wall_s})
            why = said.get("trouble") or loaded.get("trouble") or "no test ran"
            raise UserError(f"{self._ground.library.name}: cannot be screened: {why}")
        for path, by_test in said["lines"].items():
            self._at_import[path] = frozenset(by_test.pop("import", ()))
            self._lines[path] = {test: frozenset(lines) for test, lines in by_test.items()}
        again = self._ask(self._job({}, list(said["outcomes"]), wall_s=wall_s))
        outcomes = again.get("outcomes", {})
        self.trusted = tuple(
            one for one, out in outcomes.items() if out == "passed" and one in self._ground.passing
        )
        self._seconds = again.get("durations", {})
        if not self.trusted:
            raise UserError(f"{self._ground.library.name}: cannot be screened: {again}"[:1500])

    def covering(self, bug: Bug) -> list[str]:
        """Trusted tests that run a changed line."""
        touched = bug.lines(self._ground.read)
        found = {
            test
            for path, lines in touched.items()
            for test, ran in self._lines.get(path, {}).items()
            if lines & ran
        }
        return [one for one in self.trusted if one in found]

    def at_import(self, bug: Bug) -> bool:
        """A changed line runs while modules are imported."""
        touched = bug.lines(self._ground.read)
        ran = any(lines & self._at_import.get(path, frozenset()) for path, lines in touched.items())
        return bug.where == "import" or ran

    def sift(self, bugs: Sequence[Bug]) -> list[Sifted]:
        """All of them, at once as far as there are containers; answers in their order."""
        with ThreadPoolExecutor(len(self._screens)) as pool:
            return list(pool.map(self._one, bugs))

    def explain(self, found: Sequence[Sifted]) -> list[Sifted]:
        """The failing tests twice more: how they fail, and how far they are from the bug."""
        with ThreadPoolExecutor(len(self._screens)) as pool:
            return list(pool.map(self._explained, found))

    def close(self) -> None:
        for one in self._screens:
            one.close()

    # --- inner ---

    def _one(self, bug: Bug) -> Sifted:
        fresh = self.at_import(bug)
        tests = self.covering(bug)
        if fresh:
            tests = list(self.trusted)
        if not tests:
            return Sifted(bug=bug, fate="uncovered")
        said = self._run(bug, tests, fresh=fresh, most_bad=self._most)
        return self._read(bug, said)

    @property
    def _most(self) -> int:
        return int(len(self._ground.passing) * BROAD)

    def _run(
        self, bug: Bug, tests: list[str], *, fresh: bool, most_bad: int, explain: bool = False
    ) -> dict[str, Any]:
        files = {
            path: text.decode("latin-1") for path, text in bug.files(self._ground.read).items()
        }
        job = self._job(files, tests, most_bad=most_bad, explain=explain)
        if not fresh:
            said = self._ask(job)
            if "cannot" not in said:
                return said
        more = {"cpu_s": job["cpu_s"] + int(_IMPORT_S), "wall_s": job["wall_s"] + _IMPORT_S}
        return self._ask({**job, "do": "fresh", **more})

    def _job(
        self,
        files: Mapping[str, str],
        tests: list[str],
        *,
        wall_s: float = 0.0,
        most_bad: int = _ALL,
        explain: bool = False,
    ) -> dict[str, Any]:
        usual = sum(self._seconds.get(one, 0.0) for one in tests)
        limit = min(_AT_LEAST_S + _SLOWER * usual, _MOST_S)
        return {
            "do": "mutant",
            "files": dict(files),
            "tests": tests,
            "wall_s": wall_s or self._wait_s + limit * _WAITING * (self._wait_s / _WAIT_S),
            "cpu_s": math.ceil(wall_s or limit),
            "most_bad": most_bad,
            "explain": explain,
        }

    def _read(self, bug: Bug, said: Mapping[str, Any]) -> Sifted:
        if said.get("trouble") == "time":
            return Sifted(bug=bug, fate="time", detail=f"past {_SLOWER:.0f} times the usual time")
        if "trouble" in said:
            return Sifted(bug=bug, fate="broken", detail=_plain(str(said["trouble"])))
        if said["uncollected"]:
            return Sifted(bug=bug, fate="import", detail=f"{len(said['uncollected'])} files")
        failing = tuple(one for one in said["failures"] if one in set(self.trusted))
        if not failing:
            return Sifted(bug=bug, fate="equivalent")
        if len(failing) > self._most:
            return Sifted(bug=bug, fate="too broad", detail=f"more than {self._most} tests")
        failures = {one: said["failures"][one] for one in failing}
        if any("MemoryError" in str(one["message"]) for one in failures.values()):
            return Sifted(bug=bug, fate="broken", detail="out of memory")
        return Sifted(
            bug=bug, fate=None, failing=failing, failures=failures, depths=said.get("depths", {})
        )

    def _explained(self, found: Sifted) -> Sifted:
        if found.fate is not None:
            return found
        fresh = self.at_import(found.bug)
        tests = list(found.failing)
        first, second = (
            self._read(
                found.bug,
                self._run(found.bug, tests, fresh=fresh, most_bad=_ALL, explain=explain),
            )
            for explain in (True, False)
        )
        for one in (first, second):
            if one.fate in ("time", "broken"):
                return one
        if first.failing != found.failing or second.failing != found.failing:
            return Sifted(bug=found.bug, fate="flaky", detail="alone, other tests fail")
        same = {
            name: {**one, "message": _common(one["message"], second.failures[name]["message"])}
            for name, one in first.failures.items()
        }
        return Sifted(
            bug=found.bug, fate=None, failing=found.failing, failures=same, depths=first.depths
        )

    def _ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        screen = self._free.get()
        try:
            return screen.ask(job)
        finally:
            self._free.put(screen)


def _common(one: str, other: str) -> str:
    """The lines that both have: what differs between two runs is no part of a report."""
    known = set(other.split("\n"))
    return "\n".join(line for line in one.split("\n") if line in known)


def _plain(text: str) -> str:
    return text.strip().split("\n")[-1][:200]
