"""HumanEval, MBPP and QuixBugs: functions with known solutions, as code tasks."""

import ast
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_loop import syntax
from agent_loop.checks.code import cannot_judge_apart
from agent_loop.errors import AgentLoopError, UserError
from agent_loop.evals.suites.model import Suite, SuiteTask
from agent_loop.tasks import CodeTask

MAX_FILE_BYTES = 256 << 20
Row = Mapping[str, Any]


def load_humaneval(data: Path) -> Suite:
    """`HumanEval.jsonl` (a file, or the folder it is in).

    The tests are judged and not shown, as in the published protocol; what is shown is only that the
    function has to be there. Helpers of the prompt are the task's own.
    """
    path = data_file(data, "HumanEval.jsonl", "*.jsonl")
    return _suite("humaneval", _humaneval, json_lines(path))


def load_mbpp(data: Path) -> Suite:
    """`sanitized-mbpp.json`, or `mbpp.jsonl`; the three asserts are shown, as in its protocol."""
    path = data_file(data, "sanitized-mbpp.json", "*mbpp*.json*")
    rows = json_lines(path) if path.suffix == ".jsonl" else json_list(path)
    return _suite("mbpp", _mbpp, rows)


def load_quixbugs(data: Path) -> Suite:
    """A checkout of QuixBugs: `python_programs/`, `correct_python_programs/`, `json_testcases/`."""
    folder = data / "python_programs"
    if not folder.is_dir():
        raise UserError(f"{folder}: does not exist. --data names a checkout of QuixBugs.")
    rows = [
        (path.stem, {"name": path.stem, "root": data, "buggy": _text(path)})
        for path in sorted(folder.glob("*.py"))
        if not path.stem.endswith("_test") and path.stem not in ("node", "__init__")
    ]
    return _suite("quixbugs", _quixbugs, iter(rows))


def _suite(name: str, make: Callable[[Row], SuiteTask], rows: Iterator[tuple[str, Row]]) -> Suite:
    """Every row as a task; rows that are none, or cannot be judged, are refused with the reason."""
    found: list[SuiteTask] = []
    refused: dict[str, str] = {}
    for where, row in rows:
        try:
            one = make(row)
            found.append(_judgeable(one))
        except (KeyError, TypeError, ValueError, SyntaxError) as error:
            refused[where] = f"{where}: no row of {name}: {type(error).__name__}: {error}"
        except AgentLoopError as error:
            refused[where] = str(error)
    if not found:
        raise UserError(f"suite {name}: no task can be used. " + " ".join([*refused.values()][:3]))
    return Suite(name=name, tasks=tuple(found), refused=refused)


def _judgeable(one: SuiteTask) -> SuiteTask:
    """`isolation: shared` where solution and asserts cannot be told apart; the verdict says so."""
    task = one.task
    if not isinstance(task, CodeTask) or not cannot_judge_apart(task):
        return one
    return replace(one, task=replace(task, isolation="shared"))


def _humaneval(row: Row) -> SuiteTask:
    entry = str(row["entry_point"])
    prompt = syntax.parse(row["prompt"] + "    pass\n")
    own = [n for n in prompt.body if not (isinstance(n, ast.FunctionDef) and n.name == entry)]
    task = CodeTask(
        name=str(row["task_id"]).replace("/", "-"),
        task=f"Write the Python function {entry}. Complete this:\n\n{row['prompt']}",
        tests=(f"assert callable({entry})",),
        hidden_tests=(f"{row['test']}\ncheck({entry})",),
        helpers="\n".join(map(ast.unparse, own)),
        source_hash=_hash(row),
    )
    return SuiteTask(task=task, reference=_fenced(row["prompt"] + row["canonical_solution"]))


def _mbpp(row: Row) -> SuiteTask:
    task = CodeTask(
        name=f"MBPP-{row['task_id']}",
        task=str(row.get("prompt") or row["text"]),
        tests=(*row.get("test_imports", ()), *row["test_list"]),
        source_hash=_hash(row),
    )
    return SuiteTask(task=task, reference=_fenced(row["code"]))


def _quixbugs(row: Row) -> SuiteTask:
    name, root = str(row["name"]), row["root"]
    cases = root / "json_testcases" / f"{name}.json"
    if not cases.is_file():
        raise UserError(f"{name}: has no {cases.name}; programs with a test file are not imported.")
    right = _text(root / "correct_python_programs" / f"{name}.py")
    pairs = [json.loads(line) for line in _text(cases).splitlines() if line.strip()]
    asserts = tuple(_case(name, given, wanted) for given, wanted in pairs)
    buggy = str(row["buggy"])
    task = CodeTask(
        name=name,
        task=f"This Python function has a bug, in one line. Mend it.\n\n```python\n{buggy}\n```",
        tests=asserts,
        source_hash=hashlib.sha256((buggy + repr(pairs)).encode()).hexdigest(),
    )
    return SuiteTask(task=task, reference=_fenced(right), wrong=(_fenced(buggy),))


def _case(name: str, given: object, wanted: object) -> str:
    values = given if isinstance(given, list) else [given]
    call = f"{name}({', '.join(map(repr, values))})"
    return f"assert {f'list({call})' if isinstance(wanted, list) else call} == {wanted!r}"


def _fenced(code: str) -> str:
    return f"```python\n{code.strip()}\n```\n"


def _hash(row: Row) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()


def data_file(data: Path, name: str, pattern: str) -> Path:
    if data.is_file():
        return data
    for path in (data / name, *sorted(data.glob(pattern))):
        if path.is_file():
            return path
    raise UserError(f"{data}: holds no {name}. --data names that file or its folder.")


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UserError(f"{path}: larger than {MAX_FILE_BYTES >> 20} MiB.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}.") from error


def json_lines(path: Path) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.strip():
            yield f"{path.name}:{number}", _object(path, number, line)


def _object(path: Path, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UserError(f"{path}:{number}: not JSON: {error}.") from error
    if not isinstance(row, dict):
        raise UserError(f"{path}:{number}: not a JSON object.")
    return row


def json_list(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        rows = json.loads(_text(path))
    except ValueError as error:
        raise UserError(f"{path}: not JSON: {error}.") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path}: not a list of JSON objects.")
    for number, row in enumerate(rows, start=1):
        yield f"{path.name}[{number}]", row
