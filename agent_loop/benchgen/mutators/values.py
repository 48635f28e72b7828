"""Wrong values: constants, bounds, defaults, variables."""

from collections.abc import Iterator

import libcst as cst

from agent_loop.benchgen.mutators.site import Around, Wrong, called_name, integer

_WORDS = {"True": "False", "False": "True"}
_PAIRS = {"": " ", " ": "", ",": ";", "-": "_", "_": "-", ".": ",", "\\n": " ", "/": "\\\\"}


def off_by_one(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """A number that counts or bounds: beside + or -, in range(), as an index."""
    value, parent, above = integer(node), around.parent(), around.parent(2)
    if value is None:
        return
    beside = isinstance(parent, cst.BinaryOperation) and isinstance(
        parent.operator, cst.Add | cst.Subtract
    )
    ranged = (
        isinstance(parent, cst.Arg)
        and isinstance(above, cst.Call)
        and called_name(above) in ("range", "islice", "enumerate")
    )
    if beside or ranged or isinstance(parent, cst.Index):
        yield Wrong("off_by_one", cst.Integer(str(value + 1)))
        if value:
            yield Wrong("off_by_one", cst.Integer(str(value - 1)))


def one_more(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """`range(n)` as `range(n + 1)`, `len(x)` as `len(x) - 1`."""
    if not isinstance(node, cst.Call):
        return
    if called_name(node) in ("range", "islice") and node.args and not node.args[-1].star:
        last = node.args[-1]
        if integer(last.value) is None and not isinstance(last.value, cst.Name | cst.Call):
            return
        if isinstance(last.value, cst.Name) and last.value.value in ("None", "True", "False"):
            return
        more = cst.BinaryOperation(left=last.value, operator=cst.Add(), right=cst.Integer("1"))
        yield Wrong(
            "off_by_one", node.with_changes(args=[*node.args[:-1], last.with_changes(value=more)])
        )
    if called_name(node) == "len" and isinstance(around.parent(), cst.ComparisonTarget):
        yield Wrong(
            "off_by_one",
            cst.BinaryOperation(left=node, operator=cst.Subtract(), right=cst.Integer("1")),
        )


def constant(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """A literal of the body; docstrings and defaults are not its business."""
    parent = around.parent()
    if isinstance(parent, cst.Param | cst.Expr | cst.Index | cst.ConcatenatedString):
        return
    yield from _other_literal("constant_changed", node)


def default(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """The default of a parameter: evaluated when the module is imported."""
    parent = around.parent()
    if isinstance(parent, cst.Param) and parent.default is node:
        yield from _other_literal("default_changed", node)


def _other_literal(kind: str, node: cst.CSTNode) -> Iterator[Wrong]:
    value = integer(node)
    if value is not None:
        yield Wrong(kind, cst.Integer(str(value + 1)))
        if value > 1:
            yield Wrong(kind, cst.Integer(str(value * 10)))
    if isinstance(node, cst.Name) and node.value in _WORDS:
        yield Wrong(kind, cst.Name(_WORDS[node.value]))
    if isinstance(node, cst.SimpleString):
        new = _other_text(node)
        if new is not None:
            yield Wrong(kind, node.with_changes(value=new, lpar=[], rpar=[]))


def _other_text(node: cst.SimpleString) -> str | None:
    if "b" in node.prefix or len(node.quote) != 1:
        return None
    inner = node.raw_value
    if inner in _PAIRS:
        new = _PAIRS[inner]
    elif inner.isalpha() and inner.isascii():
        new = inner[:-1] if len(inner) > 1 else inner.swapcase()
    else:
        return None
    return f"{node.prefix}{node.quote}{new}{node.quote}"


def slices(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    """A bound of a slice moved or lost."""
    if not isinstance(node, cst.Slice):
        return
    for name in ("lower", "upper"):
        bound = getattr(node, name)
        if bound is None:
            continue
        number = integer(bound)
        if number is not None:
            yield Wrong("slice_bound", node.with_changes(**{name: cst.Integer(str(number + 1))}))
        elif isinstance(bound, cst.Name | cst.Call | cst.Attribute):
            more = cst.BinaryOperation(left=bound, operator=cst.Add(), right=cst.Integer("1"))
            yield Wrong("slice_bound", node.with_changes(**{name: more}))
        yield Wrong("slice_bound_lost", node.with_changes(**{name: None}))


def variable(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """Another variable of the same function, where one is read."""
    if not isinstance(node, cst.Name) or node.value not in around.names:
        return
    if not _is_read(node, around):
        return
    others = [name for name in around.names if name != node.value]
    for other in _nearest(node.value, others, around.names):
        yield Wrong("wrong_variable", cst.Name(other))


def _nearest(name: str, others: list[str], names: tuple[str, ...]) -> list[str]:
    """At most two: those that appear next to it."""
    at = names.index(name)
    return sorted(others, key=lambda one: (abs(names.index(one) - at), names.index(one)))[:2]


def _is_read(node: cst.Name, around: Around) -> bool:
    parent = around.parent()
    if isinstance(parent, cst.Arg):
        return parent.value is node
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    return isinstance(
        parent,
        cst.BinaryOperation | cst.Comparison | cst.ComparisonTarget | cst.Index | cst.Return
        | cst.BooleanOperation | cst.UnaryOperation | cst.Element | cst.DictElement
        | cst.Subscript,
    )  # fmt: skip
