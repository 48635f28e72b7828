"""Twins: the tests with one expected value altered, which no honest solution can pass.

The text is altered in place, so that nothing but the value tells a twin from the real tests.
"""

import ast
from collections.abc import Iterator
from typing import Any

from agent_loop.checks.code.inside.marks import asserts_of
from agent_loop.checks.code.reading import Reading

_MOST = 3
"""Twins per assert."""
_FAR = 10**9
_STEP = 1733
_STRANGE = 58.75
_OPPOSITE: dict[type, Any] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
Change = tuple[ast.expr, str]
"""A place in the tests, and the text that takes it."""


def twins_of(reading: Reading, text: str) -> list[list[list[str]]]:
    """For every assert, in order, groups of texts; of each group at least one must fail."""
    return [
        [
            [_replaced(text, *change) for change in group]
            for group in _groups(node.test, reading, text)
        ]
        for node, _ in asserts_of(reading.tree)
    ]


def referee_twins(reading: Reading, text: str) -> list[list[list[str]]]:
    """The same where instances of the solution are compared with each other.

    Negation shows nothing there, because a liar fails it too. What is less is not also more.
    """
    return [
        [[_replaced(text, *change) for change in group] for group in _referee_groups(node, reading)]
        for node, _ in asserts_of(reading.tree)
    ]


def _referee_groups(node: ast.Assert, reading: Reading) -> list[list[Change]]:
    test = node.test
    strict = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Lt | ast.Gt)
    if isinstance(test, ast.Compare) and strict and len(test.ops) == 1:
        swapped = ast.Compare(test.comparators[0], test.ops, [test.left])
        return [[(test, ast.unparse(swapped))]]
    return [group for group in _altered(test, reading) if group][:_MOST]


def _groups(test: ast.expr, reading: Reading, text: str) -> list[list[Change]]:
    if isinstance(test, ast.Constant):
        return []
    groups = [group for group in _altered(test, reading) if group]
    if groups:
        return groups[:_MOST]
    return [[(test, _negated(test, text))]]


def _negated(test: ast.expr, text: str) -> str:
    """As a person would write it: a twin must not be known by its brackets."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return f"({ast.get_source_segment(text, test.operand)})"
    whole = ast.get_source_segment(text, test) or ""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        left, right = test.left, test.comparators[0]
        return ast.unparse(ast.Compare(left, [_OPPOSITE[type(test.ops[0])]()], [right]))
    plain = isinstance(test, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    return f"not {whole}" if plain else f"not ({whole})"


def _altered(test: ast.expr, reading: Reading) -> list[list[Change]]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [group for value in test.values for group in _altered(value, reading)]
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _of_compare(test.left, test.ops[0], test.comparators[0], reading)
    if isinstance(test, ast.Call):
        return [_of_call(test, reading)]
    if isinstance(test, ast.UnaryOp) and isinstance(inner := test.operand, ast.Compare):
        unequal = len(inner.ops) == 1 and isinstance(inner.ops[0], ast.NotEq)
        return _of_compare(inner.left, ast.Eq(), inner.comparators[0], reading) if unequal else []
    return []


def _of_compare(
    left: ast.expr, operation: ast.cmpop, right: ast.expr, reading: Reading
) -> list[list[Change]]:
    if isinstance(operation, ast.Eq):
        expected = left if reading.asks(right) and not reading.asks(left) else right
        return _of_expected(expected, reading)
    if isinstance(operation, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        # Of `abs(f(x) - 4.5) < eps` the 4.5: a lying difference is under every bound.
        targets = [_change(const, _further(const.value)) for const in _subtracted(left)]
        sign = -1 if isinstance(operation, ast.Lt | ast.LtE) else 1
        return targets or [_bound(right, sign) or _bound(left, -sign)]
    if isinstance(operation, ast.In) and isinstance(left, ast.Constant):
        return [[(left, repr(value)) for value in _strangers(left.value)]]
    return []


def _of_expected(side: ast.expr, reading: Reading) -> list[list[Change]]:
    """Every constant of a literal must matter; around anything else at least one."""
    literal = _literal(side)
    if literal is None and isinstance(side, ast.Name):
        literal = next(_given_to(side.id, reading), None)
    found = [(c, _others(c.value)) for c in _constants(literal or [side])]
    found = [found[-1], *found[:-1]] if found else []
    if literal is None:  # `min(1, 5)` stays 1 when the 5 is altered, `len('ab')` when the b is
        group: list[Change] = [(c, repr(value)) for c, values in found for value in values]
        return [group[: _MOST + 1]]
    return [_change(c, values[0]) for c, values in found]


def _literal(side: ast.expr) -> list[ast.expr] | None:
    try:
        ast.literal_eval(side)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return [side]


def _given_to(name: str, reading: Reading) -> Iterator[list[ast.expr]]:
    """The literals that a variable stands for: assigned, or the column of a table looped over."""
    for node in reading.nodes:
        if isinstance(node, ast.For | ast.comprehension) and _literal(node.iter):
            rows = node.iter.elts if isinstance(node.iter, ast.List | ast.Tuple) else []
            targets = node.target.elts if isinstance(node.target, ast.Tuple) else []
            at = [getattr(target, "id", "") for target in targets]
            if name in at:
                column = at.index(name)
                cells = [row.elts for row in rows if isinstance(row, ast.Tuple | ast.List)]
                yield [row[column] for row in cells if len(row) > column]
    for origin in reading.sources.get(name, ()):
        if literal := _literal(origin):
            yield literal


def _of_call(call: ast.Call, reading: Reading) -> list[Change]:
    """`math.isclose(f(2), 1.41)`, `f(x).startswith('XI')`, `hasattr(x, 'name')`."""
    function = call.func
    known = isinstance(function, ast.Attribute) and (
        function.attr in ("startswith", "endswith") or not reading.asks(function.value)
    )
    named = isinstance(function, ast.Name) and function.id == "hasattr"
    if not (known or named) or not reading.asks(call):
        return []
    constants = [arg for arg in call.args if isinstance(arg, ast.Constant)]
    return [
        (c, repr(value))
        for c in constants
        if isinstance(c.value, int | float | str)
        for value in _strangers(c.value)
    ]


def _constants(sides: list[ast.expr]) -> list[ast.Constant]:
    nodes = [node for side in sides for node in ast.walk(side)]
    inner = {id(x) for n in nodes if isinstance(n, ast.JoinedStr) for x in ast.walk(n)}
    found = [
        node
        for node in nodes
        if isinstance(node, ast.Constant)
        and id(node) not in inner
        and isinstance(node.value, int | float | str | bytes | None)
    ]
    return sorted(found, key=lambda const: (const.lineno, const.col_offset))


def _subtracted(side: ast.expr) -> list[ast.Constant]:
    return [
        part
        for node in ast.walk(side)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        for part in (node.left, node.right)
        if isinstance(part, ast.Constant) and _is_number(part.value)
    ]


def _change(const: ast.Constant, value: object) -> list[Change]:
    return [(const, repr(value))]


def _bound(side: ast.expr, sign: int) -> list[Change]:
    if isinstance(side, ast.Constant) and _is_number(side.value):
        return [(side, repr(side.value + sign * _FAR))]  # type: ignore[operator]
    return []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _others(value: object) -> list[object]:
    """Other values of the same kind, which nothing tells from those of real tests.

    Text gets longer by a letter of its own, or one letter becomes another of its own.
    """
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1]
    if isinstance(value, str):
        return [value + (value[-1:] or "a"), *_one_letter_else(value)]
    return [value + (value[-1:] or b"a")] if isinstance(value, bytes) else [0]


def _one_letter_else(value: str) -> list[object]:
    spare = next((letter for letter in value[:-1] if letter != value[-1:]), "")
    return [value[:-1] + spare] if spare else []


def _strangers(value: object) -> list[object]:
    """Values that hardly any collection or result of a test holds as well."""
    if isinstance(value, str):
        return [value * 2 + value[-1:], *_one_letter_else(value), f"{value}q{value}"]
    return [_further(value)] if _is_number(value) else [_STRANGE]


def _further(value: Any) -> Any:  # noqa: ANN401 - int or float, as it came
    """A number away from `value` by more than tests tolerate, and of a size that tests use."""
    return value + 9 * abs(value) + _STEP


def _replaced(text: str, place: ast.expr, new: str) -> str:
    """Columns of the tree count bytes."""
    lines = text.encode().split(b"\n")
    last = place.end_lineno or place.lineno
    before = b"\n".join([*lines[: place.lineno - 1], lines[place.lineno - 1][: place.col_offset]])
    after = b"\n".join([lines[last - 1][place.end_col_offset :], *lines[last:]])
    return (before + new.encode() + after).decode()
