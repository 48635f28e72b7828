"""Success by budget: one run scored at every smaller cap of laps, tokens and seconds."""

from agent_loop.stats.budget import CapPoint, success_by
from agent_loop.store.reportnumbers import MEASURES, spendings
from agent_loop.store.reports import Report


def curves(report: Report) -> dict[str, list[CapPoint]]:
    """By measure (`laps`, `tokens`, `seconds`); an empty list where nothing was measured."""
    return {measure: success_by(spendings(report, measure)) for measure in MEASURES}


def measured(report: Report, measure: str) -> int:
    """Judged attempts whose use of `measure` is known."""
    return len(spendings(report, measure))
