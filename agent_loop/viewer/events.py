"""One line of a trace as the page gets it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_loop.ports import Json
from agent_loop.viewer.jsontext import Preview, loads
from agent_loop.viewer.lines import MAX_LINE_BYTES

BROKEN = "broken"
DEFAULT_CHARS = 2_000
MAX_CHARS = 20_000
MIN_CHARS = 20
_OURS = re.compile(
    rb'\{"v": \d+, "n": (\d{1,12}), "at": "[^"\\]*", "thread": "[^"\\]*", "kind": "([a-z_]{1,40})"'
)
"""How every line of ours begins, so that a line of 10 MB need not be parsed to be passed over."""
_OWN = frozenset({"seq", "bytes", "cut"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line and its place."""

    seq: int
    raw: bytes
    bytes: int


def kind_of(raw: bytes) -> str:
    """The event's kind, read cheaply; what is not ours is `broken`."""
    head = _OURS.match(raw)
    if head:
        return head[2].decode()
    fields = parsed(raw)
    return str(fields["kind"])[:40] if fields else BROKEN


def parsed(raw: bytes) -> Mapping[str, Any] | None:
    """The fields of a line; `None` for one that is no event."""
    if len(raw) >= MAX_LINE_BYTES:
        return None
    try:
        fields = loads(raw)
    except ValueError:
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("kind"), str):
        return None
    return fields if type(fields.get("n")) is int else None


def shown(line: Line, chars: int) -> dict[str, Json]:
    """The event with its long texts cut; lines that are none are shown as text."""
    fields = parsed(line.raw)
    if fields is None:
        text = line.raw[: 4 * chars].decode("utf-8", "replace")[:chars]
        cut = {"": len(line.raw)} if len(line.raw) > len(text.encode("utf-8", "replace")) else {}
        return {"seq": line.seq, "kind": BROKEN, "bytes": line.bytes, "cut": cut, "text": text}
    preview = Preview(chars=chars)
    small = preview.of({key: value for key, value in fields.items() if key not in _OWN})
    own: dict[str, Json] = {"seq": line.seq, "bytes": line.bytes, "cut": preview.cut}
    return {**own, **small} if isinstance(small, dict) else own
