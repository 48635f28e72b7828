"""Wrong operators: comparisons, arithmetic, and/or, order of operations."""

from collections.abc import Iterator, Mapping
from typing import Any

import libcst as cst

from agent_loop.benchgen.mutators.site import Around, Wrong

_BOUNDARY: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.LessThan: cst.LessThanEqual,
    cst.LessThanEqual: cst.LessThan,
    cst.GreaterThan: cst.GreaterThanEqual,
    cst.GreaterThanEqual: cst.GreaterThan,
}
_OPPOSITE: dict[type[cst.BaseCompOp], type[cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
    cst.LessThan: cst.GreaterThan,
    cst.GreaterThan: cst.LessThan,
}
_ARITHMETIC: dict[type[cst.BaseBinaryOp], type[cst.BaseBinaryOp]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.Add,
    cst.FloorDivide: cst.Modulo,
    cst.Modulo: cst.FloorDivide,
    cst.Divide: cst.Multiply,
    cst.BitAnd: cst.BitOr,
    cst.BitOr: cst.BitAnd,
    cst.LeftShift: cst.RightShift,
    cst.RightShift: cst.LeftShift,
}
_AUGMENTED: dict[type[cst.BaseAugOp], type[cst.BaseAugOp]] = {
    cst.AddAssign: cst.SubtractAssign,
    cst.SubtractAssign: cst.AddAssign,
    cst.MultiplyAssign: cst.AddAssign,
    cst.BitOrAssign: cst.BitAndAssign,
    cst.BitAndAssign: cst.BitOrAssign,
}
_ONE_WAY = (cst.Subtract, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power)


def _like(old: cst.CSTNode, table: Mapping[type[Any], type[Any]]) -> Any:  # noqa: ANN401 - any operator
    """The operator that a table has for this one, with its blanks; `None` where it has none."""
    new = table.get(type(old))
    if new is None:
        return None
    loose: Any = old
    blanks = [loose.whitespace_before, loose.whitespace_after]
    if new in (cst.In, cst.NotIn, cst.Is, cst.IsNot):
        # Words, unlike marks, need a blank on both sides.
        blanks = [cst.SimpleWhitespace(" ") if one.empty else one for one in blanks]
    return new(whitespace_before=blanks[0], whitespace_after=blanks[1])


def comparison(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    for kind, table in (("comparison_boundary", _BOUNDARY), ("comparison_flipped", _OPPOSITE)):
        operator = _like(target.operator, table)
        if operator is not None:
            changed = target.with_changes(operator=operator)
            yield Wrong(kind, node.with_changes(comparisons=[changed]))


def boolean(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    if not isinstance(node, cst.BooleanOperation):
        return
    new = cst.Or if isinstance(node.operator, cst.And) else cst.And
    operator = new(
        whitespace_before=node.operator.whitespace_before,
        whitespace_after=node.operator.whitespace_after,
    )
    yield Wrong("and_or_swapped", node.with_changes(operator=operator))
    yield Wrong("operand_dropped", node.left)


def negation(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        yield Wrong("not_removed", node.expression)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        yield Wrong("sign_lost", node.expression)


def arithmetic(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    if not isinstance(node, cst.BinaryOperation) or _is_text(node.left) or _is_text(node.right):
        return
    operator = _like(node.operator, _ARITHMETIC)
    if operator is not None:
        yield Wrong("arithmetic_operator", node.with_changes(operator=operator))
    if isinstance(node.operator, _ONE_WAY):
        yield Wrong("operands_swapped", node.with_changes(left=node.right, right=node.left))
    yield from _other_order(node)


def _other_order(node: cst.BinaryOperation) -> Iterator[Wrong]:
    """`a - b * c` as `(a - b) * c`."""
    right = node.right
    if not isinstance(right, cst.BinaryOperation) or right.lpar:
        return
    inner = cst.BinaryOperation(
        left=node.left,
        operator=node.operator,
        right=right.left,
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )
    yield Wrong("order_of_operations", right.with_changes(left=inner))


def _is_text(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.SimpleString | cst.FormattedString | cst.ConcatenatedString)


def augmented(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    if not isinstance(node, cst.AugAssign):
        return
    operator = _like(node.operator, _AUGMENTED)
    if operator is not None:
        yield Wrong("augmented_operator", node.with_changes(operator=operator))
