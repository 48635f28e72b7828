"""What an eval report holds. Frozen; `reports` reads and writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from agent_loop.ports import Json

VERSION = 1

Status = Literal["finished", "environment", "running", "budget"]
"""`finished`: judged. `environment`: the world around the model failed, nothing was judged.
`running`: begun and not ended. `budget`: the tokens or seconds ran out before the end."""

JsonMap = Annotated[
    Mapping[str, Json],
    GetPydanticSchema(lambda _source, _handler: core_schema.dict_schema(core_schema.str_schema())),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What the model calls of one attempt used."""

    input: int
    output: int
    by_role: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """`{"worker": {"input": 900, "output": 120}}`; roles or nodes, as the record names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LapPoint:
    """Where an attempt stood at the end of a lap. Tokens and seconds count from its start."""

    lap: int
    passed: bool
    """With a cap here the attempt would have ended as passed."""
    tokens: int | None = None
    """Input and output together; `None`: not measured."""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One row: the latest valid try at attempt `n` of a task."""

    task: str
    n: int
    """Counts from 1."""
    thread: str
    status: Status
    outcome: str | None = None
    """The run's own word for its end (`passed`, `stopped`, `error`, …)."""
    passed: bool | None = None
    """`None`: nothing was judged."""
    looks: int = 0
    """Signals that a person must look at this pass."""
    laps: int = 0
    seconds: float | None = None
    """Loading of weights left out."""
    load_s: float | None = None
    tokens: Tokens | None = None
    cost: float | None = None
    """US dollars."""
    format_failures: int = 0
    problem: str = ""
    tries: int = 1
    """Times it was started; more than 1 after a failure of the environment."""
    record: str = ""
    """`<thread>.json`, relative to the runs folder."""
    trace: str = ""
    patch: str | None = None
    """The answer or patch as it was judged, byte for byte: not redacted."""
    lap_curve: tuple[LapPoint, ...] = ()
    samples: tuple[bool, ...] = ()
    """Whether each of several answers to the first plan passed, in order (`samples: k`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedExperiment:
    """The experiment as it stood before the first attempt."""

    name: str
    patch: JsonMap
    rule: JsonMap | None = None
    rule_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What was to be run."""

    tasks: tuple[str, ...]
    attempts: int
    suite: str | None = None
    only: tuple[str, ...] = ()
    budget_tokens: int | None = None
    experiment: PlannedExperiment | None = None
    limits: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What makes two reports comparable."""

    fixtures: Mapping[str, str]
    """SHA-256 of each task's files."""
    models: JsonMap
    """Fingerprint of the model behind each role."""
    config_hash: str
    config: JsonMap
    harness: JsonMap
    """`version`, `gate_hash`, `image`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One eval run."""

    label: str
    created: str
    updated: str
    plan: Plan
    identity: Identity
    attempts: tuple[Attempt, ...] = ()
    finished: bool = False
    stopped: str = ""
    """Why it was ended before its last attempt (`--stop-early`)."""
    adopted: JsonMap | None = None
    """What the rule decided, once it was applied."""
    version: Literal[1] = 1


def with_attempt(report: Report, attempt: Attempt, *, updated: str = "") -> Report:
    """The report with this row in its place; a row of the same task and number is replaced."""
    key = (attempt.task, attempt.n)
    others = [row for row in report.attempts if (row.task, row.n) != key]
    order = {task: at for at, task in enumerate(report.plan.tasks)}
    rows = sorted(
        [*others, attempt], key=lambda row: (order.get(row.task, len(order)), row.task, row.n)
    )
    return replace(report, attempts=tuple(rows), updated=updated or report.updated)
