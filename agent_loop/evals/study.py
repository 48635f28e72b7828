"""What an eval is for: its experiment, what is said before it, and what is decided after it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_loop import config
from agent_loop.errors import MissingExtra, ReportError
from agent_loop.evals import experiments, rules
from agent_loop.evals.early import ALPHA, Watch
from agent_loop.evals.experiments import CONTROL, Experiment
from agent_loop.evals.ledger import Ledger, is_finished
from agent_loop.evals.options import Options
from agent_loop.evals.outputs import write_beside
from agent_loop.evals.planning import before
from agent_loop.stats.compare import figures
from agent_loop.store.comparable import differences
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import (
    Plan,
    Report,
    find_report,
    list_reports,
    read_report,
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The purpose of one command."""

    root: Path
    """The runs folder."""
    experiment: Experiment | None = None
    watch: Watch | None = None
    page: bool = True

    def opening(self, plan: Plan) -> str:
        """What this experiment could see, for people, before its first attempt."""
        rule = self.experiment.rule if self.experiment else None
        control = self._control(plan, rule.against if rule else CONTROL)
        rate = figures(arm_of(control)).rate if control else None
        lines = before(
            tasks=len(plan.tasks),
            attempts=plan.attempts,
            baseline=rate.value if rate else None,
            rule=rule,
        )
        if self.watch:
            lines += (
                f"\n  stops early against '{self.watch.control.label}': at most "
                f"{self.watch.alpha:g} of such evals find a difference where there is none; the "
                "pass rate of one that stopped early is too extreme"
            )
        return lines

    def look(self, report: Report) -> str:
        """Why to stop now; empty: go on."""
        return (self.watch.look(report) if self.watch else None) or ""

    def refuse_uncomparable(self, report: Report) -> None:
        """Before the first attempt: a watched control must be of the same kind.

        Raises:
            ReportError: says what differs.
        """
        found = differences([self.watch.control, report]) if self.watch else []
        if found:
            lines = "\n  ".join(found[:12])
            raise ReportError(f"--stop-early: these reports may not be compared:\n  {lines}")

    def close(self, ledger: Ledger, say: Say) -> None:
        """Apply the rule to a finished report and write what people read beside it.

        Raises:
            ReportError: the rule in the report was edited.
            StoreFault: the disk refused.
        """
        try:
            self._decide(ledger)
            if self.page:
                for path in write_beside(ledger.path, ledger.report, self.root):
                    say(str(path))
        except MissingExtra as error:
            say(f"no rule applied and no page made: {error}")

    def settle(self, ledger: Ledger, say: Say) -> None:
        """For a report that is complete: a rule that was undecided is applied once more."""
        decision = (ledger.report.adopted or {}).get("decision", "undecided")
        experiment = ledger.report.plan.experiment
        if experiment and experiment.rule is not None and decision == "undecided":
            self.close(ledger, say)

    def _decide(self, ledger: Ledger) -> None:
        report = ledger.report
        experiment = report.plan.experiment
        if experiment is None or experiment.rule is None or not is_finished(report):
            return
        rule = rules.stored_rule(experiment, report.label)
        control = self._control(report.plan, rule.against if rule else CONTROL)
        ledger.change(adopted=rules.adopted(report, control))

    def _control(self, plan: Plan, label: str) -> Report | None:
        """The newest readable report of that label and suite."""
        for summary in list_reports(self.root):
            if summary.label == label and not summary.problem:
                report = read_report(summary.path)
                if report.plan.suite == plan.suite:
                    return report
        return None


def experiment_of(options: Options) -> Experiment | None:
    """The experiment that was named.

    Raises:
        ConfigError: there is none of that name, or its file is wrong.
    """
    if options.experiment is None:
        return None
    folder = (config.clone() or Path()) / experiments.FOLDER
    return experiments.load(experiments.find(options.experiment, folder))


def study_of(options: Options, root: Path, experiment: Experiment | None) -> Study:
    """The study of one command.

    Raises:
        ReportError: the control of `--stop-early` is unknown or unfinished.
    """
    given = options.given
    name = getattr(given, "stop_early", None)
    watch = None
    if name:
        control = read_report(find_report(root, name))
        if not control.finished:
            raise ReportError(f"--stop-early {name}: that report is not finished.")
        watch = Watch(control=control, alpha=getattr(given, "stop_alpha", ALPHA))
    page = not getattr(given, "no_page", False)
    return Study(root=root, experiment=experiment, watch=watch, page=page)
