"""Sees functions of Python, pytest and their kin that were replaced and stay so after a test."""

import builtins
import importlib
import sys
import types
from collections.abc import Callable, Iterator

NAMES = (
    "builtins random time datetime math statistics decimal fractions os posixpath io re json "
    "operator functools itertools collections copy string hashlib secrets uuid tempfile pathlib "
    "inspect traceback dis linecache types enum dataclasses contextlib threading subprocess "
    "unittest doctest pytest _pytest pluggy"
)
WATCHED = frozenset(NAMES.split())
KINDS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    classmethod,
    staticmethod,
    property,
)


def start() -> Callable[[], list[str]]:
    """Look now; what is returned looks again and names what differs."""
    for name in WATCHED:
        importlib.import_module(name)
    before = dict(snapshot())

    def differing() -> list[str]:
        now = dict(snapshot())
        return sorted(name for name, what in before.items() if now.get(name) != what)

    return differing


def snapshot() -> Iterator[tuple[str, tuple[int, int]]]:
    """Identity of every watched function, and of its code."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in WATCHED and module is not None:
            yield from of_namespace(name, vars(module))
    yield "builtins.AssertionError", (id(builtins.AssertionError), 0)


def of_namespace(
    name: str, space: "types.MappingProxyType[str, object] | dict[str, object]"
) -> Iterator[tuple[str, tuple[int, int]]]:
    for key, value in list(space.items()):
        if isinstance(value, KINDS):
            yield f"{name}.{key}", (id(value), code_of(value))
        elif isinstance(value, type):
            yield f"{name}.{key}", (id(value), 0)
            if value.__module__.partition(".")[0] in WATCHED:
                for inner, what in list(vars(value).items()):
                    if isinstance(what, KINDS):
                        yield f"{name}.{key}.{inner}", (id(what), code_of(what))


def code_of(value: object) -> int:
    function = getattr(value, "__func__", value)
    return id(function.__code__) if isinstance(function, types.FunctionType) else 0
