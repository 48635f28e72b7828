"""One line of the speed table."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Row:
    what: str
    against: str
    goal: float
    """Largest ratio that meets the goal."""
    ours: float = 0.0
    theirs: float = 0.0
    unit: str = "ms"
    missing: str = ""
    """Why there is no figure."""
    more: dict[str, object] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else float("inf")
