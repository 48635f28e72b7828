"""Special methods of handles: which way values flow decides what needs the licence."""

from __future__ import annotations

import builtins
import math
import operator

from agent_loop.checks.code.inside.proxies import (
    Far,
    Function,
    Handle,
    call_it,
    needs_plain,
    typed_call,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _in_need(target: Any, doing: str) -> None:
    """Refuses unless `target` may see values of the asserts."""
    if not target._al_licensed:
        needs_plain(target, doing)


def _typed(function: Any, exact: type) -> Callable[..., Any]:
    return lambda self, *args: typed_call(self, function, exact, *args)


def _taking(function: Any) -> Callable[..., Any]:
    """Only takes something out of the object."""
    name = "next" if function in (iter, next, reversed) else function.__name__
    return lambda self, *args: self._al_link.call(function, (self, *args), name=name)


def _giving(function: Any, *, swapped: bool = False) -> Callable[..., Any]:
    """Shows the object a value; one of the solution's own it may see."""

    def forward(self: Any, *args: Any) -> Any:
        name = function.__name__
        if not all(isinstance(arg, Far) for arg in args):
            _in_need(self, name)
        return self._al_link.call(function, (*args, self) if swapped else (self, *args), name=name)

    return forward


def _comparing(function: Any) -> Callable[..., Any]:
    def compare(self: Any, other: Any) -> Any:
        if isinstance(other, Handle | Function):
            self._al_link.compared = True
            if function is operator.ne:  # one answer, not two: a class may lie in both
                return not self._al_link.call(operator.eq, (self, other))
            return self._al_link.call(function, (self, other))
        if other is None and function in (operator.eq, operator.ne):
            return function is operator.ne
        return self._al_link.fail(
            f"an instance of {type(self).__name__} is compared ({function.__name__}) "
            f"with a plain {type(other).__name__}"
        )

    return compare


def _every() -> dict[str, Any]:
    """What every instance can do."""
    methods = {
        f"__{function.__name__}__": _typed(function, exact)
        for function, exact in ((bool, bool), (str, str), (repr, str), (hash, int), (format, str))
    }
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        methods[f"__{name}__"] = _comparing(getattr(operator, name))
    return methods


def _some() -> dict[str, Any]:
    """What an instance can do if its class says so."""
    methods: dict[str, Any] = {
        f"__{function.__name__}__": _typed(function, exact)
        for function, exact in ((len, int), (int, int), (float, float), (operator.index, int))
    }
    for name in ("iter", "next", "round", "reversed", "abs"):
        methods[f"__{name}__"] = _taking(getattr(builtins, name))
    for name in ("neg", "pos", "invert", "getitem"):
        methods[f"__{name}__"] = _taking(getattr(operator, name))
    for name in ("setitem", "delitem"):
        methods[f"__{name}__"] = _giving(getattr(operator, name))
    for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
        function = getattr(operator, name, None) or getattr(operator, name + "_")
        methods[f"__{name}__"] = _giving(function)
        methods[f"__r{name}__"] = _giving(function, swapped=True)
        methods[f"__i{name}__"] = _giving(getattr(operator, "i" + name))
    for name in ("floor", "ceil", "trunc"):
        methods[f"__{name}__"] = _taking(getattr(math, name))
    methods["__bytes__"] = _typed(bytes, bytes)
    methods["__complex__"] = _typed(complex, complex)
    methods["__divmod__"] = _giving(divmod)
    return methods | _CALLED


def _contains(self: Any, item: Any) -> bool:
    if not isinstance(item, Far):
        _in_need(self, "in")
    return typed_call(self, operator.contains, bool, item)


def _enter(self: Any) -> Any:
    return self.__getattr__("__enter__")()


def _exit(self: Any, kind: Any, value: Any, _trace: Any) -> Any:
    if getattr(kind, "_al_stop", False):  # the verdict stands; nobody swallows it
        return False
    return self.__getattr__("__exit__")(kind, value, None)


def _called(self: Any, *args: Any, **named: Any) -> Any:
    return call_it(self, args, named)


_CALLED = {
    "__contains__": _contains,
    "__enter__": _enter,
    "__exit__": _exit,
    "__call__": _called,
}
ALWAYS = _every()
"""Special methods that every class of the solution has here."""
OPTIONAL = _some()
"""Special methods that a class has here only if it says it has them."""
