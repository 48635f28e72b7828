"""Rows in the form of SWE-bench, over checkouts that are on this machine: nothing is fetched.

`PATH` is the folder of a `*.jsonl` or `*.json` with the rows and of `checkouts/<instance_id>/`,
each at the row's `base_commit`. Unlike the official harness, the worker may see the failing tests.
"""

import json
import platform
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_loop.errors import AgentLoopError, UserError
from agent_loop.evals.suites.functions import data_file, json_lines, json_list
from agent_loop.evals.suites.model import Suite, SuiteTask
from agent_loop.tasks import ProjectTask
from agent_loop.workspace import Tree, copy_project, states_of
from agent_loop.workspace import apply as write_files
from agent_loop.workspace.patchread import BadPatch, applied

CHECKOUTS = "checkouts"
OLDEST = (3, 8)
"""Oldest Python whose packages still install into today's images."""
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def load_swebench(data: Path, into: Path) -> Suite:
    """The rows as project tasks; their trees, test patches applied, are made in `into`.

    Raises:
        UserError: no rows, or none of them can be used.
    """
    path = data_file(data, "swebench.jsonl", "*.json*")
    rows = json_lines(path) if path.suffix == ".jsonl" else json_list(path)
    found: list[SuiteTask] = []
    refused: dict[str, str] = {}
    for where, row in rows:
        name = str(row.get("instance_id") or where)
        try:
            found.append(_task(row, data if data.is_dir() else data.parent, into))
        except (KeyError, TypeError, ValueError) as error:
            refused[name] = f"{where}: no row of SWE-bench: {type(error).__name__}: {error}"
        except AgentLoopError as error:
            refused[name] = str(error)
    if not found:
        raise UserError(f"{path}: no task can be used. " + " ".join([*refused.values()][:3]))
    return Suite(name="swebench", tasks=tuple(found), refused=refused)


def _task(row: Mapping[str, Any], data: Path, into: Path) -> SuiteTask:
    name = str(row["instance_id"])
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,59}", name):
        raise ValueError(f"instance_id {name[:60]!r} is no plain name")
    refuse_other_machine(name, row)
    checkout = data / CHECKOUTS / name
    _refuse_other_commit(name, checkout, str(row.get("base_commit") or ""))
    task = ProjectTask(
        name=name,
        task=str(row["problem_statement"]),
        project=_tree(checkout, str(row.get("test_patch") or ""), into / name),
        requirements=tuple(row.get("requirements") or ()),
        fail_to_pass=listed(row["FAIL_TO_PASS"]),
        pass_to_pass=listed(row.get("PASS_TO_PASS") or []),
    )
    return SuiteTask(task=task, reference=f"```diff\n{str(row['patch']).rstrip()}\n```\n")


def listed(value: object) -> tuple[str, ...]:
    """Test ids: a list, or a JSON string that holds one, as the published rows have it."""
    found = json.loads(value) if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError("a list of tests is none")
    return tuple(found)


def refuse_other_machine(name: str, row: Mapping[str, Any]) -> None:
    """What can be known before an image is built.

    Raises:
        UserError: another processor, or a Python that is too old.
    """
    wanted = str(row.get("platform") or "").rpartition("/")[2]
    here = platform.machine()
    if wanted and _MACHINES.get(wanted, wanted) != _MACHINES.get(here.lower(), here):
        raise UserError(
            f"{name}: is for {wanted} and this machine is {here}: emulated it would crawl and fail "
            "by its time limit. Run it on such a machine (--executor), or leave 'platform' out if "
            "the project is pure Python."
        )
    stated = str(row.get("python") or row.get("python_version") or "")
    numbers = tuple(int(part) for part in re.findall(r"\d+", stated)[:2])
    if numbers and numbers < OLDEST:
        raise UserError(
            f"{name}: needs Python {stated}, for which packages no longer install into the images "
            "that are built here. Give the task a 'dockerfile' with that interpreter."
        )


def _refuse_other_commit(name: str, checkout: Path, commit: str) -> None:
    fix = f"git worktree add --detach {checkout} {commit or 'BASE_COMMIT'}"
    if not checkout.is_dir():
        raise UserError(f"{name}: {checkout} is not there. In a clone of its repository: {fix}")
    head = _head(checkout)
    if head and commit and head != commit:
        raise UserError(f"{name}: {checkout} is at {head[:12]}, not at {commit[:12]}. Say: {fix}")


def _head(checkout: Path) -> str:
    """The commit of a detached checkout; empty where that cannot be read without git."""
    git = checkout / ".git"
    try:
        if git.is_file():
            git = checkout / git.read_text().partition("gitdir:")[2].strip()
        head = (git / "HEAD").read_text().strip()
    except OSError:
        return ""
    return head if re.fullmatch(r"[0-9a-f]{40}", head) else ""


def _tree(checkout: Path, test_patch: str, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_project(checkout, target)
    if test_patch:
        tree = Tree(target)
        before = {path: (state.data, state.executable) for path, state in states_of(tree).items()}
        try:
            after = applied(test_patch.encode(), before)
        except BadPatch as error:
            raise UserError(f"{target.name}: its test_patch does not fit: {error}") from error
        write_files(target, {path: data for path, (data, _) in after.items()})
    return target.resolve()
