"""The judge's side of the conversation: what the solution sends is material, never an order."""

from __future__ import annotations

import builtins
import collections
import operator
import sys
import types

from agent_loop.checks.code.inside.link import Link
from agent_loop.checks.code.inside.named import FORBIDDEN, PLAIN_ATTRIBUTES, Names
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
from agent_loop.checks.code.inside.wire import Refused, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Protocol

    class JudgePipe(Protocol):
        def send(self, frame: bytes, *, fresh: bool) -> None: ...

        def receive(self) -> dict[str, Any]: ...

        @property
        def unread(self) -> bool:
            """The solution has said something nobody asked for."""
            ...


REQUESTS = 50_000
"""Calls in both directions that one check may need."""
FUNCTIONS = -1
"""Number of the class of functions: no class of the solution has it."""
MODULE, LOAD = 0, 1
"""The first two exports of the agent."""
CALLBACK = "<callback>"
"""In a licence: functions of the asserts may be given instances."""
LOOKUP = "name:"
"""In a licence, before a name of the module: it may be a class or an instance."""
_GENERATOR = type(_ for _ in ())
_STOPPING = (next, _GENERATOR.send, _GENERATOR.throw)
_CARRIERS = frozenset(
    (("functools", "partial"), ("operator", "itemgetter"), ("operator", "attrgetter"),
     ("operator", "methodcaller"))
)  # fmt: skip
"""Callable library objects the asserts may pass; they are called back."""


class Asker(Link):
    """Asks the solution, keeps a refusal, counts, and remembers the calls an assert made."""

    def __init__(self, pipe: JudgePipe, licence: frozenset[str]) -> None:
        self.far = Solutions(self)
        super().__init__(pipe, self.far)
        self._unread = pipe
        self.licence = licence
        self.refusal = ""
        self.requests = 0
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any], Any, bool]] = []
        """(name, arguments, named arguments, result, raised) since the last assert that held."""

    def fail(self, reason: str) -> NoReturn:
        self.refusal = self.refusal or reason
        refuse(reason)

    def call(
        self,
        target: Any,
        args: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
        *,
        name: str = "",
    ) -> Any:
        if self.refusal:
            refuse(self.refusal)
        self._count()
        if self._unread.unread:
            self.fail("the solution answered before it was asked")
        try:
            value, raised = super().call(target, args, named, name=name), False
        except Refused as refusal:
            self.fail(str(refusal))
        except BaseException as problem:  # the solution's own exception
            value, raised = problem, True
        if name and target is not getattr and name != "next":
            self.calls.append((name, args, named or {}, value, raised))
        if not raised:
            return value
        if isinstance(value, StopIteration | StopAsyncIteration) and not _stops(target):
            raise RuntimeError(f"{name} raised {type(value).__name__}")  # or a loop would end early
        raise value

    def _count(self) -> None:
        self.requests += 1
        if self.requests > REQUESTS:
            self.fail(f"the check needs more than {REQUESTS} calls")

    def exchange_for(self, target: Any, args: tuple[Any, ...], name: str) -> Exchange:
        if target is not getattr:
            return Exchange(label=name + "()", licensed=name in self.licence)
        owner, name = args
        if type(owner) is Ref:
            return Exchange(label=name, licensed=LOOKUP + name in self.licence)
        plain = name in PLAIN_ATTRIBUTES and not getattr(owner, "_al_licensed", True)
        return Exchange(label=name, licensed=name in self.licence, closed=plain)

    def lookup(self, name: str) -> Any:
        """What the solution's module has under `name`.

        Raises:
            AttributeError: nothing.
        """
        return self.call(getattr, (make(Ref, Exchange(), MODULE), name))

    def load(self, source: str, file: str) -> None:
        """Run the solution's module body over there."""
        self.call(make(self.far.functions, Exchange(), LOAD), (source, file), name="load")
        self.calls.clear()

    # -- the solution asks

    def serve(self, request: dict[str, Any]) -> None:
        self._count()
        target = request.get("t")
        exported = type(target) is list and len(target) == 2 and target[0] == "H"
        if not exported and target != ["g", "builtins.next"]:
            self.fail("the solution asked the judge to run something")
        super().serve(request)

    def serving(self) -> Exchange:
        return Exchange(label=CALLBACK, licensed=CALLBACK in self.licence)

    def refused(self, answer: dict[str, Any], reason: str) -> bytes:
        self.fail(reason)


class Solutions:
    """Turns what the solution sends into proxies, and what the asserts pass into names."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.builtin = Names()
        self.names: dict[str, Any] = {}
        """Globals of the asserts: functions that have these may be called back."""
        self.functions = new_class(asker, FUNCTIONS, "function", (Function,))
        self._exports: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._classes: dict[int, Meta] = {}
        self._instances: dict[tuple[int, bool], Any] = {}
        self._wrappers: dict[int, Any] = {}
        self._given: dict[int, int] = {}
        """id of a generator made here -> the number of the iterator it stands for."""

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
            return ["fn", self._export(value), str(getattr(value, "__name__", kind.__name__))]
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
        if tag == "g" and parts[0] not in FORBIDDEN:
            return self.builtin.values[parts[0]]
        if tag == "H":
            return self._exports[parts[0]]
        if tag == "e":
            return self._raised(parts, exchange)
        if tag == "it":
            return self._iterator(_number(parts[0]), closable=parts[1] is True)
        if tag == "fn":
            return make(self.functions, exchange, _number(parts[0]))
        if tag == "k":
            cls = self._class(parts, exchange)
            return cls if exchange.licensed else make(self.functions, exchange, parts[0])
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
        key = number, exchange.licensed
        if tag == "h":
            if key not in self._instances:
                self._instances[key] = make(cls, exchange, number)
            return self._instances[key]
        return self._with_content(tag, cls, key, content, exchange)

    def _with_content(
        self, tag: str, cls: Any, key: tuple[int, bool], content: list[Any], exchange: Exchange
    ) -> Any:
        """The same object as before, as long as it says it holds the same."""
        if tag == "nt" and len(content) != len(cls._fields):
            refuse("an answer cannot be read: a named tuple of the wrong length")
        if tag == "v" and (len(content) != 1 or type(content[0]) is not _value_type(cls)):
            refuse("an answer cannot be read: a value of the wrong type")
        made = make(cls, exchange, key[0], tuple(content) if tag == "nt" else content[0])
        return made if tag == "nt" else self._instances.setdefault(key, made)

    def _class(self, parts: list[Any], exchange: Exchange) -> Meta:
        number = _number(parts[0])
        if number not in self._classes:
            name, nearest, fields = parts[1:4]
            builtin = getattr(builtins, nearest)
            bases = [self._base(part, exchange) for part in parts[4:]]
            self._classes[number] = self._new_class(number, name, builtin, fields, bases)
        return self._classes[number]

    def _base(self, coded: Any, exchange: Exchange) -> Any:
        if coded[0] == "k":
            return self._class(coded[1:], exchange)
        return self.asker.codec.decode(coded, exchange)

    def _new_class(
        self, number: int, name: str, builtin: type, fields: Any, bases: list[Any]
    ) -> Meta:
        extra: dict[str, Any] = {}
        if issubclass(builtin, BaseException):
            kept = [base for base in bases if issubclass(base, BaseException)] or [builtin]
            extra = {"__str__": _problem_text, "__getattr__": Far.__getattr__}
        elif fields is not None:
            kept = [base for base in bases if issubclass(base, Tuple)]
            kept = kept or [Tuple, collections.namedtuple(name, fields)]  # noqa: PYI024
        elif builtin in VALUE_TYPES:
            kept = [b for b in bases if issubclass(b, Value) and issubclass(b, builtin)]
            kept = kept or [Value, builtin]
        else:
            kept = [b for b in bases if type(b) is Meta and issubclass(b, Handle)] or [Handle]
        return new_class(self.asker, number, name, tuple(kept), extra)

    def _iterator(self, number: int, *, closable: bool) -> Any:
        """A real generator, asked item by item; kept, because dropping one would close it."""
        if number not in self._wrappers:
            made = self._items(make(Ref, Exchange(), number), closable)
            self._wrappers[number] = made
            self._given[id(made)] = number
        return self._wrappers[number]

    def _items(self, there: Ref, closable: bool) -> Any:
        step: tuple[Any, ...] = (next, there)
        while True:
            try:
                item = self.asker.call(step[0], step[1:], name="next")
            except StopIteration as end:
                return end.value
            try:
                sent = yield item
                step = (next, there) if sent is None else (_GENERATOR.send, there, sent)
            except GeneratorExit:
                if closable:
                    self.asker.call(_GENERATOR.close, (there,))
                raise
            except Exception as problem:  # thrown in by the asserts
                step = (_GENERATOR.throw, there, problem)

    def _raised(self, parts: list[Any], exchange: Exchange) -> BaseException:
        number, coded, args, text, trace = parts
        values = tuple(self.asker.codec.decode(arg, exchange) for arg in args)
        own = coded[0] == "k"
        kind = self._class(coded[1:], exchange) if own else _library_exception(*coded)
        if not issubclass(kind, BaseException):
            refuse("the solution raised something that is no exception")
        problem: BaseException = _construct(kind, values, own)
        problem.args = values
        problem.__dict__.update(
            _al_far=_number(number), _al_text=str(text)[:2000], _al_trace=trace,
            _al_licensed=False, _al_closed=False, _al_label="",
        )  # fmt: skip
        return problem


def _stops(target: Any) -> bool:
    """By identity: a handle would have to be asked whether it is equal."""
    return any(target is stopping for stopping in _STOPPING)


def _construct(kind: Any, values: tuple[Any, ...], own: bool) -> Any:
    try:
        return kind.__new__(kind) if own else kind(*values)
    except Exception:  # some want other arguments than they show
        return kind.__new__(kind)


def _library_exception(module: str, name: str, nearest: str) -> Any:
    """Never imports anything: an exception the asserts have not imported is its builtin base."""
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else getattr(builtins, nearest)


def _value_type(cls: type) -> type:
    return next(base for base in VALUE_TYPES if issubclass(cls, base))


def _problem_text(problem: Any) -> str:
    return str(problem.__dict__.get("_al_text", ""))


def _number(number: Any) -> int:
    if type(number) is not int:
        refuse("an answer cannot be read: a number is missing")
    return number
