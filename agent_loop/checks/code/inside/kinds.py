"""The exact plain types that cross between judge and solution, and how each is taken apart.

A closed table. A type counts only when it is exactly the one its module names, so a subclass or a
look-alike never gets in here. Modules are imported when the first such value turns up.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

_DATETIME = ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo")


class Kind:
    """How one exact type crosses. Mutable ones have `content` and keep their identity."""

    def __init__(  # noqa: PLR0913 - a row of the table below
        self,
        tag: str,
        where: str,
        parts: Callable[[Any], Iterable[Any]],
        build: Callable[..., Any],
        *,
        takes: tuple[type, ...] | None = None,
        content: Callable[[Any], Iterable[Any]] | None = None,
        settings: int = 0,
    ) -> None:
        self.tag = tag
        self.module, _, self.name = where.rpartition(".")
        self.parts = parts
        """Value -> what it is rebuilt from."""
        self.build = build
        """(type, *parts) -> value."""
        self.takes = takes
        """Exact types its parts may have; None: any."""
        self.content = content
        """Value -> what it holds, for a mutable container."""
        self.settings = settings
        """How many parts stand before the content."""

    @property
    def type(self) -> Any:
        return getattr(__import__(self.module, fromlist=["_"]), self.name)


def _nothing(_value: Any) -> tuple[()]:
    return ()


def _empty(kind: Any) -> Any:
    return kind()


def _call(kind: Any, *parts: Any) -> Any:
    return kind(*parts)


def _flat(mapping: Any) -> list[Any]:
    return [part for pair in dict.items(mapping) for part in pair]


def _names(*names: str) -> Callable[[Any], Sequence[Any]]:
    return lambda value: [getattr(value, name) for name in names]


def _date_time(kind: Any, *parts: Any) -> Any:
    return kind(*parts[:-1], fold=parts[-1])


_FIXED = (
    Kind("b", "builtins.bytes", lambda x: (x.hex(),), lambda t, p: t.fromhex(p), takes=(str,)),
    Kind("c", "builtins.complex", _names("real", "imag"), _call, takes=(float,)),
    Kind("t", "builtins.tuple", tuple, lambda _t, *p: p),
    Kind("F", "builtins.frozenset", tuple, lambda t, *p: t(p)),
    Kind("ra", "builtins.range", _names("start", "stop", "step"), _call, takes=(int, bool)),
    Kind("sl", "builtins.slice", _names("start", "stop", "step"), _call),
    Kind("dec", "decimal.Decimal", lambda x: (str(x),), _call, takes=(str,)),
    Kind("fr", "fractions.Fraction", _names("numerator", "denominator"), _call, takes=(int,)),
    Kind("da", "datetime.date", _names("year", "month", "day"), _call, takes=(int,)),
    Kind(
        "td", "datetime.timedelta", _names("days", "seconds", "microseconds"), _call, takes=(int,)
    ),
    Kind("dt", "datetime.datetime", _names(*_DATETIME, "fold"), _date_time),
    Kind("ti", "datetime.time", _names(*_DATETIME[3:], "fold"), _date_time),
    Kind("tz", "datetime.timezone", lambda x: x.__getinitargs__(), _call),
    Kind("zi", "zoneinfo.ZoneInfo", _names("key"), _call, takes=(str,)),
    Kind("u", "uuid.UUID", lambda x: (x.hex,), _call, takes=(str,)),
    Kind("pp", "pathlib.PurePosixPath", lambda x: (str(x),), _call, takes=(str,)),
    Kind("p", "pathlib.PosixPath", lambda x: (str(x),), _call, takes=(str,)),
    Kind("re", "re.Pattern", _names("pattern", "flags"), lambda _t, *p: _pattern(*p)),
)
_MUTABLE = (
    Kind("l", "builtins.list", _nothing, _empty, content=list),
    Kind("S", "builtins.set", _nothing, _empty, content=list),
    Kind("d", "builtins.dict", _nothing, _empty, content=_flat),
    Kind("B", "builtins.bytearray", _nothing, _empty, content=list),
    Kind(
        "q",
        "collections.deque",
        _names("maxlen"),
        lambda t, m: t(maxlen=m),
        content=list,
        settings=1,
    ),
    Kind("C", "collections.Counter", _nothing, _empty, content=_flat),
    Kind("O", "collections.OrderedDict", _nothing, _empty, content=_flat),
    Kind(
        "D", "collections.defaultdict", _names("default_factory"), _call, content=_flat, settings=1
    ),
    Kind("a", "array.array", _names("typecode"), _call, takes=(str,), content=list, settings=1),
)


def _pattern(pattern: Any, flags: Any) -> Any:
    return __import__("re").compile(pattern, flags)


# dict views have no importable name: built from a dictionary that holds what they show.
_VIEWS: tuple[tuple[type, Kind], ...] = (
    (type({}.keys()), Kind("dk", "builtins.-", tuple, lambda _t, *p: dict.fromkeys(p).keys())),
    (
        type({}.values()),
        Kind("dv", "builtins.-", tuple, lambda _t, *p: dict(enumerate(p)).values()),
    ),
    (type({}.items()), Kind("di", "builtins.-", tuple, lambda _t, *p: dict(p).items())),
)
BY_TAG = {kind.tag: kind for kind in (*_FIXED, *_MUTABLE, *(kind for _, kind in _VIEWS))}
VIEW_TAGS = frozenset(kind.tag for _, kind in _VIEWS)
_BY_PLACE = {(kind.module, kind.name): kind for kind in (*_FIXED, *_MUTABLE)}
ATOMS = frozenset((type(None), bool, int, float, str))


class Table:
    """Finds the kind of a value by its exact type."""

    def __init__(self) -> None:
        self._known: dict[type, Kind | None] = dict(_VIEWS)

    def of(self, exact: type) -> Kind | None:
        """None: not a plain type."""
        if exact not in self._known:
            self._known[exact] = self._look_up(exact)
        return self._known[exact]

    def plain(self, value: Any) -> bool:
        return type(value) in ATOMS or self.of(type(value)) is not None

    @staticmethod
    def _look_up(exact: type) -> Kind | None:
        # Through the descriptors of `type`: a metaclass may answer anything.
        module = type.__dict__["__module__"].__get__(exact)
        name = type.__dict__["__name__"].__get__(exact)
        if type(module) is not str or type(name) is not str:
            return None
        kind = _BY_PLACE.get((module.partition("._")[0], name))
        loaded = sys.modules.get(kind.module) if kind else None
        return kind if kind and getattr(loaded, kind.name, None) is exact else None


def refill(target: Any, kind: Kind, content: Sequence[Any]) -> None:
    """Put new content into the same object."""
    if kind.content is _flat:
        if len(content) % 2:
            raise ValueError("a mapping with a key without value")
        target.clear()
        for at in range(0, len(content), 2):
            target[content[at]] = content[at + 1]
    elif kind.tag == "a":
        del target[:]
        target.extend(content)
    else:
        target.clear()
        (target.update if kind.tag == "S" else target.extend)(content)
