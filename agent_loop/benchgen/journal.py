"""What became of every bug that was tried: counts by kind, and the reason of each rejection."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from agent_loop.benchgen.bugs import Bug
from agent_loop.ports import Json

Fate = Literal[
    "accepted", "part", "uncovered", "no change", "duplicate", "equivalent", "time", "broken",
    "import", "too broad", "flaky", "leak", "gate", "not needed", "refused",
]  # fmt: skip
FATES: tuple[str, ...] = get_args(Fate)
MEANING = {
    "accepted": "became a task",
    "part": "is a site of a combined bug that became a task",
    "uncovered": "no test runs its lines",
    "no change": "Python makes the same of it, or it does not parse",
    "duplicate": "the same text, or the same function failing the same tests, as an earlier one",
    "equivalent": "no test that runs its lines fails",
    "time": "a test did not end within its limit",
    "broken": "its process or container died (memory, exit, signal)",
    "import": "tests could not be imported",
    "too broad": "more than a quarter of the passing tests fail",
    "flaky": "two runs differ",
    "leak": "no report could be written that does not give it away",
    "gate": "the right version does not pass the gate with all proofs",
    "not needed": "one of its sites makes no difference",
    "refused": "the project check cannot judge it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One bug that was tried."""

    bug: Bug
    fate: Fate
    detail: str = ""


@dataclass(slots=True)
class Journal:
    """Grows in the order in which bugs are decided, which the seed fixes."""

    entries: list[Entry] = field(default_factory=list)

    def add(self, bug: Bug, fate: Fate, detail: str = "") -> None:
        self.entries.append(Entry(bug=bug, fate=fate, detail=detail))

    def by_kind(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for one in self.entries:
            found.setdefault(one.bug.kind, Counter())[one.fate] += 1
        return {kind: found[kind] for kind in sorted(found)}

    def as_record(self) -> Mapping[str, Json]:
        """No times: the same seed gives the same record."""
        return {
            "version": 1,
            "totals": dict(sorted(Counter(one.fate for one in self.entries).items())),
            "by_kind": {kind: dict(sorted(row.items())) for kind, row in self.by_kind().items()},
            "by_site": _sites(self.entries),
            "entries": [
                {
                    "bug": one.bug.id,
                    "kind": one.bug.kind,
                    "where": one.bug.where,
                    "functions": list(one.bug.functions),
                    "fate": one.fate,
                    "detail": one.detail,
                }
                for one in self.entries
            ],
        }

    def markdown(self) -> str:
        """The yields as a table."""
        rows = self.by_kind()
        fates = [one for one in FATES if any(row[one] for row in rows.values())]
        head = ["kind", "tried", *fates]
        lines = [
            f"| {' | '.join(head)} |",
            f"|{'---|' * len(head)}",
        ]
        for kind, row in rows.items():
            cells = [kind, str(row.total()), *(str(row[one] or "") for one in fates)]
            lines.append(f"| {' | '.join(cells)} |")
        meanings = [f"- **{one}**: {MEANING[one]}" for one in fates]
        return "\n".join(["# What became of each bug", "", *lines, "", *meanings, ""])


def _sites(entries: list[Entry]) -> dict[str, Json]:
    found: dict[str, Counter[str]] = {}
    for one in entries:
        found.setdefault(one.bug.where, Counter())[one.fate] += 1
    return {where: dict(sorted(row.items())) for where, row in sorted(found.items())}
