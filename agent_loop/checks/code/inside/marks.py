"""Marks in the asserts: that each ran, both sides evaluated once and in order, what they were."""

from __future__ import annotations

import ast
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

HELPERS_FILE, ASSERTS_FILE = "<task>", "<asserts>"
JUDGE, SAME, EARLY = "__al_judge", "__al_same", "__al_early"
_READING = frozenset(
    "sorted len sum max min list tuple set frozenset dict str abs round reversed any all range "
    "enumerate zip map filter int float".split()
)
"""Builtins that change nothing: an expected side made of these may be evaluated twice."""


def same(left: Any, right: Any) -> bool:
    """`is`, where two handles for one object of the solution are that object."""
    numbers = [getattr(type(x), "_al_link", None) and _far(x) for x in (left, right)]
    if None not in numbers and type(left) is type(right):
        return numbers[0] == numbers[1]
    return left is right


def _far(value: Any) -> int | None:
    number = object.__getattribute__(value, "__dict__").get("_al_far")
    return number if type(number) is int else None


class Assert:
    """One assert statement of the tests."""

    def __init__(self, node: ast.Assert, number: int, *, may_be_skipped: bool) -> None:
        self.number = number
        self.line = node.lineno
        self._test = node.test
        self.constant = isinstance(node.test, ast.Constant)
        self.may_be_skipped = may_be_skipped
        """It stands in a branch."""
        self.caught = False
        """The tests themselves expect an AssertionError around it."""

    @property
    def text(self) -> str:
        return ast.unparse(self._test)


_BRANCHES = (ast.If, ast.ExceptHandler, ast.Match)


def asserts_of(tree: ast.Module) -> list[tuple[ast.Assert, Assert]]:
    """Every assert statement with its mark, in the order of the text."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    branched = {id(x) for n in ast.walk(tree) if isinstance(n, _BRANCHES) for x in ast.walk(n)}
    caught = {id(x) for n in ast.walk(tree) if _catches(n) for x in ast.walk(n)}
    found = []
    for number, node in enumerate(nodes):
        mark = Assert(node, number, may_be_skipped=id(node) in branched)
        mark.caught = id(node) in caught
        found.append((node, mark))
    return found


def wrongly_skipped(marks: Sequence[Assert], ran: set[int]) -> list[Assert]:
    """Asserts that had to run and did not; those in a branch may be skipped, but never all."""
    real = [mark for mark in marks if not mark.constant]
    if not any(mark.number in ran for mark in real):
        return real
    return [mark for mark in real if mark.number not in ran and not mark.may_be_skipped]


def _catches(node: ast.AST) -> bool:
    if not isinstance(node, ast.Try):
        return False
    named = [x for handler in node.handlers if handler.type for x in ast.walk(handler.type)]
    return any(isinstance(x, ast.Name) and x.id == "AssertionError" for x in named)


class Marker(ast.NodeTransformer):
    """Turns asserts into calls of the judge, and `is` into `same`."""

    def __init__(self, tree: ast.Module, *, twice: Callable[[ast.expr], bool]) -> None:
        found = asserts_of(tree)
        self.marks = [mark for _, mark in found]
        self._numbers = {id(node): mark.number for node, mark in found}
        self._twice = twice

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        number, message = self._numbers[id(node)], node.msg
        call = _call(JUDGE, ast.Constant(number), _later(message))
        if isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            twice = self._twice(node.test)
            test = self.generic_visit(node.test)
            assert isinstance(test, ast.Compare)  # noqa: S101 - generic_visit keeps the node
            expected = test.comparators[0]
            early = _call(EARLY, expected) if twice else ast.Constant(None)
            call.args += [ast.Constant(type(test.ops[0]).__name__), early, test.left, expected]
        else:
            call.args += [ast.Constant(""), ast.Constant(None), self.visit(node.test)]
        return ast.copy_location(ast.Expr(call), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        call: ast.expr = _call(SAME, node.left, node.comparators[0])
        if isinstance(node.ops[0], ast.IsNot):
            call = ast.UnaryOp(ast.Not(), call)
        return ast.copy_location(call, node)


class Script:
    """Helpers and tests of a task, marked and compiled; made once for many solutions."""

    def __init__(self, helpers: str, tests: str, wanted: frozenset[str]) -> None:
        self.helpers = compile(helpers, HELPERS_FILE, "exec") if helpers else None
        # What an assert says is worked out when it fails, from a tree that was not altered.
        self.marks = [mark for _, mark in asserts_of(ast.parse(tests))]
        tree = ast.parse(tests)
        marker = Marker(tree, twice=lambda test: reads_argument(test, wanted))
        marked = ast.fix_missing_locations(marker.visit(tree))
        self.code = compile(marked, ASSERTS_FILE, "exec")


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _later(value: ast.expr | None) -> ast.expr:
    if value is None:
        return ast.Constant(None)
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(nothing, value)


def reads_argument(test: ast.expr, wanted: frozenset[str]) -> bool:
    """An expected side that computes something from a variable the solution was given.

    `srt(l) == sorted(l)`: a solution that empties `l` would decide what is expected. Such a side
    is evaluated before the call as well, and both results must agree.
    """
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    left, right = test.left, test.comparators[0]
    if isinstance(right, ast.Name) or not _only_reads(right):
        return False
    given = {
        name.id
        for call in ast.walk(left)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in wanted
        for arg in (*call.args, *(named.value for named in call.keywords))
        for name in ast.walk(arg)
        if isinstance(name, ast.Name)
    }
    return any(isinstance(n, ast.Name) and n.id in given for n in ast.walk(right))


def _only_reads(side: ast.expr) -> bool:
    for node in ast.walk(side):
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in _READING
        ):
            return False
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Attribute):
            return False
    return True


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda item, where: item in where,
    "Is": same,
    "IsNot": lambda left, right: not same(left, right),
    "NotIn": lambda item, where: item not in where,
}


def compare(operation: str, left: Any, right: Any) -> bool:
    return bool(_OPERATIONS[operation](left, right)) if operation else bool(left)
