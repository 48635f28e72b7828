"""The right library, ready: its image, its tests' outcomes, and which test runs which line."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from agent_loop.assemble import Yard
from agent_loop.benchgen.layout import (
    Layout,
    command_for,
    declared,
    declared_for_tests,
    named_like,
    wanted_python,
)
from agent_loop.benchgen.origins import Library
from agent_loop.checks.project.command import Job, Kind, Setting, parse_command, pytest_job
from agent_loop.checks.project.diagnose import nothing_ran, trouble
from agent_loop.checks.project.lanes import Errand, Lanes
from agent_loop.checks.project.records import Outcome, TestRun, read
from agent_loop.checks.project.run import Runner
from agent_loop.checks.project.settings import find_setting
from agent_loop.checks.project.tree import Base
from agent_loop.errors import UserError
from agent_loop.sandbox.requirements import RESERVED

ROUNDS = 6
_LIST = (
    "import json,sys;from importlib import metadata;"
    "print(json.dumps([sys.version.split()[0],sorted({(d.metadata['Name'],d.version)"
    " for d in metadata.distributions()})]))"
)
_NOT_PINNED = frozenset({"pip", "setuptools", "wheel", *RESERVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the owner says instead of having it found; empty: find it."""

    test_command: str = ""
    requirements: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    python_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The right library and how it behaves."""

    library: Library
    base: Base
    layout: Layout
    image: str
    setting: Setting
    outcomes: Mapping[str, Outcome]
    """By test id, the same in two runs in fresh containers."""
    flaky: tuple[str, ...]
    seconds: float
    """Of one run of the whole suite."""

    @property
    def passing(self) -> frozenset[str]:
        return frozenset(one for one, out in self.outcomes.items() if out == "passed")

    def read(self, path: str) -> bytes:
        return self.base.read(path) or b""


def prepare(
    library: Library, given: Given, yard: Yard, work: Path, say: Callable[[str], None]
) -> Ground:
    """Find out how the library is tested and run its tests twice.

    Raises:
        UserError: it cannot be judged here; the message says why and what can be given.
        FaultError: the sandbox failed.
    """
    base = Base(library.root)
    found = Layout(
        test_command=given.test_command or command_for(base),
        requirements=given.requirements or declared(base),
        plugins=given.plugins,
        python_path=given.python_path,
    )
    finder = _Finder(library=library, base=base, yard=yard, work=work, given=given, say=say)
    return finder.run(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finder:
    library: Library
    base: Base
    yard: Yard
    work: Path
    given: Given
    say: Callable[[str], None]

    def run(self, layout: Layout) -> Ground:
        self._refuse_python(self._installed(self.yard.image(()))[0])
        left = ROUNDS
        while True:
            image = self.yard.image(layout.requirements)
            _, pins = self._installed(image)
            first, second = self._twice(layout, image)
            more = self._missing(first, layout)
            if more is None or not left:
                break
            layout, left = more, left - 1
        pinned = replace(layout, requirements=self.given.requirements or pins)
        if pinned.requirements != layout.requirements:
            image = self.yard.image(pinned.requirements)
        return self._ground(pinned, image, first, second)

    def _lanes(self, image: str) -> Lanes:
        runner = Runner(sandbox=self.yard.sandbox, clock=self.yard.clock)
        return Lanes(
            runner,
            self.base,
            self.work / "copies",
            image=image,
            python=self.yard.python,
            limits=replace(self.yard.limits, life_s=self._wall_s + 60.0),
        )

    @property
    def _wall_s(self) -> float:
        return self.yard.config.check.project_s

    def _setting(self, layout: Layout) -> Setting:
        call = parse_command(layout.test_command)
        if call is None:
            raise UserError(
                f"{layout.test_command}: only pytest can be used. Give --test-command 'pytest …'"
            )
        return find_setting(self.base, call, python_path=layout.python_path, plugins=layout.plugins)

    def _twice(self, layout: Layout, image: str) -> tuple[TestRun, TestRun]:
        job = pytest_job(
            self._setting(layout), None, wall_s=self._wall_s, kind=Kind(name="collect")
        )
        first, second = map(read, self._lanes(image).run([Errand(job=job), Errand(job=job)]))
        return first, second

    def _installed(self, image: str) -> tuple[str, tuple[str, ...]]:
        """The image's Python, and everything the requirements brought, pinned."""
        job = Job(argv=("", "-I", "-c", _LIST), wall_s=60.0)
        said = self._lanes(image).run([Errand(job=job)])[0]
        try:
            version, pairs = json.loads(said.output)
        except ValueError:
            raise UserError(f"the image does not answer: {said.ending}") from None
        pins = [
            f"{name}=={number}"
            for name, number in pairs
            if canonicalize_name(name) not in _NOT_PINNED
        ]
        return str(version), tuple(pins)

    def _refuse_python(self, version: str) -> None:
        wanted = wanted_python(self.base)
        try:
            fits = SpecifierSet(wanted).contains(version, prereleases=True)
        except InvalidSpecifier:
            return
        if not fits:
            raise UserError(
                f"{self.library.name}: says it runs on Python {wanted}; the image has {version}. "
                "Take another version of it, or another base image (sandbox_image)"
            )

    def _missing(self, run: TestRun, layout: Layout) -> Layout | None:
        """The layout with what the first run missed; `None` when nothing is missing.

        Raises:
            UserError: something else is wrong.
        """
        found = trouble(run, known=[*self.base.digests], said="")
        if found is None:
            found = nothing_ran(run)
            if found is None:
                return None
        fresh = self._packages(found.packages, layout)
        if not fresh or self.given.requirements:
            raise UserError(
                f"{self.library.name}: {found.problem}. {found.fix} (here: --requirement, "
                "--plugin, --test-command)"
            )
        self.say(f"found missing: {', '.join(fresh)}")
        plugins = tuple(named.partition("=")[0] for named in found.packages)
        return replace(
            layout,
            requirements=(*layout.requirements, *fresh),
            plugins=(*layout.plugins, *plugins) if found.are_plugins else layout.plugins,
        )

    def _packages(self, names: Sequence[str], layout: Layout) -> list[str]:
        known = declared_for_tests(self.base)
        wanted = [named_like(name, known) for name in names]
        return [one for one in dict.fromkeys(wanted) if one not in layout.requirements]

    def _ground(self, layout: Layout, image: str, first: TestRun, second: TestRun) -> Ground:
        flaky = tuple(
            sorted(
                name
                for name in {*first.outcomes, *second.outcomes}
                if first.outcomes.get(name) != second.outcomes.get(name)
            )
        )
        steady = {
            one: first.outcomes[one] for one in suite_order(first.outcomes) if one not in flaky
        }
        if "passed" not in steady.values():
            raise UserError(f"{self.library.name}: no test passes: {first.answer.ending}")
        settled = layout.without(flaky)
        return Ground(
            library=self.library,
            base=self.base,
            layout=settled,
            image=image,
            setting=self._setting(settled),
            outcomes=steady,
            flaky=flaky,
            seconds=max(first.answer.seconds, second.answer.seconds),
        )


def suite_order(names: Iterable[str]) -> list[str]:
    """Tests as the suite has them, the cases of one test by name.

    A test whose cases come out of a set is collected in another order each time, and everything
    that is built here has to be the same bytes again.
    """
    place: dict[str, int] = {}
    named = [(place.setdefault(one.partition("[")[0], len(place)), one) for one in names]
    return [one for _, one in sorted(named)]
