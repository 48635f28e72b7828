"""The record and the certificate of a run, made from its state."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import cast

from agent_loop.errors import AgentLoopError
from agent_loop.graph.jobs import Begun
from agent_loop.graph.parts import Parts
from agent_loop.graph.state import State
from agent_loop.graph.verdicts import fields_of, verdict_of
from agent_loop.ports import Json, Outcome
from agent_loop.store import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a drive ended."""

    outcome: Outcome | None = None
    """`None`: it has begun and not ended."""
    reason: str = "not ended"
    at: str = ""


def record(
    begun: Begun, state: State, ending: Ending, facts: Mapping[str, Json]
) -> dict[str, Json]:
    """The whole record."""
    verdict, job = verdict_of(state), begun.job
    return {
        "thread": begun.thread,
        "kind": job.brief.kind,
        "task": job.name,
        "task_hash": job.task_hash,
        "outcome": ending.outcome,
        "reason": ending.reason,
        "look": bool(verdict and verdict.passed and verdict.looks),
        "verdict": fields_of(verdict) if verdict else None,
        "answer": state["answer"],
        "answer_digest": state["digest"],
        "plan": state["plan"],
        "review": state["review"],
        "opinion": state["opinion"],
        "test_output": (verdict.output or verdict.feedback) if verdict else "",
        "laps": [cast(Json, dict(lap)) for lap in state["laps"]],
        "samples": [cast(Json, dict(one)) for one in state["samples"]],
        "rejections": state["rejections"],
        "escalated": state["escalated"],
        "owner_calls": state["pauses"],
        "format_failures": state["format_failures"],
        "context_cuts": state["context_cuts"],
        "saved": {
            # Answers that were judged before: a check and a review less for each.
            "checks": state["saved_checks"],
            "tokens": state["saved_tokens"],
        },
        "tokens": {node: cast(Json, dict(used)) for node, used in state["usage"].items()},
        "guessed_tokens": state["guessed_tokens"],
        "spent_s": round(state["spent_s"], 3),
        "started": begun.started,
        "ended": ending.at,
        "config_hash": job.config_hash,
        "config": job.config,
        **({"forked": begun.forked} if begun.forked else {}),
        **facts,
    }


def summary(fields: Mapping[str, Json]) -> Summary:
    """The line of the list that a record gives."""
    table = cast(Mapping[str, Mapping[str, int]], fields["tokens"])
    return Summary(
        thread=cast(str, fields["thread"]),
        kind=cast(str, fields["kind"]),
        task=cast(str, fields["task"]),
        outcome=cast("str | None", fields["outcome"]),
        laps=len(cast("list[Json]", fields["laps"])),
        started=cast(str, fields["started"]),
        ended=cast(str, fields["ended"]),
        look=bool(fields["look"]),
        input_tokens=sum(used["input_tokens"] for used in table.values()),
        output_tokens=sum(used["output_tokens"] for used in table.values()),
        seconds=cast(float, fields["spent_s"]),
    )


def facts_of(parts: Parts) -> dict[str, Json]:
    """What answered and where it was judged: fingerprints and the sandbox.

    A server that has gone away meanwhile costs the fingerprint, never the record.
    """
    prints: dict[str, Json] = {}
    for role, model in parts.models.items():
        try:
            prints[role] = cast(Json, asdict(model.fingerprint()))
        except AgentLoopError as error:
            prints[role] = {"name": model.name, "problem": str(error)}
    try:
        sandbox: Mapping[str, Json] = parts.sandbox()
    except AgentLoopError as error:
        sandbox = {"problem": str(error)}
    return {"fingerprints": prints, "sandbox": sandbox}


def certificate(begun: Begun, fields: Mapping[str, Json]) -> dict[str, Json]:
    """What `--verify` needs to judge the answer again without a model, and what to compare."""
    job, verdict = begun.job, cast(Mapping[str, Json], fields["verdict"])
    answer = cast(str, fields["answer"])
    sandbox = cast(Mapping[str, Json], fields["sandbox"])
    return {
        "version": 1,
        "thread": begun.thread,
        "kind": job.brief.kind,
        "task": job.task,
        "task_hash": job.task_hash,
        "test_hash": job.test_hash,
        "answer": answer,
        "answer_hash": hashlib.sha256(answer.encode("utf-8", "replace")).hexdigest(),
        "answer_digest": fields["answer_digest"],
        "image": sandbox.get("image"),
        "sandbox": sandbox,
        "isolation": verdict["isolation"],
        "executed": verdict["executed"],
        "proofs": verdict["proofs"],
        "looks": verdict["looks"],
        "config": job.config,
        "config_hash": job.config_hash,
        "fingerprints": fields["fingerprints"],
        "passed_at": fields["ended"],
    }
