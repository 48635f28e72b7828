"""One command of evals from its options to its exit code."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from agent_loop.assemble import Workshop
from agent_loop.assemble.stopping import Stopper, leave_at_once
from agent_loop.config import Config
from agent_loop.errors import MissingExtra, UserError
from agent_loop.evals import resume
from agent_loop.evals.attempt import attempt, keep_trace, tokens_so_far
from agent_loop.evals.cases import Case, filled, left_of
from agent_loop.evals.cluster import connected
from agent_loop.evals.controls import Controlled, control, names
from agent_loop.evals.crew import Crew, Why
from agent_loop.evals.experiments import refuse_changed
from agent_loop.evals.identity import identity
from agent_loop.evals.ledger import Ledger, is_finished
from agent_loop.evals.meter import Counter, Meter
from agent_loop.evals.options import Options
from agent_loop.evals.progress import Progress
from agent_loop.evals.study import Study
from agent_loop.evals.suites import Suite, load_suite
from agent_loop.fixtures import task_hash
from agent_loop.graph.parts import Control
from agent_loop.ports import Clock, Json, SystemClock
from agent_loop.store import RunStore, ThreadLock
from agent_loop.store.reportnumbers import total_tokens
from agent_loop.store.reports import FOLDER, Attempt, Plan, Report, report_path
from agent_loop.tasks import Task
from agent_loop.terminal.screen import Screen


@dataclass(slots=True, kw_only=True)
class Session:
    """What one command has in hand."""

    options: Options
    config: Config
    env: Mapping[str, str]
    screen: Screen
    stopper: Stopper
    study: Study

    def run(self) -> int:
        """Make or continue the report of the label.

        Raises:
            UserError: bad input, or another process has this label.
            FaultError: no sandbox, no model, no disk.
        """
        store = RunStore(self.config.runs_dir)
        clock = SystemClock()
        lock = store.root / FOLDER / f".{self.options.label}.lock"
        with ThreadLock(lock, f"eval {self.options.label}", clock.now_iso()):
            return self._locked(store, clock)

    def _locked(self, store: RunStore, clock: Clock) -> int:
        suite = _only(load_suite(self.options.suite, self.options.data), self.options.only)
        found = resume.find(store.root, self.options.label)
        if found is not None:
            tasks = [one.task for one in suite.tasks]
            fixtures = {task.name: task_hash(task) for task in tasks}
            refuse_changed(found.report.plan.experiment, self.study.experiment, self.options.label)
            resume.refuse_changed(found, self._plan(suite, {}), fixtures, self.config)
            if self._complete(found.report, suite):
                ledger = Ledger(found.path, found.report, clock)
                self.study.settle(ledger, self._say)
                if self.screen.as_json:
                    self.screen.machine(_summary(ledger))
                self.screen.result(f"{found.path}: finished, nothing to do", "green")
                self._say_decision(ledger.report)
                return 0
        with Workshop(
            config=self.config, store=store, notify=self._notify, env=self.env
        ) as workshop:
            if self.options.jobs > 1:
                workshop.share_servers()
            code = self._open(workshop, suite, found)
            if self.stopper.killing.is_set():
                leave_at_once(workshop.close)
            return code

    def _complete(self, report: Report, suite: Suite) -> bool:
        """Nothing is left of what this command asks for."""
        left_out = report.plan.limits.get("quarantined")
        out = set(left_out) if isinstance(left_out, Mapping) else set()
        done = {(row.task, row.n) for row in report.attempts if row.status == "finished"}
        wanted = [one.task.name for one in suite.tasks if one.task.name not in out]
        numbers = range(1, self.options.attempts + 1)
        return all((name, n) in done for name in wanted for n in numbers)

    def _open(self, workshop: Workshop, suite: Suite, found: resume.Found | None) -> int:
        first = suite.tasks[0].task
        workshop.prepare([one.task for one in suite.tasks], filled(self.config, first.name, 1))
        controlled = self._controlled(workshop, suite)
        tasks = [one.task for one in controlled.tasks]
        plan = self._plan(replace(suite, tasks=controlled.tasks), controlled.quarantined)
        now = identity(workshop, tasks)
        if found is None:
            created = workshop.clock.now_iso()
            path = report_path(workshop.store.root, self.options.label, created)
            report = Report(
                label=self.options.label, created=created, updated=created, plan=plan, identity=now
            )
        else:
            resume.refuse_other_world(found, now)
            path = found.path
            report = replace(resume.grown(found.report, plan, now), stopped="")
        self.study.refuse_uncomparable(report)
        if not self.options.quiet:
            self._open_study(report)
        ledger = Ledger(path, report, workshop.clock)
        ledger.change()
        return self._work(workshop, ledger, tasks)

    def _open_study(self, report: Report) -> None:
        try:
            self._say(self.study.opening(report.plan))
        except MissingExtra as error:
            self._say(f"what this could see is not known: {error}", "yellow")

    def _controlled(self, workshop: Workshop, suite: Suite) -> Controlled:
        if not self.options.controls:
            return Controlled(tasks=suite.tasks, quarantined=suite.refused)
        found = control(
            workshop,
            suite,
            times=self.options.controls,
            jobs=self.options.jobs,
            say=self._say,
            stopping=self.stopper.draining.is_set,
        )
        for name, why in found.quarantined.items():
            text = why if why.startswith(name) else f"{name}: {why}"
            self.screen.result(f"left out: {text}", "yellow")
        if found.unproven:
            self._say(f"no right answer is known for: {', '.join(found.unproven)}")
        if not found.tasks:
            raise UserError(f"suite {suite.name}: no task can be used; see the reasons above.")
        return found

    def _plan(self, suite: Suite, quarantined: Mapping[str, str]) -> Plan:
        limits: dict[str, Json] = {
            "max_pauses": 0,
            "time_limit_s": self.options.time_limit_s,
            "rejection_cap": self.config.rejection_cap,
            "quarantined": dict(quarantined),
        }
        return Plan(
            tasks=names(suite.tasks),
            attempts=self.options.attempts,
            suite=self.options.suite,
            only=self.options.only,
            budget_tokens=self.options.budget_tokens,
            experiment=self.study.experiment.planned() if self.study.experiment else None,
            limits=limits,
        )

    def _work(self, workshop: Workshop, ledger: Ledger, tasks: list[Task]) -> int:
        options, stem = self.options, ledger.path.stem
        cases = left_of(ledger.report, tasks, options.attempts, stem)
        total = len(tasks) * options.attempts
        progress = Progress(self.screen, total=total, done=total - len(cases), jobs=options.jobs)
        meter = Meter(options.budget_tokens, self._spent(workshop.store, ledger.report, cases))
        with self._hands(workshop, meter) as (drive, jobs), progress.shown():
            crew = Crew(
                drive=drive,
                ledger=ledger,
                meter=meter,
                stopper=self.stopper,
                progress=progress,
                jobs=jobs,
                look=self.study.look,
                keep=lambda row: replace(row, trace=keep_trace(workshop.store, stem, row)),
            )
            why = crew.run(cases)
        return self._ended(ledger, why)

    @contextmanager
    def _hands(
        self, workshop: Workshop, meter: Meter
    ) -> Iterator[tuple[Callable[[Case, Control], Attempt], int]]:
        """Who makes the attempts, and how many at a time: this process, or a cluster."""
        if self.options.executor is None:
            yield lambda case, stop: self._drive(workshop, meter, case, stop), self.options.jobs
            return
        with connected(
            self.options.executor,
            self.config,
            time_limit_s=self.options.time_limit_s,
            stopping=self.stopper.killing.is_set,
        ) as cluster:
            self._say(f"{self.options.executor}: {cluster.slots} attempts at a time")
            yield cluster.drive, cluster.slots

    def _drive(self, workshop: Workshop, meter: Meter, case: Case, control: Control) -> Attempt:
        return attempt(
            workshop,
            case,
            control=control,
            live=Counter(meter, case.thread),
            time_limit_s=self.options.time_limit_s,
        )

    @staticmethod
    def _spent(store: RunStore, report: Report, cases: list[Case]) -> dict[str, int]:
        rows = {row.thread: total_tokens(row) or 0 for row in report.attempts}
        return rows | {
            case.thread: tokens_so_far(store, case.thread)
            for case in cases
            if store.record_path(case.thread).is_file()
        }

    def _ended(self, ledger: Ledger, why: Why) -> int:
        if is_finished(ledger.report) or why == "decided":
            self.study.close(ledger, self._say)
        report = ledger.report
        if self.screen.as_json:
            self.screen.machine(_summary(ledger))
        self.screen.result(f"{ledger.path}: {_words(report)}", "bold")
        self._say_decision(report)
        if report.stopped:
            self.screen.result(report.stopped, "green")
        if is_finished(report) or why == "decided":
            return 0
        if why == "budget":
            self.screen.result("the budget is spent: a larger --budget continues it", "yellow")
        elif why != "done":
            self.screen.result(f"{why}: the same command continues it", "yellow")
        return 130 if why == "interrupted" else 1

    def _say_decision(self, report: Report) -> None:
        """What an experiment was made for is said whenever its command ends, with --quiet too."""
        if adopted := report.adopted:
            reason = f" ({adopted['reason']})" if adopted["reason"] else ""
            self.screen.result(f"{adopted['decision']}{reason}, by the rule: {adopted['rule']}")

    def _say(self, line: str, style: str = "") -> None:
        self.screen.say(line, style)

    def _notify(self, line: str) -> None:
        self.screen.say(line, "yellow")


def _only(suite: Suite, names_: tuple[str, ...]) -> Suite:
    """The suite with these tasks only.

    Raises:
        UserError: a name that no task of it has.
    """
    if not names_:
        return suite
    there = {one.task.name: one for one in suite.tasks}
    for name in names_:
        if name not in there:
            known = ", ".join(sorted({*there, *suite.refused})[:20])
            raise UserError(f"--only {name}: suite {suite.name} has no such task. It has: {known}.")
    return replace(suite, tasks=tuple(there[name] for name in names_), refused={})


def _words(report: Report) -> str:
    judged = [row for row in report.attempts if row.status == "finished"]
    others = {
        word: sum(row.status == word for row in report.attempts)
        for word in ("environment", "budget", "running")
    }
    more = "".join(f", {count} {word}" for word, count in others.items() if count)
    passed = sum(row.passed is True for row in judged)
    rate = f"{passed} of {len(judged)} attempts passed" if judged else "no attempt was judged"
    return rate + more


def _summary(ledger: Ledger) -> dict[str, Json]:
    rows = ledger.report.attempts
    judged = [row for row in rows if row.status == "finished"]
    return {
        "report": str(ledger.path),
        "label": ledger.report.label,
        "finished": ledger.report.finished,
        "planned": len(ledger.report.plan.tasks) * ledger.report.plan.attempts,
        "judged": len(judged),
        "passed": sum(row.passed is True for row in judged),
        "environment": sum(row.status == "environment" for row in rows),
        "quarantined": ledger.report.plan.limits.get("quarantined"),
        "stopped": ledger.report.stopped,
        "adopted": ledger.report.adopted,
    }
