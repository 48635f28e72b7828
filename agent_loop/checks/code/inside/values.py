"""Plain values to JSON and back, with type, order and sharing kept.

JSON carries None, booleans, small integers, finite floats and clean text as they are. Everything
else is a list whose first item is a tag. Mutable containers are numbered in order of first sight
within one exchange (a request and its answer), the same way on both sides, so that `f(l) is l`
and changes in place survive the crossing.
"""

from __future__ import annotations

import struct

from agent_loop.checks.code.inside.kinds import BY_TAG, VIEW_TAGS, Kind, Table, refill
from agent_loop.checks.code.inside.wire import Refused, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol

    class Far(Protocol):
        """Knows what to do with values that are not plain."""

        def encode(self, value: Any, exchange: Exchange, depth: int) -> list[Any]: ...

        def decode(self, tag: str, parts: list[Any], exchange: Exchange) -> Any: ...


DEPTH = 100
ITEMS = 200_000
_EXACT_INT = 1 << 53
_DOUBLE = struct.Struct(">d")


class Exchange:
    """The mutable containers of one request and its answer, and what proxies in it are worth."""

    def __init__(self, *, label: str = "", licensed: bool = True, closed: bool = False) -> None:
        self.objects: list[Any] = []
        self.kinds: list[Kind] = []
        self.numbers: dict[int, int] = {}
        self.open: set[int] = set()
        self.label = label
        """What the asserts called to get this answer."""
        self.licensed = licensed
        """Instances in it may see values of the asserts."""
        self.closed = closed
        """Functions in it take no arguments from the asserts."""

    def add(self, value: Any, kind: Kind) -> Any:
        self.numbers[id(value)] = len(self.objects)
        self.objects.append(value)
        self.kinds.append(kind)
        return value


class NoFar:
    """Refuses whatever is not plain."""

    def encode(self, value: Any, exchange: Exchange, depth: int) -> list[Any]:
        refuse(f"a {type(value).__name__} is not a plain value")

    def decode(self, tag: str, parts: list[Any], exchange: Exchange) -> Any:
        refuse(f"the tag {tag!r:.40} means nothing here")


class Codec:
    """Encodes and decodes; what is not plain goes to `far`."""

    def __init__(self, far: Far | None = None) -> None:
        self.table = Table()
        self._far = far or NoFar()

    # -- out

    def encode(self, value: Any, exchange: Exchange, depth: int = 0) -> Any:
        """JSON for `value`.

        Raises:
            Refused: recursive, too deep, too many items, or nothing that can cross.
        """
        exact = type(value)
        if value is None or exact is bool:
            return value
        if exact is int:
            return value if -_EXACT_INT < value < _EXACT_INT else ["i", hex(value)]
        if exact is float:
            return value if value - value == 0 else ["f", _DOUBLE.pack(value).hex()]
        if exact is str:
            return _text(value)
        if depth > DEPTH:
            refuse(f"a value is nested deeper than {DEPTH}")
        kind = self.table.of(exact)
        if kind is None:
            return self._far.encode(value, exchange, depth)
        if kind.content is None:
            return [kind.tag, *self._all(kind.parts(value), exchange, depth)]
        return self._container(value, kind, exchange, depth)

    def _all(self, parts: Iterable[Any], exchange: Exchange, depth: int) -> list[Any]:
        return [self.encode(part, exchange, depth + 1) for part in parts]

    def _container(self, value: Any, kind: Kind, exchange: Exchange, depth: int) -> list[Any]:
        if id(value) in exchange.open:
            refuse("a value contains itself")
        if id(value) in exchange.numbers:
            return ["&", exchange.numbers[id(value)]]
        if len(value) > ITEMS:
            refuse(f"a value has more than {ITEMS} items")
        exchange.add(value, kind)
        exchange.open.add(id(value))
        fixed = self._all(kind.parts(value), exchange, depth)
        coded = [kind.tag, *fixed, *self.content(value, kind, exchange, depth)]
        exchange.open.discard(id(value))
        return coded

    def content(self, value: Any, kind: Kind, exchange: Exchange, depth: int = 0) -> list[Any]:
        """What a mutable container holds, encoded."""
        assert kind.content is not None  # noqa: S101 - only mutable kinds get here
        return self._all(kind.content(value), exchange, depth)

    # -- in

    def decode(self, coded: Any, exchange: Exchange) -> Any:
        """The value, whatever a hostile other side wrote.

        Raises:
            Refused: nothing else, ever.
        """
        try:
            return self._decode(coded, exchange)
        except Refused:
            raise
        except Exception as problem:
            refuse(f"an answer cannot be read: {type(problem).__name__}: {str(problem)[:100]}")

    def _decode(self, coded: Any, exchange: Exchange) -> Any:
        if type(coded) is not list:
            if type(coded) is dict:
                refuse("an answer cannot be read: an object where a value belongs")
            return coded
        if not coded or type(coded[0]) is not str:
            refuse("an answer cannot be read: a value without a tag")
        tag = coded[0]
        if tag in _ATOMS:
            return _ATOMS[tag](coded[1])
        if tag == "&":
            return _shared(coded[1], exchange)
        kind = BY_TAG.get(tag)
        if kind is None:
            return self._far.decode(tag, coded[1:], exchange)
        if kind.content is None:
            parts = [self._decode(part, exchange) for part in coded[1:]]
            _fit(kind, parts)
            return kind.build(None if tag in VIEW_TAGS else kind.type, *parts)
        return self._refilled(kind, coded, exchange)

    def _refilled(self, kind: Kind, coded: list[Any], exchange: Exchange) -> Any:
        fixed = kind.settings
        parts = [self._decode(part, exchange) for part in coded[1 : 1 + fixed]]
        if len(parts) < fixed:
            refuse("an answer cannot be read: a container without its settings")
        _fit(kind, parts)
        value = exchange.add(kind.build(kind.type, *parts), kind)
        exchange.open.add(id(value))
        refill(value, kind, [self._decode(part, exchange) for part in coded[1 + fixed :]])
        exchange.open.discard(id(value))
        return value

    def change(self, number: Any, content: Any, exchange: Exchange) -> None:
        """Give container `number` of this exchange its new content.

        Raises:
            Refused: nothing else, ever.
        """
        try:
            value, kind = exchange.objects[_index(number, exchange)], exchange.kinds[number]
            refill(value, kind, [self._decode(part, exchange) for part in content])
        except Refused:
            raise
        except Exception as problem:
            refuse(f"a changed argument cannot be read: {type(problem).__name__}")


def _fit(kind: Kind, parts: list[Any]) -> None:
    if kind.takes is not None and any(type(part) not in kind.takes for part in parts):
        refuse(f"an answer cannot be read: the wrong parts for a {kind.name}")


def _index(number: Any, exchange: Exchange) -> int:
    if type(number) is not int or not 0 <= number < len(exchange.objects):
        refuse("an answer cannot be read: it names an unknown container")
    return number


def _shared(number: Any, exchange: Exchange) -> Any:
    value = exchange.objects[_index(number, exchange)]
    if id(value) in exchange.open:
        refuse("a value contains itself")
    return value


def _text(value: str) -> Any:
    try:
        value.encode()
    except UnicodeEncodeError:
        return ["s", value.encode("utf-8", "surrogatepass").hex()]
    return value


def _string(digits: Any) -> str:
    return bytes.fromhex(digits).decode("utf-8", "surrogatepass")


def _float(digits: Any) -> float:
    return float(_DOUBLE.unpack(bytes.fromhex(digits))[0])


def _integer(digits: Any) -> int:
    return int(digits, 16)


_ATOMS: dict[str, Callable[[Any], Any]] = {"i": _integer, "f": _float, "s": _string}
