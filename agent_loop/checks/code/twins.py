"""Twins: the tests with one expected value altered, which no honest solution can pass.

The text is altered in place, so that nothing but the value tells a twin from the real tests.
"""

import ast

from agent_loop.checks.code.inside.marks import asserts_of
from agent_loop.checks.code.reading import Reading

_CANDIDATES = 3
"""Altered values tried per assert: `min(1, 5)` stays 1 when the 5 is altered."""
_FAR = 10**9


def twins_of(reading: Reading, text: str) -> list[list[str]]:
    """For every assert, in order, texts of which at least one must fail; empty: it has no twin."""
    return [_twins(node, reading, text) for node, _ in asserts_of(reading.tree)]


def _twins(node: ast.Assert, reading: Reading, text: str) -> list[str]:
    if isinstance(node.test, ast.Constant):
        return []
    changes = [(const, repr(value)) for const, value in _alterations(node.test, reading)]
    if not changes:
        whole = ast.get_source_segment(text, node.test) or ""
        changes = [(node.test, f"(not ({whole}))")]
    return [_replaced(text, place, new) for place, new in changes[:_CANDIDATES]]


def _alterations(test: ast.expr, reading: Reading) -> list[tuple[ast.expr, object]]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        found = (_alterations(value, reading) for value in test.values)
        return next((alterations for alterations in found if alterations), [])
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return []
    return _of_compare(test, reading)


def _of_compare(test: ast.Compare, reading: Reading) -> list[tuple[ast.expr, object]]:
    left, operation, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(operation, ast.Eq):
        expected = left if reading.asks(right) and not reading.asks(left) else right
        return _ends([(const, _other(const.value)) for const in _constants(expected)])
    if isinstance(operation, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        target = [const for const in _subtracted(left) if _is_number(const.value)]
        if target:
            return [(const, const.value + _FAR) for const in target]  # type: ignore[operator]
        sign = -1 if isinstance(operation, ast.Lt | ast.LtE) else 1
        return _bounds(right, sign) or _bounds(left, -sign)
    if isinstance(operation, ast.In) and isinstance(left, ast.Constant):
        return [(left, _strange(left.value))]
    return []


def _ends(found: list[tuple[ast.expr, object]]) -> list[tuple[ast.expr, object]]:
    """The last first: it is the least likely to be swallowed by what stands around it."""
    return [found[-1], *found[:-1]] if found else []


def _constants(side: ast.expr) -> list[ast.Constant]:
    inner = {id(x) for n in ast.walk(side) if isinstance(n, ast.JoinedStr) for x in ast.walk(n)}
    found = [
        node
        for node in ast.walk(side)
        if isinstance(node, ast.Constant)
        and id(node) not in inner
        and isinstance(node.value, int | float | str | bytes | None)
    ]
    return sorted(found, key=lambda const: (const.lineno, const.col_offset))


def _subtracted(side: ast.expr) -> list[ast.Constant]:
    """Of `abs(f(x) - 4.5)` the 4.5."""
    return [
        part
        for node in ast.walk(side)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        for part in (node.left, node.right)
        if isinstance(part, ast.Constant)
    ]


def _bounds(side: ast.expr, sign: int) -> list[tuple[ast.expr, object]]:
    if isinstance(side, ast.Constant) and _is_number(side.value):
        return [(side, side.value + sign * _FAR)]  # type: ignore[operator]
    return []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _other(value: object) -> object:
    """Another value of the same kind, as unremarkable as the first."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}s"
    return value + b"s" if isinstance(value, bytes) else 0


def _strange(value: object) -> object:
    """Something that no collection of a test holds."""
    if isinstance(value, str):
        return f"{value}~{value}~"
    return value + _FAR if _is_number(value) else 987_654_321.5  # type: ignore[operator]


def _replaced(text: str, place: ast.expr, new: str) -> str:
    """Columns of the tree count bytes."""
    lines = text.encode().split(b"\n")
    last = place.end_lineno or place.lineno
    before = b"\n".join([*lines[: place.lineno - 1], lines[place.lineno - 1][: place.col_offset]])
    after = b"\n".join([lines[last - 1][place.end_col_offset :], *lines[last:]])
    return (before + new.encode() + after).decode()
