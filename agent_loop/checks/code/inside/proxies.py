"""What the solution's objects look like from the other side.

An instance of a class of the solution stays where it is; what crosses is a handle that forwards.
A handle can be *licensed* or not (see `licence`). Operations in which a value of the asserts flows
into the object (`- 4.5`, `in`, `==`, `append(x)`) need the licence, because through them a lying
object would learn what is expected of it. Operations that only take something out (`len`, `str`,
iteration, attributes) need none. A handle never equals a plain value.
"""

from __future__ import annotations

import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    _T = TypeVar("_T")

    class Link(Protocol):
        """The way to the other side."""

        def call(
            self,
            target: Any,
            args: tuple[Any, ...] = (),
            named: dict[str, Any] | None = None,
            *,
            name: str = "",
        ) -> Any: ...

        compared: bool
        """Instances were asked about each other."""

        def fail(self, reason: str) -> Any: ...

        def need_class(self, cls: Any) -> None:
            """Refuse unless the asserts mean this class."""
            ...


VALUE_TYPES = (int, str, float, bytes)


def make(cls: Any, exchange: Any, number: int, *content: Any) -> Any:
    """An instance of a proxy class, with what the exchange says about it."""
    base = next((kind for kind in (*VALUE_TYPES, tuple) if issubclass(cls, kind)), object)
    proxy = base.__new__(cls, *content)
    for name, value in (
        ("_al_far", number),
        ("_al_label", exchange.label),
        ("_al_licensed", exchange.licensed),
        ("_al_closed", exchange.closed),
    ):
        object.__setattr__(proxy, name, value)
    return proxy


_CLASS_NAMES = ("__match_args__", "__members__")


class Meta(type):
    """Class of the proxies of the solution's classes."""

    _al_link: Link
    _al_class: int
    _al_called: str
    """What the asserts call it; the licence goes by this, never by the name it says it has."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return cls._al_link.call(cls, args, named, name=cls._al_called)

    def __getattr__(cls, name: str) -> Any:
        if name[:4] == "_al_" or (name[:2] == "__" and name not in _CLASS_NAMES):
            raise AttributeError(name)
        return cls._al_link.call(getattr, (cls, name), name=name)

    def __setattr__(cls, name: str, value: Any) -> None:
        cls._al_link.call(setattr, (cls, name, value))

    def __delattr__(cls, name: str) -> None:
        cls._al_link.call(delattr, (cls, name))

    def __getitem__(cls, key: Any) -> Any:
        return cls._al_link.call(operator.getitem, (cls, key), name=cls._al_called)

    def __iter__(cls) -> Any:
        return cls._al_link.call(iter, (cls,), name="next")

    def __len__(cls) -> int:
        return int(cls._al_link.call(len, (cls,)))

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, item: Any) -> bool:
        if not isinstance(item, Far):
            cls._al_link.need_class(cls)
        return bool(cls._al_link.call(operator.contains, (cls, item)))

    def __instancecheck__(cls, value: Any) -> bool:
        mark = type.__getattribute__(type(value), "__dict__").get("_al_of", -1)
        return type.__instancecheck__(cls, value) or mark == cls._al_class

    @property
    def __doc__(cls) -> Any:  # type: ignore[override]
        return cls._al_link.call(getattr, (cls, "__doc__"), name="__doc__")


def new_class(
    link: Link, number: int, name: str, bases: tuple[type, ...], extra: dict[str, Any] | None = None
) -> Meta:
    """A proxy class for class `number` of the other side."""
    space = {
        "_al_link": link, "_al_class": number, "_al_ours": True, "_al_called": "", "__doc__": _doc,
    }  # fmt: skip
    return Meta(name, bases, space | (extra or {}))


@property  # type: ignore[misc]
def _doc(proxy: Any) -> Any:
    """Set on every proxy class: `type` would put a None of its own there."""
    return proxy._al_link.call(getattr, (proxy, "__doc__"), name="__doc__")


class Far:
    """Something of the other side."""

    _al_ours = True
    _al_link: Link
    _al_far: int
    """Its number over there."""
    _al_label: str
    """What the asserts called to get it; the licence goes by this."""
    _al_licensed: bool
    _al_closed: bool
    """A method with the name of a plain one, of an unlicensed object: takes no arguments."""

    def __init_subclass__(cls, **named: Any) -> None:
        if "_al_ours" not in cls.__dict__:
            parent = cls.__mro__[1]
            parent_link: Link = parent._al_link  # type: ignore[attr-defined]
            parent_link.fail(f"the asserts subclass {parent.__name__}, a class of the solution")

    def __getattr__(self, name: str) -> Any:
        if name[:4] == "_al_":
            raise AttributeError(name)
        return self._al_link.call(getattr, (self, name), name=name)


class Ref(Far):
    """Nothing but the number of something of the other side."""

    _al_ours = True


class Value(Far):
    """An instance of a subclass of int, str, float or bytes.

    It has the real content and compares as its base type does; what the base type lacks is asked.
    """

    _al_ours = True

    def __str__(self) -> str:
        return typed_call(self, str, str)

    def __repr__(self) -> str:
        return typed_call(self, repr, str)

    def __format__(self, spec: str) -> str:
        return typed_call(self, format, str, spec)


class Tuple(Far):
    """A named tuple of the solution: the real content, tuple's own comparisons; methods asked."""

    _al_ours = True

    def __repr__(self) -> str:
        # What `_replace` made has never been on the other side.
        crossed = "_al_far" in self.__dict__
        return typed_call(self, repr, str) if crossed else super().__repr__()


class Function(Far):
    """A function or a class of the solution as a value: it can be called and has attributes."""

    _al_ours = True

    def __call__(self, *args: Any, **named: Any) -> Any:
        return call_it(self, args, named)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and other._al_far == self._al_far

    def __hash__(self) -> int:
        return hash(self._al_far)

    def __setattr__(self, name: str, value: Any) -> None:
        self._al_link.call(setattr, (self, name, value))

    def __delattr__(self, name: str) -> None:
        self._al_link.call(delattr, (self, name))


class Handle(Far):
    """An instance of a class of the solution; its operators come with its class."""

    _al_ours = True

    def __copy__(self) -> Any:
        return self._al_link.call(_library("copy", "copy"), (self,), name=self._al_label)

    def __deepcopy__(self, _memo: Any) -> Any:
        return self._al_link.call(_library("copy", "deepcopy"), (self,), name=self._al_label)

    def __setattr__(self, name: str, value: Any) -> None:
        self._al_link.call(setattr, (self, name, value))

    def __delattr__(self, name: str) -> None:
        self._al_link.call(delattr, (self, name))


def _library(module: str, name: str) -> Any:
    return getattr(__import__(module), name)


def call_it(target: Function | Handle, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    if target._al_closed and (args or named):
        needs_plain(target, f".{target._al_label}()")
    return target._al_link.call(target, args, named, name=target._al_label)


def needs_plain(target: Any, doing: str) -> Any:
    return target._al_link.fail(
        f"gave an instance of its own class {type(target).__name__} where the asserts need a plain "
        f"value (for {doing})"
    )


def typed_call(target: Any, function: Any, exact: type[_T], *args: Any) -> _T:
    """Python checks the type of these results itself, so never let a handle through."""
    result = target._al_link.call(function, (target, *args))
    if type(result) is not exact:
        wrong = f"{function.__name__}() of {type(target).__name__} gave {type(result).__name__}"
        target._al_link.fail(wrong)
    return result  # type: ignore[no-any-return]
