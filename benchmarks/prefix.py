"""How many prompt tokens the embedded model really processes from lap 2 on: prompts only grow.

One run of the loop with the real 135M model in every role; the check rejects whatever it says, so
that each lap's prompt holds the laps before it. Reused tokens are counted by its engine.
"""

import tempfile
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from agent_loop.config import ModelOptions, ModelSettings
from agent_loop.errors import ModelUnavailable
from agent_loop.graph import drive
from agent_loop.graph.parts import Parts
from agent_loop.models import make_model
from agent_loop.models.embedded import weights_file
from agent_loop.ports import Candidate, Json, Model, OwnerCall, Reply, Role, SystemClock, Verdict
from agent_loop.store import RunStore
from benchmarks.row import Row
from tests.fakes.runs import job

LAPS = 4
TASK = (
    "Write a Python function roman(n) that returns the Roman numeral of a whole number from 1 to "
    "3999, and a function arabic(text) that reads one. Both raise ValueError for anything else."
)


class Refusing:
    """A Check that takes any text and passes none."""

    def __init__(self) -> None:
        self._numbers = count()

    def parse(self, reply: Reply) -> Candidate:
        return Candidate(answer=reply.text, digest=f"{next(self._numbers):064}")

    def judge(self, candidate: Candidate) -> Verdict:
        feedback = "assert roman(4) == 'IV': NameError: name 'roman' is not defined"
        return Verdict(passed=False, isolation="none", reason="assert 1 failed", feedback=feedback)

    def prepare(self) -> None:
        """Nothing to start."""

    def close(self) -> None:
        """Nothing is held."""


class Counting:
    """Hears the usage of each reply."""

    def __init__(self) -> None:
        self.later: list[Mapping[str, Json]] = []

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        usage, lap = fields.get("usage"), fields.get("lap")
        later = isinstance(lap, int) and lap >= 2
        if kind == "model_replied" and later and isinstance(usage, Mapping):
            self.later.append(usage)


class Nobody:
    def answer(self, call: OwnerCall) -> None:
        return None


def prefix_row() -> Row:
    row = {
        "what": "prompt tokens really processed from lap 2 on, embedded model",
        "against": "prompt tokens sent",
        "goal": 0.3,
        "unit": "tokens",
    }
    try:
        weights_file("smollm2-135m")
    except ModelUnavailable as problem:
        return Row(**row, missing=str(problem))
    heard = _run()
    sent = sum(int(usage["input_tokens"]) for usage in heard.later)
    reused = sum(int(usage["reused_tokens"]) for usage in heard.later)
    calls = {"calls from lap 2 on": len(heard.later)}
    return Row(**row, ours=sent - reused, theirs=sent, more=calls)


def _run() -> Counting:
    heard, models = Counting(), _models()
    made = Parts(models=models, check=Refusing(), owner=Nobody(), clock=SystemClock(), live=heard)
    try:
        with tempfile.TemporaryDirectory() as folder:
            work = job(rejection_cap=LAPS, task=TASK, tests=("assert roman(4) == 'IV'",))
            drive.start("prefix", work, made, RunStore(Path(folder)))
    finally:
        for model in models.values():
            model.close()
    return heard


def _models() -> dict[Role, Model]:
    options = ModelOptions(temperature=0.7, seed=1, num_ctx=8192, num_predict=80)
    settings = ModelSettings(provider="embedded", model="smollm2-135m", options=options)
    return {role: make_model(settings) for role in ("lead", "worker", "reviewer")}
