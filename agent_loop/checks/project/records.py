"""What one pytest run recorded, read as hostile text."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["passed", "failed", "error", "skipped", "xfail", "xpass"]
BAD: tuple[Outcome, ...] = ("failed", "error")
_PHASES = ("setup", "call", "teardown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How one command ended, as the supervisor saw it."""

    code: int | None
    signal: int | None = None
    timed_out: bool = False
    lingered: bool = False
    """pytest had ended, its process had not."""
    records: str = ""
    overflow: bool = False
    output: str = ""
    seconds: float = 0.0
    marks: tuple[str, ...] = ()
    trouble: str = ""
    """Why there is no answer at all: the container was killed, or what it said is not one."""

    @property
    def said(self) -> str:
        """The output without pytest's own seconds: the same run gives the same text."""
        return re.sub(r"(?m)( in )\d+\.\d\ds( \(\d+:\d\d:\d\d\))?(?= ?=*$)", r"\1… s", self.output)

    @property
    def ending(self) -> str:
        """In words."""
        if self.trouble:
            return self.trouble
        if self.timed_out:
            return "the run did not end within its time"
        if self.lingered:
            return "the tests ended, but their process did not"
        if self.signal is not None:
            return f"the process was killed by signal {self.signal}"
        return f"exit code {self.code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """One pytest run, read."""

    __test__ = False  # pytest would take the name for a test class

    answer: Answer
    ids: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    raised: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    """(phase, exception class) by id, causes included."""
    texts: Mapping[str, str] = field(default_factory=dict)
    uncollected: Mapping[str, str] = field(default_factory=dict)
    """Why, by node."""
    lines: frozenset[tuple[str, str, int]] = frozenset()
    """(test, path, line)."""
    installed: tuple[str, ...] = ()
    replaced: frozenset[str] = frozenset()
    """Functions of Python or pytest that were not what they had been, after some test."""
    looked: frozenset[str] = frozenset()
    """Files of the project that looked into the tests, each with how: `path: audit event`."""
    problems: tuple[str, ...] = ()
    """Records that a true run does not give."""
    ended: bool = False

    @property
    def clean(self) -> bool:
        """It ended by itself with code 0 and said so last, and its records are whole."""
        return self.answer.code == 0 and self.whole

    @property
    def whole(self) -> bool:
        """All its records are there and in order, whatever they say."""
        answer = self.answer
        torn = answer.timed_out or answer.lingered or answer.overflow or answer.trouble
        return self.ended and not self.problems and not torn

    def bad(self) -> tuple[str, ...]:
        return tuple(one for one, outcome in self.outcomes.items() if outcome in BAD)


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    ids: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    reports: list[dict[str, Any]] = field(default_factory=list)
    raised: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    uncollected: dict[str, str] = field(default_factory=dict)
    lines: set[tuple[str, str, int]] = field(default_factory=set)
    installed: list[str] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)
    looked: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def take(self, record: Mapping[str, Any]) -> None:
        if self.ends:
            self.problems.append("a record after the end line")
        match record.get("t"):
            case "ids":
                self._take_ids(record["ids"])
            case "report":
                self.reports.append({key: record[key] for key in _REPORT})
            case "raised":
                pairs = {(str(record["when"]), str(name)) for name in record["names"]}
                self.raised.setdefault(str(record["id"]), set()).update(pairs)
            case "collect":
                self.uncollected[str(record["id"])] = str(record["text"])
            case "line":
                line = (str(record["test"]), str(record["path"]), int(record["line"]))
                self.lines.add(line)
            case "look":
                self.installed += map(str, record["installed"])
            case "replaced" | "looked" as kind:
                (self.replaced if kind == "replaced" else self.looked).update(
                    map(str, record["names"])
                )
            case "end":
                self.ends.append(int(record["code"]))
            case other:
                self.problems.append(f"a record of no known kind: {other!r:.40}")

    def _take_ids(self, pairs: list[list[str]]) -> None:
        if self.ids:
            self.problems.append("two lists of ids")
        self.ids += [str(name) for name, _ in pairs]
        self.kinds.update({str(name): str(kind) for name, kind in pairs})


_REPORT = ("id", "when", "outcome", "xfail", "sub", "text")


def read(answer: Answer) -> TestRun:
    """Never raises: what cannot be read is a problem of the run."""
    reading = _Reading()
    for number, line in enumerate(answer.records.split("\n"), 1):
        if line:
            _read_line(reading, number, line)
    outcomes = _outcomes(reading)
    if len(reading.ends) > 1 or (reading.ends and reading.ends[0] != answer.code):
        reading.problems.append("the end line does not fit the exit code")
    return TestRun(
        answer=answer,
        ids=tuple(reading.ids),
        kinds=reading.kinds,
        outcomes=outcomes,
        raised={name: frozenset(pairs) for name, pairs in reading.raised.items()},
        texts=_texts(reading),
        uncollected=reading.uncollected,
        lines=frozenset(reading.lines),
        installed=tuple(reading.installed),
        replaced=frozenset(reading.replaced),
        looked=frozenset(reading.looked),
        problems=tuple(dict.fromkeys(reading.problems)),
        ended=bool(reading.ends),
    )


def _read_line(reading: _Reading, number: int, line: str) -> None:
    try:
        reading.take(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        reading.problems.append(f"line {number} of the records cannot be read")


def _outcomes(reading: _Reading) -> dict[str, Outcome]:
    """One outcome per test; more than one report of a phase is a problem."""
    found: dict[str, Outcome] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for report in reading.reports:
        name, when = str(report["id"]), str(report["when"])
        if not report["sub"]:
            seen[name, when] += 1
        outcome = _outcome(report)
        if outcome is not None and found.get(name) not in BAD:
            found[name] = outcome
    reading.problems += _irregular(found, seen)
    return found


def _irregular(found: Mapping[str, Outcome], seen: Counter[tuple[str, str]]) -> Iterator[str]:
    for (name, when), count in seen.items():
        if count != 1 or when not in _PHASES:
            yield f"{count} reports of phase {when!r:.20} for {name:.200}"
    for name, outcome in found.items():
        if outcome == "passed" and not all(seen[name, phase] for phase in _PHASES):
            yield f"a phase is missing for {name:.200}"


def _outcome(report: Mapping[str, Any]) -> Outcome | None:
    """`None` where a phase says nothing about the test (a setup that went well)."""
    outcome, call = report["outcome"], report["when"] == "call"
    if outcome == "failed":
        return "failed" if call else "error"
    if outcome == "skipped":
        return "xfail" if report["xfail"] else "skipped"
    if not call or report["sub"]:
        return None
    if outcome != "passed":
        return "failed"
    return "xpass" if report["xfail"] else "passed"


def _texts(reading: _Reading) -> dict[str, str]:
    found: dict[str, str] = {}
    for report in reading.reports:
        if report["text"]:
            found.setdefault(str(report["id"]), str(report["text"]))
    return found
