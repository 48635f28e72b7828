"""Builtins travel by name, so that a builtin of one side is never called back from the other."""

from __future__ import annotations

import builtins
import collections
import functools
import math
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FORBIDDEN = frozenset(
    f"builtins.{name}"
    for name in (
        "eval exec compile open input breakpoint exit quit help getattr setattr delattr vars "
        "globals locals"
    ).split()
)
"""The judge takes none of these from the solution."""
CALLBACK = "<callback>"
"""In a licence: functions of the asserts may be given instances."""
LOOKUP = "name:"
"""In a licence, before a name of the module: it may be a class or an instance."""
CALLED = "call:"
"""In a licence, before a name: the asserts call what they get by it."""
_PLAIN_TYPES = (
    str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range,
    collections.deque, collections.Counter, collections.OrderedDict, BaseException,
)  # fmt: skip
PLAIN_ATTRIBUTES = frozenset(name for kind in _PLAIN_TYPES for name in dir(kind))
"""Attributes that plain values have: using one does not show that an instance is expected."""
_GENERATOR = type(_ for _ in ())


def _functions(space: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in space.items():
        if name[0] != "_" and (callable(value) or value in (Ellipsis, NotImplemented)):
            yield name, value


def _everything() -> Iterator[tuple[str, Any]]:
    for module in (builtins, operator, math):
        for name, value in _functions(vars(module)):
            yield f"{module.__name__}.{name}", value
    for _, kind in _functions(vars(builtins)):
        if isinstance(kind, type):
            for name, value in _functions(dict(vars(kind))):
                yield f"{kind.__name__}.{name}", value
    for name in ("send", "throw", "close"):
        yield f"generator.{name}", getattr(_GENERATOR, name)


class Names:
    """Both directions of the table."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        for name, value in _everything():
            self.values.setdefault(name, value)
            self.names.setdefault(id(value), name)


@functools.cache
def named() -> Names:
    """The table, made once per process."""
    return Names()
