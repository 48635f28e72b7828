"""Exceptions of the solution, made again on the judge's side."""

from __future__ import annotations

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def construct(kind: Any, values: tuple[Any, ...], own: bool) -> Any:
    try:
        return kind.__new__(kind) if own else kind(*values)
    except Exception:  # some want other arguments than they show
        return kind.__new__(kind)


def library_exception(module: str, name: str, nearest: str) -> Any:
    """Never imports anything: an exception the asserts have not imported is its builtin base.

    Only the library's: the judge stops by exceptions of its own, which nobody else may raise.
    """
    found = getattr(sys.modules.get(module), name, None)
    known = isinstance(found, type) and _of_library(module) and _of_library(found.__module__)
    return found if known else getattr(builtins, nearest)


def _of_library(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def lines_of(trace: Any) -> list[list[Any]]:
    """Line and function of the solution's frames, as far as they can be believed to be that."""
    entries = trace[-4:] if type(trace) is list else []
    return [
        [entry[0], str(entry[1])[:80]]
        for entry in entries
        if type(entry) is list and len(entry) == 2 and type(entry[0]) is int
    ]


def problem_text(problem: Any) -> str:
    return str(problem.__dict__.get("_al_text", ""))
