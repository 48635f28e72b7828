"""Wrong calls: arguments, copies, siblings, wrappers."""

from collections.abc import Iterator

import libcst as cst

from agent_loop.benchgen.mutators.site import Around, Wrong, called_name, plain_arguments

_SIBLINGS = {
    "min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith",
    "endswith": "startswith", "lstrip": "rstrip", "rstrip": "lstrip", "strip": "lstrip",
    "find": "rfind", "rfind": "find", "index": "rindex", "split": "rsplit", "rsplit": "split",
    "partition": "rpartition", "rpartition": "partition", "upper": "lower", "lower": "upper",
    "append": "extend", "extend": "append", "union": "intersection",
    "intersection": "union", "popleft": "pop", "appendleft": "append", "floor": "ceil",
    "ceil": "floor", "keys": "values", "values": "keys", "isinstance": "issubclass",
    "capitalize": "title", "title": "capitalize", "match": "search", "search": "match",
    "ljust": "rjust", "rjust": "ljust", "takewhile": "dropwhile", "dropwhile": "takewhile",
}  # fmt: skip
_COPIES = frozenset({"list", "dict", "set", "copy", "deepcopy"})
_WRAPPERS = frozenset(
    [
        "strip",
        "lower",
        "upper",
        "rstrip",
        "lstrip",
        "casefold",
        "sorted",
        "reversed",
        "abs",
        "tuple",
        "set",
        "str",
        "int",
        "title",
        "capitalize",
        "encode",
        "decode",
        "iter",
    ]
)


def swapped_arguments(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    if not isinstance(node, cst.Call):
        return
    plain = plain_arguments(node)
    if len(plain) < 2 or called_name(node) in ("min", "max", "print"):
        return
    first, second = plain[0], plain[1]
    if first.value.deep_equals(second.value):
        return
    args = list(node.args)
    args[0] = first.with_changes(value=second.value)
    args[1] = second.with_changes(value=first.value)
    yield Wrong("arguments_swapped", node.with_changes(args=args))


def lost_argument(node: cst.CSTNode, _: Around) -> Iterator[Wrong]:
    """A keyword argument, or the last of several, is not passed."""
    if not isinstance(node, cst.Call):
        return
    for number, one in enumerate(node.args):
        if one.keyword is not None and not one.star:
            yield Wrong("argument_dropped", node.with_changes(args=_without(node, number)))
    plain = plain_arguments(node)
    if len(plain) > 1 and plain[-1] is node.args[-1]:
        args = _without(node, len(node.args) - 1)
        yield Wrong("argument_dropped", node.with_changes(args=args))


def _without(call: cst.Call, number: int) -> list[cst.Arg]:
    args = [one for at, one in enumerate(call.args) if at != number]
    if args and number == len(call.args) - 1:
        args[-1] = args[-1].with_changes(comma=call.args[-1].comma)
    return args


def sibling(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """Its neighbour is called: `min` for `max`."""
    if not isinstance(node, cst.Name) or node.value not in _SIBLINGS:
        return
    parent, above = around.parent(), around.parent(2)
    direct = isinstance(parent, cst.Call) and parent.func is node
    method = (
        isinstance(parent, cst.Attribute)
        and parent.attr is node
        and isinstance(above, cst.Call)
        and above.func is parent
    )
    if direct or method:
        yield Wrong("sibling_called", cst.Name(_SIBLINGS[node.value]))


def copies(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """The caller's own object where a copy was made."""
    if isinstance(node, cst.Call) and called_name(node) in _COPIES:
        inner = _inner(node)
        if inner is not None and _is_simple(inner):
            yield Wrong("copy_missing", inner)
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        part = node.slice[0].slice
        whole = isinstance(part, cst.Slice) and not (part.lower or part.upper or part.step)
        target = isinstance(around.parent(), cst.AssignTarget | cst.Del)
        if whole and not target:
            yield Wrong("copy_missing", node.value)


def _is_simple(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name | cst.Attribute | cst.Subscript)


def _inner(call: cst.Call) -> cst.BaseExpression | None:
    """What the call is about: its only argument, or the object of a method without any."""
    if len(call.args) == 1 and call.args[0].keyword is None and not call.args[0].star:
        return call.args[0].value
    if not call.args and isinstance(call.func, cst.Attribute):
        return call.func.value
    return None


def wrapper(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """`x.strip()` as `x`, `sorted(x)` as `x`."""
    if not isinstance(node, cst.Call) or called_name(node) not in _WRAPPERS:
        return
    if isinstance(around.parent(), cst.Expr):
        return
    inner = _inner(node)
    if inner is not None and (_is_simple(inner) or isinstance(inner, cst.Call)):
        yield Wrong("wrapper_dropped", inner)


def unpacking(node: cst.CSTNode, around: Around) -> Iterator[Wrong]:
    """The two sides of an unpacking swapped: `a, b = …` as `b, a = …`."""
    target = isinstance(around.parent(), cst.AssignTarget | cst.For | cst.CompFor)
    if not target or not isinstance(node, cst.Tuple) or len(node.elements) != 2:
        return
    first, second = node.elements
    if isinstance(first.value, cst.Name) and isinstance(second.value, cst.Name):
        swapped = [first.with_changes(value=second.value), second.with_changes(value=first.value)]
        yield Wrong("unpacking_swapped", node.with_changes(elements=swapped))
