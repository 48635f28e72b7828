"""How records lie on the disk: the summary first, so that a list need not read the rest."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_loop.ports import Json

VERSION = 1
_HEAD_BYTES = 4_096
_MARK = b'"summary": '


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One line of the list of runs."""

    thread: str
    kind: str
    task: str
    outcome: str | None
    """`None`: not ended; it runs now, or was killed and can be continued."""
    laps: int
    started: str
    ended: str
    look: bool
    """A pass that a person must look at."""
    input_tokens: int
    output_tokens: int
    seconds: float


def encode(record: Mapping[str, Json], summary: Summary) -> bytes:
    """The record's bytes: valid JSON whose third line is the whole summary."""
    head = {name: getattr(summary, name) for name in Summary.__slots__}
    # Names and times are short, but a task's name may come from a file: keep the head in its place.
    head["task"] = summary.task[:200]
    rest = {key: value for key, value in record.items() if key not in ("version", "summary")}
    body = json.dumps(rest, indent=1, allow_nan=False)
    line = json.dumps(head, allow_nan=False)
    comma = ",\n" if rest else "\n"
    text = f'{{\n"version": {VERSION},\n"summary": {line}{comma}{body.lstrip("{").lstrip()}\n'
    return text.encode("utf-8")


def read_summary(path: Path | str) -> Summary | None:
    """The summary of one record; `None` for a file that is no record of ours."""
    try:
        # Unbuffered and without Path: a list opens thousands.
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            lines = file.read(_HEAD_BYTES).split(b"\n", 3)
        if len(lines) > 3 and lines[2].startswith(_MARK):
            return _summary(json.loads(lines[2][len(_MARK) :].rstrip(b",")))
        return _summary(json.loads(Path(path).read_bytes())["summary"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _summary(fields: Mapping[str, Json]) -> Summary:
    values = {name: fields[name] for name in Summary.__slots__}
    if not all(isinstance(values[name], str) for name in ("thread", "started", "kind", "task")):
        raise TypeError("no summary")
    return Summary(**values)  # type: ignore[arg-type]
