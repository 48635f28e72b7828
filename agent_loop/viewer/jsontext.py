"""Strict JSON out, and previews of JSON of any size."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from agent_loop.ports import Json

MAX_DEPTH = 24
MAX_ITEMS = 400
MAX_NODES = 6_000
MAX_KEY_CHARS = 200


def dumps(value: object) -> bytes:
    """UTF-8; a lone surrogate becomes `?`, as no UTF-8 can carry it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(dumps(value), status, headers=headers, media_type="application/json")


def loads(raw: bytes) -> Json:
    """What the bytes say; bytes that are no UTF-8 become U+FFFD.

    Raises:
        ValueError: not JSON, or nested too deep to be anybody's.
    """
    try:
        value: Json = json.loads(raw.decode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


@dataclass(slots=True)
class Preview:
    """A copy of a JSON value that is small whatever the value is.

    What was shortened stands in `cut`: JSON pointer -> characters or items of the whole.
    """

    chars: int
    """Longest string."""
    items: int = MAX_ITEMS
    nodes: int = MAX_NODES
    cut: dict[str, int] = field(default_factory=dict)

    def of(self, value: Json, pointer: str = "", depth: int = 0) -> Json:
        """The copy."""
        self.nodes -= 1
        if isinstance(value, str):
            return self._text(value, pointer)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if depth >= MAX_DEPTH or self.nodes <= 0:
            self.cut[pointer] = len(value)
            return {} if isinstance(value, Mapping) else []
        if isinstance(value, Mapping):
            return self._map(value, pointer, depth)
        kept = value[: self.items]
        if len(kept) < len(value):
            self.cut[pointer] = len(value)
        return [self.of(item, f"{pointer}/{n}", depth + 1) for n, item in enumerate(kept)]

    def _text(self, text: str, pointer: str) -> str:
        if len(text) <= self.chars:
            return text
        self.cut[pointer] = len(text)
        return text[: self.chars]

    def _map(self, value: Mapping[str, Json], pointer: str, depth: int) -> Json:
        if len(value) > self.items:
            self.cut[pointer] = len(value)
        kept = list(value.items())[: self.items]
        return {
            key[:MAX_KEY_CHARS]: self.of(item, f"{pointer}/{escaped(key)}", depth + 1)
            for key, item in kept
        }


def escaped(key: str) -> str:
    """A key as a part of a JSON pointer."""
    return key[:MAX_KEY_CHARS].replace("~", "~0").replace("/", "~1")


def pointed(value: Json, pointer: str) -> Json:
    """What a JSON pointer names.

    Raises:
        LookupError: nothing.
    """
    if not pointer:
        return value
    if not pointer.startswith("/"):
        raise LookupError(pointer)
    at: Any = value
    for part in pointer[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list):
            if not key.isascii() or not key.isdigit() or len(key) > 9:
                raise LookupError(pointer)
            at = at[int(key)]
        elif isinstance(at, dict):
            at = at[key]
        else:
            raise LookupError(pointer)  # noqa: TRY004 - the pointer is wrong, no type of ours
    found: Json = at
    return found
