"""Stopping an eval early without paying for it in false alarms (see `stats.sequential`)."""

import argparse
from dataclasses import dataclass

from agent_loop.stats import anytime_p, can_still_decide, pair_counts
from agent_loop.stats.compare import shared_rows
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import Report

ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Looks at a growing report beside the control's, after every attempt if one likes."""

    control: Report
    alpha: float = ALPHA
    variants: int = 1
    """Variants that are watched at once: each gets its part of `alpha` (Bonferroni)."""

    def look(self, report: Report) -> str | None:
        """Why to stop now, in words; `None`: go on."""
        pairs = shared_rows(arm_of(self.control), arm_of(report))
        counts = pair_counts((bool(a.passed), bool(b.passed)) for a, b in pairs)
        alpha = self.alpha / self.variants
        p = anytime_p(counts.only_first, counts.only_second)
        better = "more" if counts.only_second > counts.only_first else "fewer"
        if p <= alpha:
            return (
                f"decided after {counts.pairs} pairs: {better} passes than '{self.control.label}' "
                f"({counts.only_second} pairs only here, {counts.only_first} only there; p that "
                f"may be looked at any time: {p:.4f} <= {alpha:g})"
            )
        left = self._left(report, counts.pairs)
        if not can_still_decide(counts.only_first, counts.only_second, left, alpha=alpha):
            return (
                f"cannot decide any more: {left} pairs are left, and even if one side won them "
                f"all, p would stay above {alpha:g}"
            )
        return None

    def _left(self, report: Report, made: int) -> int:
        there = {(r.task, r.n) for r in self.control.attempts if r.passed is not None}
        numbers = range(1, report.plan.attempts + 1)
        planned = sum((task, n) in there for task in report.plan.tasks for n in numbers)
        return max(0, planned - made)


def add_options(group: argparse._ArgumentGroup) -> None:
    """The option of early stopping."""
    group.add_argument(
        "--stop-early", metavar="CONTROL",
        help="a finished report (label or file): stop as soon as the difference to it is decided, "
        "or cannot be decided any more",
    )  # fmt: skip
    group.add_argument(
        "--stop-alpha", type=_alpha, default=ALPHA, metavar="P",
        help="how often that may find a difference where there is none (default: 0.05)",
    )  # fmt: skip


def _alpha(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number between 0 and 1")
    return value
