"""The rule of an experiment: written down before the first attempt, applied after the last.

```yaml
rule:
  against: control            # label of the report it is compared with
  adopt_if:                   # every line must hold
    - {measure: passes, direction: lower, at_most: 2}
    - {measure: seconds, direction: lower, at_least: 30, percent: true}
```
Differences are counted in the named direction: "passes lower, at most 2" holds where the variant
has 5 passes more, and where it has 2 fewer.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agent_loop.errors import ReportError
from agent_loop.ports import Json
from agent_loop.stats.compare import Row, shared_rows
from agent_loop.stats.paired import mcnemar_exact, pair_counts
from agent_loop.store.comparable import differences
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import PlannedExperiment, Report
from agent_loop.yamlfile import Document, YamlProblem, first_problem

Measure = Literal["passes", "pass_rate", "seconds", "tokens", "format_failures", "mcnemar_p"]
_FROZEN = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
_NAMES: Mapping[str, str] = {
    "passes": "passes",
    "pass_rate": "pass rate in points",
    "seconds": "mean seconds",
    "tokens": "mean tokens",
    "format_failures": "format failures",
    "mcnemar_p": "p of exact McNemar",
}


class Condition(BaseModel):
    """One line: what is compared, which way it is counted, and the threshold."""

    model_config = _FROZEN

    measure: Measure
    direction: Literal["higher", "lower"] | None = None
    """Which way the difference to the control is counted; none for `mcnemar_p`."""
    at_least: float | None = None
    at_most: float | None = None
    percent: bool = False
    """The threshold is a share of the control's value, in percent."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("needs one of 'at_least' and 'at_most'")
        if self.measure == "mcnemar_p" and (self.direction or self.percent):
            raise ValueError("with mcnemar_p takes neither 'direction' nor 'percent'")
        if self.measure != "mcnemar_p" and self.direction is None:
            raise ValueError("needs 'direction': higher or lower")
        return self

    @property
    def words(self) -> str:
        """For people: `mean seconds at least 30 % lower`."""
        bound = "at least" if self.at_least is not None else "at most"
        unit = " %" if self.percent else ""
        way = f" {self.direction}" if self.direction else ""
        return f"{_NAMES[self.measure]} {bound} {self.threshold:g}{unit}{way}"

    @property
    def threshold(self) -> float:
        return cast(float, self.at_least if self.at_least is not None else self.at_most)

    def holds(self, observed: float) -> bool:
        """Whether a difference (or p value) fulfils it. Rounding of floats costs nobody a rule."""
        if self.at_least is not None:
            return observed >= self.at_least - 1e-9
        return observed <= self.threshold + 1e-9


class Rule(BaseModel):
    """Adopted if every condition holds."""

    model_config = _FROZEN

    against: str = Field(min_length=1, max_length=100)
    """Label of the report it is compared with."""
    adopt_if: list[Condition] = Field(min_length=1, max_length=20)

    def as_record(self) -> dict[str, Json]:
        """Plain JSON, for the report."""
        return cast("dict[str, Json]", self.model_dump(mode="json", exclude_none=True))

    def hash(self) -> str:
        """SHA-256 of the record, hex."""
        return hash_of(self.as_record())

    @property
    def words(self) -> str:
        """For people, one sentence."""
        conditions = " and ".join(condition.words for condition in self.adopt_if)
        return f"adopt if {conditions} against '{self.against}'"


class _Top(BaseModel):
    """Only to name the place of a problem."""

    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What the rule said about a finished report."""

    decision: Literal["adopted", "not adopted", "undecided"]
    reason: str
    """Why it is undecided; empty otherwise."""
    conditions: tuple[Mapping[str, Json], ...] = ()
    """`words`, `control`, `variant`, `observed`, `held` of each."""


def rule_of(document: Document) -> Rule | None:
    """The rule in an experiment file; `None` where it has none.

    Raises:
        YamlProblem: with the line, and the nearest known key.
    """
    if "rule" not in document.data:
        return None
    try:
        return _Top.model_validate({"rule": document.data["rule"]}).rule
    except ValidationError as error:
        path, problem = first_problem(error, _Top)
        raise YamlProblem(document.line(*path), problem) from None


def hash_of(record: Mapping[str, Json]) -> str:
    """SHA-256 of a rule as it stands in a report."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def stored_rule(experiment: PlannedExperiment, label: str) -> Rule | None:
    """The rule that a report was begun with.

    Raises:
        ReportError: it is not the one its hash was written for.
    """
    if experiment.rule is None:
        return None
    if hash_of(experiment.rule) != experiment.rule_hash:
        raise ReportError(
            f"report '{label}': its rule is not the one it was begun with (the hash differs). "
            "A rule that was edited after the start decides nothing."
        )
    return Rule.model_validate(dict(experiment.rule))


def adopted(variant: Report, control: Report | None) -> dict[str, Json] | None:
    """What goes into the report's `adopted`; `None` without a rule.

    Raises:
        ReportError: the stored rule was edited.
    """
    experiment = variant.plan.experiment
    rule = stored_rule(experiment, variant.label) if experiment else None
    if rule is None or experiment is None:
        return None
    decided = decide(rule, variant, control)
    return {
        "decision": decided.decision,
        "rule": rule.words,
        "rule_hash": experiment.rule_hash,
        "against": control.label if control else rule.against,
        "against_created": control.created if control else None,
        "reason": decided.reason,
        "conditions": list(decided.conditions),
    }


def decide(rule: Rule, variant: Report, control: Report | None) -> Decided:
    """Apply the rule to the pairs of attempts that both reports judged."""
    if (problem := _not_yet(rule, variant, control)) or control is None:
        return Decided(decision="undecided", reason=problem)
    pairs = shared_rows(arm_of(control), arm_of(variant))
    lines = [_line(condition, pairs) for condition in rule.adopt_if]
    if unknown := [str(line["words"]) for line in lines if line["held"] is None]:
        reason = f"not measured on both sides: {'; '.join(unknown)}"
        return Decided(decision="undecided", reason=reason, conditions=tuple(lines))
    held = all(line["held"] for line in lines)
    return Decided(
        decision="adopted" if held else "not adopted", reason="", conditions=tuple(lines)
    )


def _not_yet(rule: Rule, variant: Report, control: Report | None) -> str:
    if control is None:
        return f"there is no report labelled '{rule.against}' yet"
    for report in (variant, control):
        if report.stopped:  # what it measured is then too extreme for thresholds
            return f"report '{report.label}' was stopped early"
        if not report.finished:
            return f"report '{report.label}' is not finished"
    if forbidden := differences([control, variant]):
        more = f"; and {len(forbidden) - 3} more" if len(forbidden) > 3 else ""
        return f"the reports are not comparable: {'; '.join(forbidden[:3])}{more}"
    return ""


def _line(condition: Condition, pairs: Sequence[tuple[Row, Row]]) -> Mapping[str, Json]:
    if condition.measure == "mcnemar_p":
        counts = pair_counts((bool(a.passed), bool(b.passed)) for a, b in pairs)
        control = variant = None
        # Without a discordant pair nothing speaks for a difference.
        p = mcnemar_exact(counts.only_first, counts.only_second)
        observed: float | None = (1.0 if p is None else p) if pairs else None
    else:
        control, variant = _values(condition.measure, pairs)
        observed = _counted(condition, control, variant)
    return {
        "words": condition.words,
        "control": control,
        "variant": variant,
        "observed": observed,
        "held": None if observed is None else condition.holds(observed),
    }


def _counted(condition: Condition, control: float | None, variant: float | None) -> float | None:
    if control is None or variant is None:
        return None
    difference = variant - control if condition.direction == "higher" else control - variant
    if not condition.percent:
        return difference
    return 100 * difference / control if control else None


def _values(
    measure: Measure, pairs: Sequence[tuple[Row, Row]]
) -> tuple[float | None, float | None]:
    rows = [pair for pair in pairs if all(_value(measure, row) is not None for row in pair)]
    if not rows:
        return None, None
    sums = [[cast(float, _value(measure, row)) for row in side] for side in zip(*rows, strict=True)]
    if measure in ("passes", "format_failures"):
        return float(sum(sums[0])), float(sum(sums[1]))
    return fmean(sums[0]), fmean(sums[1])


def _value(measure: Measure, row: Row) -> float | None:
    values: Mapping[str, Any] = {
        "passes": int(bool(row.passed)),
        "pass_rate": 100 * int(bool(row.passed)),
        "seconds": row.seconds,
        "tokens": row.tokens,
        "format_failures": row.format_failures,
    }
    return cast("float | None", values[measure])
