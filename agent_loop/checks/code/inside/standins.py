"""Stand-ins, on the judge's side, for what the solution gives; names for what the asserts pass."""

from __future__ import annotations

import builtins
import collections
import operator
import sys
import types

from agent_loop.checks.code.inside.named import CALLED, FORBIDDEN, PLAIN_ATTRIBUTES, named
from agent_loop.checks.code.inside.operators import ALWAYS, OPTIONAL
from agent_loop.checks.code.inside.problems import (
    construct,
    library_exception,
    lines_of,
    problem_text,
)
from agent_loop.checks.code.inside.proxies import (
    VALUE_TYPES,
    Far,
    Function,
    Handle,
    Meta,
    Ref,
    Tuple,
    Value,
    make,
    new_class,
)
from agent_loop.checks.code.inside.values import Exchange
from agent_loop.checks.code.inside.wire import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from agent_loop.checks.code.inside.proxies import Link
    from agent_loop.checks.code.inside.values import Codec

    Key = tuple[int, bool, bool, str]

    class Asker(Link, Protocol):
        codec: Codec
        refusal: str
        licence: frozenset[str]


_NAME_CHARS = 200
FUNCTIONS = -1
"""Number of the class of functions: no class of the solution has it."""
GENERATOR = type(_ for _ in ())
_CARRIERS = frozenset(
    (("functools", "partial"), ("operator", "itemgetter"), ("operator", "attrgetter"),
     ("operator", "methodcaller"))
)  # fmt: skip
"""Callable library objects the asserts may pass; they are called back."""


class StandIns:
    """Turns what the solution sends into proxies, and what the asserts pass into names."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.builtin = named()
        self.names: dict[str, Any] = {}
        """Globals of the asserts: functions that have these may be called back."""
        self.functions = new_class(asker, FUNCTIONS, "function", (Function,))
        self.licensed_classes: set[int] = set()
        self._exports: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._classes: dict[int, Meta] = {}
        self._instances: dict[Key, Any] = {}
        self._wrappers: dict[tuple[int, bool], Any] = {}
        self._called: set[int] = set()
        """Classes whose name in the asserts is known."""
        self._given: dict[int, int] = {}
        """id of a generator made here -> the number of the iterator it stands for."""

    def licensed(self, owner: Any) -> bool:
        """Whether values of the asserts may flow into methods of `owner`."""
        if type(owner) is Meta:
            return owner._al_class in self.licensed_classes
        return bool(owner._al_licensed)

    # -- out

    def encode(self, value: Any, exchange: Exchange, depth: int) -> list[Any]:
        kind = type(value)
        if id(value) in self.builtin.names:
            return ["g", self.builtin.names[id(value)]]
        if kind is Meta:
            return ["H", value._al_class]
        if isinstance(value, BaseException):
            return self._problem(value, exchange, depth)
        if issubclass(kind, Far):
            return self._proxy(value, exchange, depth)
        if id(value) in self._given:
            return ["H", self._given[id(value)]]
        if hasattr(kind, "__next__"):
            return ["it", self._export(value)]
        if self._may_call_back(value, kind):
            name, text = getattr(value, "__name__", kind.__name__), getattr(value, "__doc__", None)
            return [
                "fn",
                self._export(value),
                str(name),
                text if kind is types.FunctionType else None,
            ]
        return self._by_name(value, kind)

    def _proxy(self, value: Any, exchange: Exchange, depth: int) -> list[Any]:
        number = value.__dict__.get("_al_far")
        if number is not None:
            return ["H", number]
        items = [self.asker.codec.encode(x, exchange, depth + 1) for x in tuple.__iter__(value)]
        return ["T", type(value)._al_class, *items]

    def _export(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self._numbers))
        self._exports[number] = value
        return number

    def _may_call_back(self, value: Any, kind: type) -> bool:
        if kind is types.FunctionType:
            return value.__globals__ is self.names
        if kind is types.BuiltinMethodType:
            return self.asker.codec.table.plain(value.__self__)
        return (kind.__module__, kind.__name__) in _CARRIERS

    def _by_name(self, value: Any, kind: type) -> list[Any]:
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if isinstance(module, str) and isinstance(name, str) and module in sys.modules:
            try:
                found = operator.attrgetter(name)(sys.modules[module])
            except AttributeError:
                found = None
            if found is value and module.partition(".")[0] in sys.stdlib_module_names:
                return ["m", module, name]
        refuse(f"the asserts pass a {kind.__name__}, which cannot cross to the solution")

    def _problem(self, value: BaseException, exchange: Exchange, depth: int) -> list[Any]:
        if "_al_far" in value.__dict__:
            return ["H", value.__dict__["_al_far"]]
        kind = type(value)
        nearest = next(b.__name__ for b in kind.__mro__ if getattr(builtins, b.__name__, 0) is b)
        args = [self.asker.codec.encode(arg, exchange, depth + 1) for arg in value.args]
        return ["e", self._export(value), [kind.__module__, kind.__qualname__, nearest], args]

    # -- in

    def decode(self, tag: str, parts: list[Any], exchange: Exchange) -> Any:
        value = self._decode(tag, parts, exchange)
        if exchange.closed:
            _not_to_be_called(value, exchange.label)
        return value

    def _decode(self, tag: str, parts: list[Any], exchange: Exchange) -> Any:
        if tag == "g" and parts[0] not in FORBIDDEN:
            return self.builtin.values[parts[0]]
        if tag == "H":
            return self._exports[parts[0]]
        if tag == "e":
            return self._raised(parts, exchange)
        if tag == "it":
            return self._iterator(_number(parts[0]), exchange, closable=parts[1] is True)
        if tag == "fn":
            return make(self.functions, exchange, _number(parts[0]))
        if tag == "k":
            return self._named(self._class(parts, exchange), exchange)
        if tag in ("h", "v", "nt"):
            return self._instance(tag, parts, exchange)
        refuse(f"an answer has the unknown or forbidden tag {tag!r:.40}")

    def _instance(self, tag: str, parts: list[Any], exchange: Exchange) -> Any:
        number, coded = _number(parts[0]), parts[1]
        cls = self._class(coded[1:], exchange)
        content = [self.asker.codec.decode(part, exchange) for part in parts[2:]]
        wanted = {"h": Handle, "v": Value, "nt": Tuple}[tag]
        if not issubclass(cls, wanted):
            refuse("an answer cannot be read: an instance and its class do not fit")
        # One proxy for each way of getting the object: what it may see goes by the way.
        key = number, exchange.licensed, exchange.closed, exchange.label
        if tag == "h":
            if key not in self._instances:
                self._instances[key] = make(cls, exchange, number)
            return self._instances[key]
        return self._with_content(tag, cls, key, content, exchange)

    def _with_content(
        self, tag: str, cls: Any, key: Key, content: list[Any], exchange: Exchange
    ) -> Any:
        """The same object as before, as long as it says it holds the same."""
        if tag == "nt" and len(content) != len(cls._fields):
            refuse("an answer cannot be read: a named tuple of the wrong length")
        if tag == "v" and (len(content) != 1 or type(content[0]) is not _value_type(cls)):
            refuse("an answer cannot be read: a value of the wrong type")
        for field, part in zip(cls._fields, content, strict=True) if tag == "nt" else ():
            if field in PLAIN_ATTRIBUTES and not exchange.licensed:
                _not_to_be_called(part, field, even_far=True)
        made = make(cls, exchange, key[0], tuple(content) if tag == "nt" else content[0])
        return made if tag == "nt" else self._instances.setdefault(key, made)

    def _class(self, parts: list[Any], exchange: Exchange) -> Meta:
        number = _number(parts[0])
        if number not in self._classes:
            name, nearest, fields, able = parts[1:5]
            if type(name) is not str or len(name) > _NAME_CHARS:
                refuse("an answer cannot be read: a class without a proper name")
            builtin = getattr(builtins, nearest)
            bases = [self._base(part, exchange) for part in parts[5:]]
            extra, kept = _shape(builtin, name, fields, able, bases)
            made = new_class(self.asker, number, name, kept, extra)
            type.__setattr__(made, "_al_called", exchange.label.removesuffix("()"))
            self._classes[number] = made
        return self._classes[number]

    def _named(self, cls: Meta, exchange: Exchange) -> Any:
        """A class the asserts got; a function where they call it and mean a plain result."""
        number, label, old = cls._al_class, exchange.label, cls._al_called
        if label.endswith("()") and not exchange.licensed:
            return make(self.functions, exchange, number)
        first = number not in self._called
        if self._means_plain(label) and not first and old in self.asker.licence:
            return make(self.functions, exchange, number)
        if first or (label in self.asker.licence and not self._means_plain(old)):
            self._called.add(number)
            type.__setattr__(cls, "_al_called", label)
        if exchange.licensed:
            self.licensed_classes.add(number)
        return cls

    def _means_plain(self, label: str) -> bool:
        """The asserts call what they got by this name, and want no instance of it."""
        return CALLED + label in self.asker.licence and label not in self.asker.licence

    def _base(self, coded: Any, exchange: Exchange) -> Any:
        if coded[0] == "k":
            return self._class(coded[1:], exchange)
        return self.asker.codec.decode(coded, exchange)

    def _iterator(self, number: int, exchange: Exchange, *, closable: bool) -> Any:
        """A real generator, asked item by item; kept, because dropping one would close it."""
        key = number, exchange.licensed
        if key not in self._wrappers:
            made = self._items(make(Ref, exchange, number), closable)
            self._wrappers[key] = made
            self._given[id(made)] = number
        return self._wrappers[key]

    def _items(self, there: Ref, closable: bool) -> Any:
        step: tuple[Any, ...] = (next, there)
        while True:
            try:
                item = self.asker.call(step[0], step[1:], name="next")
            except StopIteration as end:
                return end.value
            try:
                sent = yield item
                step = (next, there) if sent is None else (GENERATOR.send, there, sent)
            except GeneratorExit:
                if closable and not self.asker.refusal:
                    self.asker.call(GENERATOR.close, (there,))
                raise
            except Exception as problem:  # thrown in by the asserts
                step = (GENERATOR.throw, there, problem)

    def _raised(self, parts: list[Any], exchange: Exchange) -> BaseException:
        number, coded, args, text, trace = parts
        values = tuple(self.asker.codec.decode(arg, exchange) for arg in args)
        own = coded[0] == "k"
        kind = self._class(coded[1:], exchange) if own else library_exception(*coded)
        if not issubclass(kind, BaseException):
            refuse("the solution raised something that is no exception")
        problem: BaseException = construct(kind, values, own)
        problem.args = values
        problem.__dict__.update(
            _al_far=_number(number), _al_text=str(text)[:2000], _al_trace=lines_of(trace),
            _al_licensed=False, _al_closed=False, _al_label="",
        )  # fmt: skip
        return problem


def _shape(
    builtin: type, name: str, fields: Any, able: Any, bases: list[Any]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """What a proxy class has of its own, and its bases."""
    if issubclass(builtin, BaseException):
        kept = [base for base in bases if issubclass(base, BaseException)] or [builtin]
        return {"__str__": problem_text, "__getattr__": Far.__getattr__}, tuple(kept)
    if fields is not None:
        kept = [base for base in bases if issubclass(base, Tuple)]
        return {}, tuple(kept or [Tuple, collections.namedtuple(name, fields)])
    if builtin in VALUE_TYPES:
        kept = [base for base in bases if issubclass(base, Value) and issubclass(base, builtin)]
        return {}, tuple(kept or [Value, builtin])
    kept = [base for base in bases if type(base) is Meta and issubclass(base, Handle)] or [Handle]
    extra = ALWAYS | {method: OPTIONAL[method] for method in able if method in OPTIONAL}
    if "-__hash__" in able:
        extra["__hash__"] = None
    return extra, tuple(kept)


def _not_to_be_called(value: Any, name: str, *, even_far: bool = False) -> None:
    """Refuses something that the asserts would call where they mean a method of a plain value.

    A builtin or a class there is true of everything, and the judge itself would run it. What is
    the solution's own refuses arguments by itself, except inside a named tuple.
    """
    if callable(value) and (even_far or not isinstance(value, Function | Handle)):
        refuse(f"gave something to call as .{name}, where the asserts need a plain value")


def _value_type(cls: type) -> type:
    return next(base for base in VALUE_TYPES if issubclass(cls, base))


def _number(number: Any) -> int:
    if type(number) is not int:
        refuse("an answer cannot be read: a number is missing")
    return number
