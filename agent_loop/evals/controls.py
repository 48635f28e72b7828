"""Negative controls: before a suite is used, its right answers pass and empty ones fail.

A task whose right answer does not pass every time, or whose empty answer passes, says nothing about
a model: it is left out, with the reason, and no rate counts it.
"""

import ast
import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from agent_loop import syntax
from agent_loop.assemble import Workshop, state_dir
from agent_loop.checks.project import ProjectCheck
from agent_loop.errors import Cancelled, ReplyError, UserError
from agent_loop.evals.identity import gate_hash
from agent_loop.evals.suites import Suite, SuiteTask
from agent_loop.fixtures import task_hash
from agent_loop.paths import atomic_write
from agent_loop.ports import Candidate, Check, Reply, Usage
from agent_loop.tasks import ResearchTask

KEPT = "controls.json"
SAY_EVERY_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """Which tasks of a suite can be used."""

    tasks: tuple[SuiteTask, ...]
    quarantined: Mapping[str, str]
    """Left out, with the reason."""
    unproven: tuple[str, ...] = ()
    """No right answer is known: only that an empty one fails."""


def control(
    workshop: Workshop,
    suite: Suite,
    *,
    times: int,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _line: None,
    stopping: Callable[[], bool] = lambda: False,
) -> Controlled:
    """Judge right and empty answers in the real gate; what held once for these bytes is kept.

    Raises:
        FaultError: the sandbox failed; nothing was decided.
        Cancelled: `stopping` says so; what was judged is kept.
    """
    known, clock = _Known(state_dir() / KEPT, times), workshop.clock
    open_ = [one for one in suite.tasks if known.get(one) is None]
    if open_:
        many = "once" if times == 1 else f"{times} times"
        say(f"controls: {_tasks(len(open_))}, each right answer {many} and an empty one")
    said = clock.monotonic()
    pool = ThreadPoolExecutor(max_workers=max(1, jobs))
    try:
        found = pool.map(lambda one: examine(workshop, one, times), open_)
        for number, (one, problem) in enumerate(zip(open_, found, strict=True), start=1):
            known.put(one, problem)
            _refuse_stopped(stopping)
            if clock.monotonic() - said >= SAY_EVERY_S and number < len(open_):
                say(f"controls: {number} of {len(open_)}")
                said = clock.monotonic()
    finally:
        pool.shutdown(cancel_futures=True)
        known.save()
    bad = {one.task.name: text for one in suite.tasks if (text := known.get(one))}
    good = tuple(one for one in suite.tasks if one.task.name not in bad)
    return Controlled(
        tasks=good,
        quarantined={**suite.refused, **bad},
        unproven=tuple(one.task.name for one in good if one.reference is None),
    )


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"


def _refuse_stopped(stopping: Callable[[], bool]) -> None:
    if stopping():
        raise Cancelled("stopped between two controls; the same command continues")


def examine(workshop: Workshop, one: SuiteTask, times: int) -> str:
    """Why a task cannot be used; empty where it can.

    Raises:
        FaultError: the sandbox failed.
    """
    if isinstance(one.task, ResearchTask):
        return ""
    folder = Path(tempfile.mkdtemp(prefix="control-", dir=_room(workshop)))
    try:
        with workshop.trial(one.task, folder) as check:
            return _empty(check, one) or _right(check, one, times)
    except UserError as error:
        return str(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _room(workshop: Workshop) -> Path:
    room = workshop.store.root.resolve() / "evals" / ".controls"
    room.mkdir(parents=True, exist_ok=True)
    return room


def _empty(check: Check, one: SuiteTask) -> str:
    if isinstance(check, ProjectCheck):
        red = check.reproduce()
        return f"its tests pass without a fix: {red.summary}" if red.green else _wrong(check, one)
    stub = _stub(one)
    verdict = check.judge(Candidate(answer=stub, digest=""))
    if verdict.passed:
        what = "functions that do nothing pass" if stub else "an empty answer passes"
        return f"{what} it: {verdict.reason}"
    return _wrong(check, one)


def _wrong(check: Check, one: SuiteTask) -> str:
    for text in one.wrong:
        with contextlib.suppress(ReplyError):  # it cannot even be read: as good as failing
            reply = Reply(text=text, usage=Usage(), answered="wrong answer")
            if check.judge(check.parse(reply)).passed:
                return "a wrong answer passes it"
    return ""


def _right(check: Check, one: SuiteTask, times: int) -> str:
    if one.reference is None:
        return ""
    reply = Reply(text=one.reference, usage=Usage(), answered="reference")
    passes, why = 0, ""
    for _ in range(times):
        check.prepare()
        try:
            verdict = check.judge(check.parse(reply))
        except ReplyError as error:
            return f"its right answer cannot be read: {error}"
        passes += verdict.passed
        why = why if verdict.passed else verdict.reason
    if passes == times:
        return ""
    if passes == 0:
        return f"its right answer fails: {why}"
    return f"its right answer passed {passes} of {times} times: {why}"


def _stub(one: SuiteTask) -> str:
    """The right answer's functions with nothing in them."""
    text = one.reference or ""
    code = text.split("```")[1].removeprefix("python") if text.count("```") >= 2 else ""
    try:
        tree = syntax.parse(code)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [ast.Pass()]
    return ast.unparse(tree)


class _Known:
    """What was found for the same bytes, judged by the same gate, as many times."""

    def __init__(self, path: Path, times: int) -> None:
        self._path = path
        self._times = times
        self._new: dict[str, str] = {}
        try:
            read = json.loads(path.read_bytes())
        except (OSError, ValueError):
            read = {}
        self._old: dict[str, object] = read if isinstance(read, dict) else {}

    def get(self, one: SuiteTask) -> str | None:
        found = self._new.get(self._key(one), self._old.get(self._key(one)))
        return found if isinstance(found, str) else None

    def put(self, one: SuiteTask, problem: str) -> None:
        self._new[self._key(one)] = problem

    def save(self) -> None:
        """Only what held: a task that failed is tried again next time."""
        held = {key: problem for key, problem in self._new.items() if not problem}
        if held:
            text = json.dumps({**self._old, **held}, indent=0, sort_keys=True)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(self._path, text)

    def _key(self, one: SuiteTask) -> str:
        parts = (task_hash(one.task), one.reference or "", gate_hash(), str(self._times))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def names(tasks: Iterable[SuiteTask]) -> tuple[str, ...]:
    return tuple(one.task.name for one in tasks)
