"""States as JSON, long texts under their hash: what both kinds of database hold.

Nothing is ever built from a name in the database, so a tampered one can only be refused.
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from langgraph.types import Interrupt

from agent_loop.errors import StoreFault
from agent_loop.ports import Json

LONG_CHARS = 256
MAX_TEXT_BYTES = 8 << 20
_MAX_DOCUMENT_BYTES = 64 << 20
_TAG = "$"
_KIND = "agent-loop-json"
_PACKED = "agent-loop-json-z"
Fetch = Callable[[str], object]
"""From a text's hash to its compressed bytes, `None` where it is gone."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A text that is to be stored once, whatever a saver does with plain strings."""

    text: str


class JsonSerde:
    """LangGraph's SerializerProtocol over JSON and the table of texts."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._kept: set[str] = set()
        self._new: dict[str, bytes] = {}

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """What langgraph stores: checkpoints, channel values, interrupts.

        Raises:
            TypeError: something that is not plain JSON got into the state.
        """
        raw = json.dumps(self._plain(obj), allow_nan=False, separators=(",", ":")).encode()
        # Mostly channel versions, 50 bytes each and alike: they pack to a fifth.
        return (_KIND, raw) if len(raw) < LONG_CHARS else (_PACKED, zlib.compress(raw, 6))

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """Raises StoreFault for what this class did not write."""
        kind, raw = data
        try:
            return self._rich(_document(kind, raw))
        except RecursionError as error:
            raise unreadable(f"a saved step is damaged ({error})") from error

    def _plain(self, value: object) -> Json:
        # The frequent first: a step has some two hundred values, and every one passes here.
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return {_TAG: "text", "hash": self._keep(value)} if len(value) > LONG_CHARS else value
        if isinstance(value, dict):
            return self._plain_dict(value)
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        if isinstance(value, Kept):
            return {_TAG: "text", "hash": self._keep(value.text)}
        if isinstance(value, Interrupt):
            return {_TAG: "interrupt", "value": self._plain(value.value), "id": value.id}
        if isinstance(value, BaseException):
            # langgraph notes a failed task's error; nobody reads it back
            return repr(value)[:1_000]
        raise TypeError(f"a {type(value).__name__} cannot be saved: states are plain JSON")

    def _plain_dict(self, value: dict[object, object]) -> Json:
        plain: dict[str, Json] = {}
        for key, item in value.items():
            if not isinstance(key, str) or key == _TAG:
                raise TypeError(f"only text keys other than '{_TAG}' can be saved")
            plain[key] = self._plain(item)
        return plain

    def _rich(self, value: Json) -> object:
        if isinstance(value, list):
            return [self._rich(item) for item in value]
        if not isinstance(value, dict):
            return value
        tag = value.get(_TAG)
        if tag is None:
            return {key: self._rich(item) for key, item in value.items()}
        if tag == "text":
            return self._text(value.get("hash"))
        if tag == "interrupt" and isinstance(value.get("id"), str):
            return Interrupt(value=self._rich(value.get("value")), id=value["id"])
        raise unreadable("a saved step holds an unknown tag")

    def _keep(self, text: str) -> str:
        raw = text.encode("utf-8", "replace")
        name = hashlib.sha256(raw).hexdigest()
        if name not in self._kept and name not in self._new:
            self._new[name] = zlib.compress(raw, 6)
        return name

    def new_texts(self) -> list[tuple[str, bytes]]:
        """(hash, compressed bytes) of the texts that steps have named since."""
        return list(self._new.items())

    def written(self, names: Iterable[str]) -> None:
        """They are in the database now."""
        for name in names:
            self._kept.add(name)
            self._new.pop(name, None)

    def _text(self, name: object) -> str:
        body = self._fetch(str(name))
        if not isinstance(body, bytes):
            raise unreadable("a text that a saved step names is gone")
        unpacker = zlib.decompressobj()
        try:
            raw = unpacker.decompress(body, MAX_TEXT_BYTES)
        except zlib.error as error:
            raise unreadable(f"a saved text is damaged ({error})") from error
        if hashlib.sha256(raw).hexdigest() != name:
            raise unreadable("a saved text is not the one its hash names")
        return raw.decode("utf-8", "replace")


def texts_in(kind: object, raw: object) -> set[str]:
    """Hashes of the long texts that a saved document names.

    Raises:
        StoreFault: this program did not write it.
    """
    return _named(_document(kind, raw))


def _named(value: Json) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_named, value))
    if not isinstance(value, dict):
        return set()
    if value.get(_TAG) == "text":
        return {str(value.get("hash"))}
    return set().union(*map(_named, value.values()))


def _document(kind: object, raw: object) -> Json:
    if kind not in (_KIND, _PACKED) or not isinstance(raw, bytes):
        raise unreadable("a saved step is of a kind that this program does not write")
    try:
        if kind == _PACKED:
            raw = zlib.decompressobj().decompress(raw, _MAX_DOCUMENT_BYTES)
        document: Json = json.loads(raw)
    except (ValueError, RecursionError, zlib.error) as error:
        raise unreadable(f"a saved step is damaged ({error})") from error
    return document


def unreadable(problem: str) -> StoreFault:
    """A database that holds something this program did not write."""
    return StoreFault(
        f"checkpoints.sqlite: {problem}. Nothing was run. "
        "Start the task again under a new --thread."
    )
