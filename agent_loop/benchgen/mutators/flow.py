"""Wrong control flow: conditions, guards, returns, loops, exceptions."""

from collections.abc import Iterator

import libcst as cst

from agent_loop.benchgen.mutators.site import Around, Wrong, called_name

_NOT_REMOVED = frozenset({"print", "warn", "debug", "info", "warning", "super"})
_OTHER_ERROR = {
    "ValueError": "TypeError",
    "TypeError": "ValueError",
    "KeyError": "IndexError",
    "IndexError": "KeyError",
    "AttributeError": "TypeError",
    "NotImplementedError": "RuntimeError",
    "StopIteration": "IndexError",
}


def condition(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """The condition of an if, a ternary or a comprehension's if."""
    parent = around.parent()
    is_test = isinstance(parent, cst.If | cst.IfExp | cst.CompIf) and parent.test is node
    if not is_test or not isinstance(node, cst.BaseExpression):
        return
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return
    inner: cst.BaseExpression = node
    loose = cst.BooleanOperation | cst.IfExp | cst.NamedExpr | cst.Lambda
    if isinstance(inner, loose) and not inner.lpar:
        inner = inner.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield Wrong("condition_negated", cst.UnaryOperation(operator=cst.Not(), expression=inner))


def guard(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    """`if …: return/raise/continue` with nothing else in it."""
    if not isinstance(node, cst.If) or node.orelse is not None:
        return
    body = node.body.body
    last = body[-1] if body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    leaves = isinstance(last, cst.Return | cst.Raise | cst.Continue)
    if leaves and len(body) == 1:
        yield Wrong("guard_removed", None)


def leaving(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    """Loop exits and return values."""
    if isinstance(node, cst.Break):
        yield Wrong("break_continue", cst.Continue())
    if isinstance(node, cst.Continue):
        yield Wrong("break_continue", cst.Break())
    if isinstance(node, cst.Return) and node.value is not None:
        value = node.value
        if not (isinstance(value, cst.Name) and value.value in ("None", "self")):
            yield Wrong("return_dropped", cst.Return())


def handler(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    """What an except clause catches."""
    if not isinstance(node, cst.ExceptHandler) or node.type is None:
        return
    kind = node.type
    if isinstance(kind, cst.Tuple) and len(kind.elements) > 1:
        kept = kind.with_changes(elements=kind.elements[:-1])
        yield Wrong("exception_narrowed", _header(node, kept))
    if isinstance(kind, cst.Name) and kind.value in ("Exception", "BaseException"):
        return
    yield Wrong("exception_widened", _header(node, cst.Name("Exception")))


def _header(node: cst.ExceptHandler, kind: cst.BaseExpression) -> cst.ExceptHandler:
    return node.with_changes(type=kind)


def raised(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """Another exception class is raised."""
    if not isinstance(node, cst.Name) or node.value not in _OTHER_ERROR:
        return
    parent, above = around.parent(), around.parent(2)
    direct = isinstance(parent, cst.Raise) and parent.exc is node
    called = isinstance(parent, cst.Call) and parent.func is node and isinstance(above, cst.Raise)
    if direct or called:
        yield Wrong("exception_type", cst.Name(_OTHER_ERROR[node.value]))


def statement(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    """A call or an assignment that is not made."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return
    only = node.body[0]
    call = only.value if isinstance(only, cst.Expr) else None
    if isinstance(call, cst.Call) and called_name(call) not in _NOT_REMOVED:
        yield Wrong("call_removed", None)
    if isinstance(only, cst.AugAssign):
        yield Wrong("update_removed", None)
    if isinstance(only, cst.Assign) and isinstance(
        only.targets[0].target, cst.Attribute | cst.Subscript
    ):
        yield Wrong("assignment_removed", None)
