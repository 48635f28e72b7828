"""What a mutator is told about the place it looks at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Where a node stands."""

    parents: tuple[cst.CSTNode, ...]
    """Outermost first."""
    names: tuple[str, ...] = ()
    """Parameters and plain locals of the innermost function, in order of appearance."""

    def parent(self, up: int = 1) -> cst.CSTNode | None:
        return self.parents[-up] if len(self.parents) >= up else None


@dataclass(frozen=True, slots=True)
class Wrong:
    """One wrong version of a node: another node in its place, or its whole line gone."""

    kind: str
    node: cst.CSTNode | None
    """`None`: the statement's line goes, or becomes `pass` where it is alone in its block."""


Mutator = Callable[[cst.CSTNode, Around], Iterator[Wrong]]


def integer(node: cst.CSTNode) -> int | None:
    """The value of a plain decimal literal."""
    if isinstance(node, cst.Integer) and node.value.isdigit():
        return int(node.value)
    return None


def plain_arguments(call: cst.Call) -> list[cst.Arg]:
    """Positional arguments without stars."""
    return [one for one in call.args if one.keyword is None and not one.star]


def called_name(call: cst.Call) -> str:
    """`f` of `f(x)` and of `a.f(x)`."""
    function = call.func
    if isinstance(function, cst.Name):
        return function.value
    return function.attr.value if isinstance(function, cst.Attribute) else ""
