"""HumanEval and MBPP, read from beside the checkout; never part of the repository."""

import ast
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_loop.checks.code.sheet import parse
from agent_loop.tasks import CodeTask

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Known:
    """A problem with the solution that came with it, and one whose functions do nothing."""

    task: CodeTask
    reference: str

    @property
    def stub(self) -> str:
        tree = parse(self.reference)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.body = [ast.Pass()]
        return ast.unparse(tree)


def data_root() -> Path:
    return Path(os.environ.get("AGENT_LOOP_SHARED_DATA", ROOT.parent / "shared" / "data"))


def _folder(name: str) -> Path:
    root = data_root()
    if not (root / name).is_dir():
        pytest.skip(
            f"{root / name} is not there: the public data set is not part of the repository"
        )
    return root / name


def humaneval() -> list[Known]:
    lines = (_folder("humaneval") / "HumanEval.jsonl").read_text().splitlines()
    return [_humaneval(json.loads(line)) for line in lines]


def _humaneval(row: dict) -> Known:
    """Helpers of the prompt are the task's own, so they are the judge's."""
    entry = row["entry_point"]
    prompt = parse(row["prompt"] + "    pass\n")
    own = [n for n in prompt.body if not (isinstance(n, ast.FunctionDef) and n.name == entry)]
    task = CodeTask(
        name=row["task_id"],
        task=row["prompt"],
        tests=(f"{row['test']}\ncheck({entry})",),
        helpers="\n".join(map(ast.unparse, own)),
    )
    return Known(task=task, reference=row["prompt"] + row["canonical_solution"])


def mbpp() -> list[Known]:
    rows = json.loads((_folder("mbpp") / "sanitized-mbpp.json").read_text())
    return [
        Known(
            task=CodeTask(
                name=f"MBPP/{row['task_id']}",
                task=row["prompt"],
                tests=(*row["test_imports"], *row["test_list"]),
            ),
            reference=row["code"],
        )
        for row in rows
    ]
