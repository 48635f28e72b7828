"""Everything that is fixed about a project before the first reply: the red run and its judge."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from agent_loop.checks.project.command import PytestCall, parse_command
from agent_loop.checks.project.commands import CommandJudge, RedCommand, reproduce_command
from agent_loop.checks.project.feedback import bounded
from agent_loop.checks.project.frozen import Frozen
from agent_loop.checks.project.hidden import hidden_tests
from agent_loop.checks.project.judge import ProjectJudge
from agent_loop.checks.project.lanes import Lanes
from agent_loop.checks.project.protected import Protection
from agent_loop.checks.project.reproduce import Reproduction
from agent_loop.checks.project.settings import find_setting, relative_roots
from agent_loop.checks.project.tree import Base
from agent_loop.paths import atomic_write
from agent_loop.ports import Verdict
from agent_loop.tasks import ProjectTask
from agent_loop.workspace import Tree

_Red = TypeVar("_Red")
_SHOWN_TESTS = 12
_SHOWN_CHARS = 1_200


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduced:
    """The red run, for the first prompts and the record."""

    green: bool
    """Nothing fails: there is nothing to fix."""
    wanted: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    tests: int = 0
    output: str = ""
    """How the wanted tests failed."""

    @property
    def summary(self) -> str:
        """One line."""
        if self.green:
            return f"nothing to fix: {self.tests} of {self.tests} tests pass"
        flaky = f", {len(self.flaky)} flaky left out: {', '.join(self.flaky)}" if self.flaky else ""
        return f"{len(self.wanted)} of {self.tests} tests fail{flaky}"


class Judge(Protocol):
    """What judges the files of a candidate."""

    def judge(self, files: Mapping[str, bytes | None]) -> Verdict: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """One project, ready to be judged."""

    files: Tree
    base: Base
    image: str
    lanes: Lanes
    protection: Protection
    judge: Judge
    reproduced: Reproduced


@dataclass(frozen=True, slots=True)
class Memory:
    """The red run on disk: a run that goes on in another process must match the same one."""

    path: Path

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def read(self, key: Mapping[str, str]) -> Mapping[str, Any] | None:
        """`None` where there is none, or one of another task, tree or image."""
        try:
            record = json.loads(self.path.read_text(encoding="utf-8"))
            return record["red"] if record["key"] == dict(key) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, key: Mapping[str, str], red: Mapping[str, Any]) -> None:
        atomic_write(self.path, json.dumps({"version": 1, "key": dict(key), "red": dict(red)}))


def set_up(
    task: ProjectTask, *, base: Base, lanes: Lanes, image: str, memory: Memory, wall_s: float
) -> Bench:
    """Run the red run, or take the remembered one.

    Raises:
        UserError: the project cannot be judged as the task has it.
        FaultError: the sandbox failed.
    """
    key = {"task": task.source_hash, "tree": base.hash(), "image": image}
    call = parse_command(task.test_command)
    maker = _Maker(
        task=task, base=base, lanes=lanes, image=image, memory=memory, wall_s=wall_s, key=key
    )
    return maker.command() if call is None else maker.pytest(call)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    task: ProjectTask
    base: Base
    lanes: Lanes
    image: str
    memory: Memory
    wall_s: float
    key: Mapping[str, str]

    def pytest(self, call: PytestCall) -> Bench:
        setting = find_setting(
            self.base, call, python_path=self.task.python_path, plugins=self.task.pytest_plugins
        )
        frozen = self._remembered(Frozen.from_record)
        if frozen is None:
            frozen = Reproduction(
                task=self.task, base=self.base, setting=setting, wall_s=self.wall_s
            ).run(self.lanes)
            self.memory.write(self.key, frozen.as_record())
        protection = self._protection(frozen, relative_roots(setting))
        judge = ProjectJudge(
            base=self.base,
            frozen=frozen,
            setting=setting,
            protection=protection,
            lanes=self.lanes,
            wall_s=self.wall_s,
            hidden=hidden_tests(self.task, self.base, frozen),
        )
        return self._bench(judge, protection, _of_tests(frozen))

    def command(self) -> Bench:
        red = self._remembered(RedCommand.from_record)
        if red is None:
            red = reproduce_command(self.task, self.lanes, self.wall_s)
            self.memory.write(self.key, asdict(red))
        nothing = Frozen(outcomes={}, kinds={}, wanted=())
        protection = self._protection(nothing, ())
        judge = CommandJudge(
            base=self.base,
            red=red,
            command=self.task.test_command,
            protection=protection,
            lanes=self.lanes,
            wall_s=self.wall_s,
            green_start=self.task.allow_green_start,
        )
        green = red.code == 0 and not self.task.allow_green_start
        wanted = () if green else (self.task.test_command,)
        reproduced = Reproduced(green=green, wanted=wanted, tests=1, output=red.output)
        return self._bench(judge, protection, reproduced)

    def _remembered(self, read: Callable[[Mapping[str, Any]], _Red]) -> _Red | None:
        """The red run of this task, tree and image; a memory of another shape is none."""
        known = self.memory.read(self.key)
        try:
            return None if known is None else read(known)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    def _protection(self, frozen: Frozen, roots: tuple[str, ...]) -> Protection:
        return Protection(
            known=frozenset(self.base.digests) | frozenset(self.base.links),
            test_files=frozenset(frozen.test_files),
            globs=self.task.protected,
            allow_test_edits=self.task.allow_test_edits,
            roots=roots,
            installed=frozenset(frozen.installed),
        )

    def _bench(self, judge: Judge, protection: Protection, reproduced: Reproduced) -> Bench:
        return Bench(
            files=Tree(self.base.root),
            base=self.base,
            image=self.image,
            lanes=self.lanes,
            protection=protection,
            judge=judge,
            reproduced=reproduced,
        )


def _of_tests(frozen: Frozen) -> Reproduced:
    parts = [
        f"{name}:\n{frozen.texts.get(name, '')[-_SHOWN_CHARS:]}"
        for name in frozen.all_wanted[:_SHOWN_TESTS]
    ]
    return Reproduced(
        green=not frozen.all_wanted,
        wanted=frozen.all_wanted,
        flaky=frozen.flaky,
        tests=len(frozen.outcomes) + len(frozen.by_import),
        output=bounded("\n\n".join(parts)),
    )
