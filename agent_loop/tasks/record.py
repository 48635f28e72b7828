"""A task as plain JSON and back, so that a later process can go on with it or judge it again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from agent_loop.errors import TaskFileError
from agent_loop.ports import Json
from agent_loop.tasks.model import CodeTask, ProjectTask, ResearchTask, Task

_KINDS = {"code": CodeTask, "project": ProjectTask, "research": ResearchTask}
_PATHS = frozenset({"source", "project", "hidden_tests", "dockerfile", "papers"})


def to_record(task: Task) -> dict[str, Json]:
    """Every field, paths as text."""
    record: dict[str, Json] = json.loads(json.dumps(asdict(task), default=str))
    return record


def from_record(record: Mapping[str, Any]) -> Task:
    """The task that `to_record` wrote down.

    Raises:
        TaskFileError: the record was not written by this version.
    """
    kind = _KINDS.get(str(record.get("kind")))
    if kind is None:
        raise TaskFileError("stored task", f"unknown kind {record.get('kind')!r}")
    known = {field.name for field in fields(kind)}
    try:
        values: dict[str, Any] = {
            key: _value(key, value, record) for key, value in record.items() if key in known
        }
        task: Task = kind(**values)
    except (TypeError, ValueError) as error:
        raise TaskFileError("stored task", f"cannot be read: {error}") from error
    return task


def test_hash(task: Task) -> str:
    """SHA-256 over what decides, hidden tests included; hex."""
    names = ("tests", "hidden_tests", "helpers", "isolation", "test_command", "fail_to_pass",
             "pass_to_pass", "query", "numbers")  # fmt: skip
    record = to_record(task)
    deciding = {name: record[name] for name in names if name in record}
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def _value(key: str, value: object, record: Mapping[str, object]) -> object:
    if isinstance(value, list):
        if not all(isinstance(item, str) for item in value):
            raise TypeError(f"'{key}' is no list of texts")
        return tuple(value)
    is_path = key in _PATHS and not (key == "hidden_tests" and record.get("kind") == "code")
    return Path(value) if is_path and isinstance(value, str) else value
