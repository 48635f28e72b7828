"""The finished benchmark: a folder of tasks, the gold patches apart, and what was found out."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent_loop.benchgen.accept import Accepted
from agent_loop.benchgen.ground import Ground
from agent_loop.benchgen.journal import Journal
from agent_loop.benchgen.order import split
from agent_loop.benchgen.taskfiles import lay, task_text
from agent_loop.fixtures import REFERENCES
from agent_loop.paths import atomic_write

MANIFEST = "benchmark.json"
LOG = "build-log"
GOLD, CERTIFICATES, PROJECTS = "gold", "certificates", "projects"
ROWS = "swebench.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One task on disk."""

    name: str
    accepted: Accepted
    split: str


def write(
    folder: Path, ground: Ground, accepted: Sequence[Accepted], journal: Journal, seed: int
) -> list[Written]:
    """Write everything; the same arguments give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    sides = split([one.bug.functions for one in accepted], seed)
    found = [
        Written(name=f"{ground.library.name}-{number:03d}", accepted=one, split=side)
        for number, (one, side) in enumerate(zip(accepted, sides, strict=True), 1)
    ]
    for one in found:
        _write_task(folder, one)
    atomic_write(folder / MANIFEST, _json(_manifest(ground, found, seed)))
    atomic_write(folder / f"{LOG}.json", _json(journal.as_record()))
    atomic_write(folder / f"{LOG}.md", journal.markdown())
    rows = "".join(json.dumps(_row(one), sort_keys=True) + "\n" for one in found)
    atomic_write(folder / ROWS, rows)
    return found


def _write_task(folder: Path, one: Written) -> None:
    ground = one.accepted.ground
    lay(ground, one.accepted.bug, folder / PROJECTS / one.name)
    accepted = one.accepted
    text = task_text(one.name, accepted.report, ground, accepted.wanted, f"{PROJECTS}/{one.name}")
    atomic_write(folder / f"{one.name}.yaml", text)
    for place in (GOLD, CERTIFICATES, REFERENCES):
        (folder / place).mkdir(exist_ok=True)
    reply = f"```diff\n{accepted.gold.decode('utf-8', 'replace')}```\n"
    atomic_write(folder / REFERENCES / f"{one.name}.md", reply)
    atomic_write(folder / GOLD / f"{one.name}.patch", accepted.gold)
    digest = hashlib.sha256(text.encode()).hexdigest()
    certificate = {"task": one.name, "task_hash": digest, **accepted.certificate}
    atomic_write(folder / CERTIFICATES / f"{one.name}.json", _json(certificate))


def _manifest(ground: Ground, found: Sequence[Written], seed: int) -> dict[str, Any]:
    return {
        "version": 1,
        "source": ground.library.source,
        "tree_hash": ground.base.hash(),
        "seed": seed,
        "layout": asdict(ground.layout),
        "image": ground.image,
        "tests": {
            "passing": len(ground.passing),
            "not_passing": len(ground.outcomes) - len(ground.passing),
            "flaky": list(ground.flaky),
        },
        "tasks": [
            {
                "name": one.name,
                "source": one.accepted.ground.library.source,
                "kind": one.accepted.bug.kind,
                "parts": list(one.accepted.bug.parts),
                "where": one.accepted.bug.where,
                "functions": list(one.accepted.bug.functions),
                "split": one.split,
                "difficulty": asdict(one.accepted.difficulty),
                "fail_to_pass": len(one.accepted.wanted),
                "pass_to_pass": len(one.accepted.keep),
                "bug": one.accepted.bug.id,
            }
            for one in found
        ],
    }


def _row(one: Written) -> Mapping[str, Any]:
    """One row in the shape of SWE-bench; the test patch is empty: the tests are in the project."""
    accepted, ground = one.accepted, one.accepted.ground
    return {
        "instance_id": one.name,
        "repo": ground.library.name,
        "base_commit": str(accepted.certificate["tree_hash"]),
        "problem_statement": accepted.report.text,
        "hints_text": "",
        "patch": accepted.gold.decode("utf-8", "replace"),
        "test_patch": "",
        "FAIL_TO_PASS": json.dumps(list(accepted.wanted)),
        "PASS_TO_PASS": json.dumps(list(accepted.keep)),
        "version": ground.library.source.rpartition("==")[2],
        "environment_setup_commit": "",
        "created_at": "",
    }


def _json(what: Mapping[str, Any]) -> str:
    return json.dumps(what, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
