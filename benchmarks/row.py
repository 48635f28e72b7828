"""One line of the speed table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles


@dataclass(frozen=True, kw_only=True)
class Row:
    """Ours against something else of the same run; or, with `limit`, against a fixed bound."""

    what: str
    against: str
    goal: float
    """Largest ratio that meets the goal."""
    ours: float = 0.0
    theirs: float = 0.0
    unit: str = "ms"
    limit: float | None = None
    """Where the goal is a bound in `unit` and no ratio: the largest `ours` that meets it."""
    missing: str = ""
    """Why there is no figure."""
    spread: str = ""
    """Middle half of `ours` and of `theirs`, where they were measured several times."""
    more: dict[str, object] = field(default_factory=dict)
    seconds: float = 0.0
    """How long measuring took."""

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else float("inf")

    @property
    def met(self) -> bool | None:
        """`None`: not measured."""
        if self.missing:
            return None
        return self.ratio <= self.goal if self.limit is None else self.ours <= self.limit


def middle(values: Sequence[float], scale: float = 1.0) -> float:
    """The median, rounded for people."""
    return rounded(median(values) * scale)


def rounded(value: float) -> float:
    """Four digits that count."""
    return float(f"{value:.4g}")


def halves(ours: Sequence[float], theirs: Sequence[float], scale: float = 1.0) -> str:
    """`3.1-3.4 against 14.8-15.9`: between which the middle half of each lies."""

    def half(values: Sequence[float]) -> str:
        low, _, high = quantiles([value * scale for value in values], n=4)
        return f"{low:.3g}-{high:.3g}"

    return f"{half(ours)} against {half(theirs)}"
