"""Puts the code of a changed file into the functions that are already there. Stands alone."""

import gc
import os
import sys
import types
from typing import Any

CO_OPTIMIZED = 1
Key = tuple[str, str, int]


class CannotSwap(Exception):
    """The change does not reach through function bodies alone."""


def key(code: types.CodeType) -> Key:
    return code.co_filename, code.co_qualname, code.co_firstlineno


class Functions:
    """Every live function of the tree, by its code."""

    def __init__(self, tree: str) -> None:
        self.tree = tree
        self.known: dict[Key, list[types.FunctionType]] = {}
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType) and one.__code__.co_filename.startswith(tree):
                self.known.setdefault(key(one.__code__), []).append(one)
        gc.collect()
        gc.freeze()

    def swap(self, files: dict[str, str]) -> set[Key]:
        """Change all functions whose code differs; gives the changed codes.

        Raises:
            CannotSwap: the change needs a fresh import.
        """
        swapped: set[Key] = set()
        for path, text in files.items():
            place = os.path.join(self.tree, path)
            with open(place, "rb") as file:
                old = compile(file.read(), place, "exec", dont_inherit=True)
            new = compile(text.encode("latin-1"), place, "exec", dont_inherit=True)
            self.descend(old, new, held=False, swapped=swapped)
        return swapped

    def descend(
        self, old: types.CodeType, new: types.CodeType, *, held: bool, swapped: set[Key]
    ) -> None:
        before, after = inner(old), inner(new)
        if [one.co_name for one in before] != [one.co_name for one in after]:
            if held:
                return
            raise CannotSwap("other functions are defined")
        for one, other in zip(before, after, strict=True):
            if one == other:
                continue
            found = self.known.get(key(one), [])
            self.replace(found, other)
            is_function = bool(one.co_flags & CO_OPTIMIZED)
            if is_function and not found and not held:
                raise CannotSwap(f"{one.co_qualname} is not to be found")
            if is_function:
                swapped.add(key(other))
            self.descend(one, other, held=held or bool(found), swapped=swapped)

    def replace(self, found: list[types.FunctionType], code: types.CodeType) -> None:
        for one in found:
            try:
                one.__code__ = code
            except ValueError as error:
                raise CannotSwap(str(error)) from error


def inner(code: types.CodeType) -> list[types.CodeType]:
    return [one for one in code.co_consts if isinstance(one, types.CodeType)]


def depth_watch(codes: set[Key], recorder: Any, tree: str) -> dict[str, int]:
    """Count the calls between each test and the first changed function that it reaches."""
    depths: dict[str, int] = {}

    def called(frame: types.FrameType, _event: str, _: Any) -> None:
        name = recorder.current
        if key(frame.f_code) in codes and name not in depths:
            depths[name] = calls_from(frame, os.path.join(tree, name.partition("::")[0]))

    sys.settrace(called)
    return depths


def calls_from(frame: types.FrameType, file: str) -> int:
    """How many calls lie between a frame and the nearest one of `file`."""
    count = 1
    above = frame.f_back
    while above is not None and above.f_code.co_filename != file:
        count += 1
        above = above.f_back
    return count
