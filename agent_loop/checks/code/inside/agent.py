"""The solution's side: answers calls over the pipe, and nothing else.

Nothing here is trusted: the solution may take this process over. The judge believes only values.
"""

from __future__ import annotations

import builtins
import os
import sys
import types

from agent_loop.checks.code.inside.link import Link
from agent_loop.checks.code.inside.named import named
from agent_loop.checks.code.inside.wire import (
    CHUNK_BYTES,
    Frames,
    Refused,
    private_pipe,
    refuse,
    write_all,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_loop.checks.code.inside.values import Exchange

SOLUTION_FILE = "<solution>"
MODULE, LOAD = 0, 1
"""The first two things the other side can name."""
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_VALUE_TYPES = (int, str, float, bytes)
_OPERATORS = frozenset(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ "
    "__truediv__ __floordiv__ __mod__ __pow__ __matmul__ __and__ __or__ __xor__ __neg__ __abs__ "
    "__contains__ __getitem__ __iter__ __len__ __bool__ __call__ __enter__ __str__".split()
)


class Pipe:
    """The container's own standard input and output, moved out of the solution's way."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._frames = Frames()

    def send(self, frame: bytes, *, fresh: bool) -> None:
        write_all(self._writes, frame)

    def receive(self) -> dict[str, Any]:
        while (message := self._frames.take()) is None:
            data = os.read(self._reads, CHUNK_BYTES)
            if not data:
                os._exit(0)
            self._frames.feed(data)
        return message


class Solution:
    """What of the solution the other side may name, and what of the other side it was given."""

    def __init__(self) -> None:
        self.builtin = named()
        self.link: Link
        self.module = types.ModuleType("solution")
        sys.modules["solution"] = self.module
        self.exports: dict[int, Any] = {MODULE: self.module, LOAD: self.load}
        self.numbers: dict[int, int] = {id(thing): n for n, thing in self.exports.items()}
        self.given: dict[int, int] = {}
        """id of a stand-in for something of the judge -> its number there."""
        self._kept: dict[int, Any] = {}

    def load(self, source: str, file: str = SOLUTION_FILE) -> None:
        exec(compile(source, file, "exec"), self.module.__dict__)  # noqa: S102 - what we are for

    def number(self, value: Any) -> int:
        number = self.numbers.setdefault(id(value), len(self.numbers))
        self.exports[number] = value
        return number

    # -- out

    def encode(self, value: Any, exchange: Exchange, depth: int) -> list[Any]:
        """Whatever goes wrong here (a class may lie about anything) becomes a refusal."""
        try:
            return self._encode(value, exchange, depth)
        except Refused:
            raise
        except BaseException as problem:
            refuse(f"gave a value that cannot cross: {type(problem).__name__}")

    def _encode(self, value: Any, exchange: Exchange, depth: int) -> list[Any]:
        kind = type(value)
        if id(value) in self.builtin.names:
            return ["g", self.builtin.names[id(value)]]
        if id(value) in self.given:
            return ["H", self.given[id(value)]]
        if issubclass(kind, BaseException):
            return self._exception(value, exchange, depth)
        if kind in _FUNCTIONS:
            return ["fn", self.number(value)]
        if issubclass(kind, type):
            return self._class(value, exchange)
        if hasattr(kind, "__next__") and (kind is types.GeneratorType or _standard(kind)):
            return ["it", self.number(value), kind is types.GeneratorType]
        return self._instance(value, kind, exchange, depth)

    def _instance(self, value: Any, kind: type, exchange: Exchange, depth: int) -> list[Any]:
        encode, number = self.link.codec.encode, self.number(value)
        cls = self._class(kind, exchange)
        if issubclass(kind, tuple) and _fields(kind) is not None:
            return [
                "nt",
                number,
                cls,
                *(encode(x, exchange, depth + 1) for x in tuple.__iter__(value)),
            ]
        for base in _VALUE_TYPES:
            if issubclass(kind, base):
                return ["v", number, cls, encode(_content(base, value), exchange, depth + 1)]
        return ["h", number, cls]

    def _class(self, cls: type, exchange: Exchange) -> list[Any]:
        """Its number, name, nearest builtin, fields of a named tuple, and the bases that matter."""
        if id(cls) in self.builtin.names:
            return ["g", self.builtin.names[id(cls)]]
        nearest = next(base for base in cls.__mro__ if getattr(builtins, base.__name__, 0) is base)
        bases = [self._class(base, exchange) for base in cls.__bases__ if _matters(base)]
        place = [self.number(cls), cls.__name__, nearest.__name__]
        return ["k", *place, _fields(cls), _able(cls), *bases]

    def _exception(self, problem: BaseException, exchange: Exchange, depth: int) -> list[Any]:
        if "_al_far" in problem.__dict__:
            return ["H", problem.__dict__["_al_far"]]
        kind = type(problem)
        cls = _place(kind) if _standard(kind) else self._class(kind, exchange)
        try:
            args = [self.link.codec.encode(arg, exchange, depth + 1) for arg in problem.args]
        except Exception:  # its arguments are its own affair
            args = []
        return ["e", self.number(problem), cls, args, _text(problem), _trace(problem)]

    # -- in

    def decode(self, tag: str, parts: list[Any], exchange: Exchange) -> Any:
        number = parts[0]
        if tag == "g":
            return self.builtin.values[number]
        if tag == "H":
            return self.exports[number]
        if tag == "m":
            return _library(*parts)
        if tag == "T":
            items = [self.link.codec.decode(part, exchange) for part in parts[1:]]
            return tuple.__new__(self.exports[number], items)
        if tag == "e":
            return self._raised(parts, exchange)
        if number not in self._kept:
            made = self._function(*parts) if tag == "fn" else self._items(number)
            self._kept[number] = made
            self.given[id(made)] = number
        return self._kept[number]

    def _function(self, number: int, name: str, text: str | None) -> Any:
        """A real function, so that `functools.wraps` works on it."""
        there = _Theirs(self, number)

        def stand_in(*args: Any, **named: Any) -> Any:
            return self.link.call(there, args, named)

        stand_in.__name__ = stand_in.__qualname__ = name
        stand_in.__doc__ = text
        return stand_in

    def _items(self, number: int) -> Any:
        there = _Theirs(self, number)
        while True:
            try:
                item = self.link.call(next, (there,))
            except StopIteration as end:
                return end.value
            yield item

    def _raised(self, parts: list[Any], exchange: Exchange) -> BaseException:
        number, (module, name, nearest), args = parts[:3]
        kind = getattr(sys.modules.get(module), name, None) or getattr(builtins, nearest)
        values = [self.link.codec.decode(arg, exchange) for arg in args]
        try:
            problem = kind(*values)
        except Exception:  # some want other arguments than they show
            problem = kind.__new__(kind)
        problem.__dict__["_al_far"] = number
        return problem  # type: ignore[no-any-return]


class _Theirs:
    """Stands for something of the judge in a request."""

    def __init__(self, solution: Solution, number: int) -> None:
        solution.given[id(self)] = number


def _standard(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in sys.stdlib_module_names


def _place(kind: type) -> list[str]:
    nearest = next(base for base in kind.__mro__ if getattr(builtins, base.__name__, 0) is base)
    return [kind.__module__, kind.__qualname__, nearest.__name__]


def _matters(base: type) -> bool:
    if base is object:
        return False
    if _standard(base):
        return issubclass(base, BaseException) or base in _VALUE_TYPES
    return True


def _fields(cls: type) -> list[str] | None:
    """Of a named tuple whose operators are tuple's own; one with its own is an instance."""
    if not issubclass(cls, tuple) or cls is tuple:
        return None
    own = [base.__dict__ for base in cls.__mro__ if base not in (tuple, object)]
    names = next((space["_fields"] for space in own if "_fields" in space), None)
    if names is None or any(_OPERATORS & space.keys() for space in own):
        return None
    return list(names)


def _able(cls: type) -> list[str]:
    """The special methods it has beyond those of every object."""
    found = {name for base in cls.__mro__ if base is not object for name in base.__dict__}
    able = [name for name in found if name[:2] == "__" and name[-2:] == "__"]
    if cls.__hash__ is None:
        able.append("-__hash__")
    return able


def _content(base: type, value: Any) -> Any:
    """What it holds as exactly `base`, whatever its class says."""
    if base is bytes:
        return b"".join((value,))
    return base.__getnewargs__(value)[0]  # type: ignore[attr-defined]


def _library(module: str, name: str) -> Any:
    thing = __import__(module, fromlist=["_"])
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def _text(problem: BaseException) -> str:
    try:
        return str(problem)[:2000].encode("utf-8", "backslashreplace").decode()
    except BaseException:  # its own __str__ may do anything
        return "(its text cannot be shown)"


def _trace(problem: BaseException) -> list[list[Any]]:
    """Line and function of the solution's last four frames."""
    lines: list[list[Any]] = []
    step = problem.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == SOLUTION_FILE:
            lines = [*lines[-3:], [step.tb_lineno, code.co_name[:80]]]
        step = step.tb_next
    return lines


def main() -> None:
    """Answer calls until the pipe closes."""
    __import__("typing")  # what most solutions import, while nobody waits
    solution = Solution()
    pipe = Pipe(*private_pipe())
    solution.link = Link(pipe, solution)
    while True:
        solution.link.serve(pipe.receive())
