"""Words that more than one seam uses."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Role = Literal["lead", "worker", "reviewer", "escalation"]
Outcome = Literal[
    "passed",
    "accepted",
    "stopped",
    "capped",
    "paused",
    "nothing_to_fix",
    "budget",
    "cancelled",
    "error",
]
FINAL: frozenset[str] = frozenset({"passed", "accepted", "stopped", "capped", "nothing_to_fix"})
"""Outcomes that no resume changes: nobody drives such a run any more."""
Isolation = Literal["separate", "shared", "command", "pytest", "citations", "none"]


class Cancel(Protocol):
    """Somebody may want the work in hand to stop (`threading.Event` fits)."""

    def is_set(self) -> bool: ...
