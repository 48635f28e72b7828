"""The red run: twice on the untouched project, so that everything later has something to match."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_loop.checks.project.command import Kind, Setting, pytest_job
from agent_loop.checks.project.diagnose import (
    Trouble,
    exit_without_failure,
    left_out,
    nothing_ran,
    trouble,
)
from agent_loop.checks.project.frozen import Frozen, expand
from agent_loop.checks.project.lanes import Errand, Lanes
from agent_loop.checks.project.records import BAD, Outcome, TestRun, read
from agent_loop.checks.project.source.text import Source
from agent_loop.checks.project.tree import Base
from agent_loop.checks.project.twins.place import NodeId, static_tests
from agent_loop.errors import TaskFileError
from agent_loop.tasks import ProjectTask

_NEAR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """Everything the red run needs."""

    task: ProjectTask
    base: Base
    setting: Setting
    wall_s: float

    def run(self, lanes: Lanes) -> Frozen:
        """Run the project's tests twice, each in its own container.

        Raises:
            TaskFileError: the project cannot be judged as the task has it.
            FaultError: the sandbox failed.
        """
        job = pytest_job(
            self.setting, None, wall_s=self.wall_s, kind=Kind(name="collect", guard=True)
        )
        first, second = map(read, lanes.run([Errand(job=job), Errand(job=job)]))
        for run in (first, second):
            self._refuse(
                trouble(run, known=self._names, said=self.task.task)
                or left_out(run, self.task.project, self._names)
                or nothing_ran(run)
            )
        return self._frozen(first, second)

    @property
    def _names(self) -> Collection[str]:
        return (*self.base.digests, *self.base.links)

    def _refuse(self, found: Trouble | None) -> None:
        if found is not None:
            raise TaskFileError(str(self.task.source or self.task.name), found.problem, found.fix)

    def _frozen(self, first: TestRun, second: TestRun) -> Frozen:
        flaky = tuple(
            name
            for name in dict.fromkeys([*first.outcomes, *second.outcomes])
            if first.outcomes.get(name) != second.outcomes.get(name)
        )
        steady = {one: out for one, out in first.outcomes.items() if one not in flaky}
        frozen = Frozen(
            outcomes=steady,
            kinds={one: kind for one, kind in first.kinds.items() if one in steady},
            wanted=(),
            flaky=flaky,
            installed=first.installed,
            replaced=tuple(sorted(first.replaced | second.replaced)),
            looked=tuple(sorted(first.looked | second.looked)),
            keep=self.task.pass_to_pass or None,
        )
        red = [one for one, out in steady.items() if out in BAD]
        hidden_names = self._uncollected(first)
        wanted, by_import = self._wanted(red, hidden_names, steady)
        if not wanted and not by_import:
            self._refuse(exit_without_failure(first))
            return self._green(frozen)
        texts = {one: first.texts.get(one, "") for one in wanted}
        texts |= {one: first.uncollected.get(NodeId.parse(one).path, "") for one in by_import}
        return replace(frozen, wanted=tuple(wanted), by_import=tuple(by_import), texts=texts)

    def _green(self, frozen: Frozen) -> Frozen:
        if not self.task.allow_green_start:
            return replace(frozen, green_start=True)
        passing = [one for one, out in frozen.outcomes.items() if out == "passed"]
        return replace(frozen, wanted=tuple(passing), green_start=True)

    def _uncollected(self, run: TestRun) -> list[str]:
        """Names of the tests in files that could not be imported, as far as the text shows."""
        found: list[str] = []
        for path in run.uncollected:
            try:
                tree = Source.decode(self.base.read(path) or b"").tree()
            except SyntaxError:
                continue
            found += ["::".join((path, *parts)) for parts in static_tests(tree)]
        return found

    def _wanted(
        self, red: Sequence[str], uncollected: Sequence[str], steady: Mapping[str, Outcome]
    ) -> tuple[list[str], list[str]]:
        if not self.task.fail_to_pass:
            return list(red), list(uncollected)
        wanted: list[str] = []
        by_import: list[str] = []
        for name, ids in expand(self.task.fail_to_pass, [*steady]).items():
            if ids:
                wanted += self._red_ones(name, ids, red)
            elif NodeId.parse(name).path in {NodeId.parse(one).path for one in uncollected}:
                by_import.append(name)
            else:
                self._refuse(self._unknown(name, [*steady]))
        return wanted, by_import

    def _red_ones(self, name: str, ids: list[str], red: Sequence[str]) -> list[str]:
        found = [one for one in ids if one in red]
        if not found:
            self._refuse(
                Trouble(
                    problem=f"fail_to_pass names {name}, which passes already",
                    fix="Leave it out, or check the project's state",
                )
            )
        return found

    def _unknown(self, name: str, known: Sequence[str]) -> Trouble:
        last = name.rpartition("::")[2].partition("[")[0]
        near = [one for one in known if last and last in one][:_NEAR]
        return Trouble(
            problem=f"fail_to_pass names {name}, which pytest does not find",
            fix="Take ids as `pytest --collect-only -q` prints them"
            + (f"; near ones: {', '.join(near)}" if near else ""),
        )
