"""Is new import-time code only data? Where no function changed, a pass rests on it.

Data: names, attributes, literals, displays, operators over them, imports, calls of a few
builders (`re.compile`, `frozenset` …), and definitions. Not data: any other call, and any
assignment to something that is not a plain name of this module (that is how other modules
get patched).
"""

import ast
import sys
from collections.abc import Sequence

from agent_loop.checks.project.source.shape import Item
from agent_loop.checks.project.source.text import words

DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BUILDERS = words(
    "bool bytes complex dict float frozenset int list range set slice str tuple object property "
    "staticmethod classmethod re.compile compile Decimal decimal.Decimal Fraction "
    "fractions.Fraction timedelta datetime.timedelta namedtuple collections.namedtuple "
    "OrderedDict collections.OrderedDict defaultdict collections.defaultdict deque "
    "collections.deque field dataclasses.field TypeVar typing.TypeVar NewType typing.NewType "
    "ParamSpec typing.ParamSpec auto enum.auto partial functools.partial operator.itemgetter "
    "operator.attrgetter itemgetter attrgetter MappingProxyType types.MappingProxyType"
)
_DECORATORS = words(
    "property staticmethod classmethod dataclass dataclasses.dataclass abstractmethod "
    "abc.abstractmethod overload typing.overload final typing.final override typing.override "
    "lru_cache functools.lru_cache cache functools.cache cached_property "
    "functools.cached_property wraps functools.wraps total_ordering functools.total_ordering "
    "singledispatch functools.singledispatch singledispatchmethod contextmanager "
    "contextlib.contextmanager asynccontextmanager contextlib.asynccontextmanager unique "
    "enum.unique runtime_checkable typing.runtime_checkable"
)
_PLAIN = (
    ast.Constant,
    ast.Name,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Lambda,
    ast.Slice,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
_PARTS = (
    ast.Attribute,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.Starred,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Subscript,
    ast.keyword,
)


_ROOTS = frozenset(name.split(".")[0] for name in _BUILDERS | _DECORATORS)


def more_than_data(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items that do something at import."""
    taken = {name for one in items for name in _imported(one.node)}
    return tuple(one for one in items if not is_data(one) or _grows(one.node, taken))


def _imported(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    return [(one.asname or one.name).split(".")[0] for one in node.names]


def _grows(node: ast.AST, taken: set[str]) -> bool:
    """`+=` on what was imported beside it changes another module's list in place."""
    target = node.target if isinstance(node, ast.AugAssign) else None
    return isinstance(target, ast.Name) and target.id in taken


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of names, else nothing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def is_data(item: Item) -> bool:
    """Known decorators are data too: they run nothing of the patch."""
    node = item.node
    if isinstance(node, ast.stmt):
        return _statement(node)
    if isinstance(node, ast.keyword):
        return _expression(node.value)
    if item.decorator:
        return isinstance(node, ast.expr) and _decorator(node)
    return _expression(node)


def _decorator(node: ast.expr) -> bool:
    name = dotted(node.func if isinstance(node, ast.Call) else node)
    known = name in _DECORATORS or name.endswith((".setter", ".getter", ".deleter"))
    if not isinstance(node, ast.Call):
        return known
    return known and all(map(_expression, _arguments(node)))


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(one.value for one in node.keywords)]


def _expression(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return dotted(node.func) in _BUILDERS and all(map(_expression, _arguments(node)))
    if isinstance(node, ast.JoinedStr | ast.FormattedValue):
        return all(map(_expression, ast.iter_child_nodes(node)))
    if isinstance(node, _PLAIN):
        return True
    return isinstance(node, _PARTS) and all(map(_expression, ast.iter_child_nodes(node)))


def _import(node: ast.Import | ast.ImportFrom) -> bool:
    """Not a name of a builder for something else: its calls are taken for data."""
    origin = "" if isinstance(node, ast.Import) or node.level else node.module or ""
    for one in node.names:
        bound = (one.asname or one.name).split(".")[0]
        top = origin.split(".")[0] if isinstance(node, ast.ImportFrom) else bound
        itself = one.asname in (None, one.name) and top in sys.stdlib_module_names
        if bound in _ROOTS and not itself:
            return False
    return True


def _statement(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _import(node)
    if isinstance(
        node,
        ast.Pass | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    ):
        return True
    if isinstance(node, ast.Assign):
        return all(map(_target, node.targets)) and _expression(node.value)
    if isinstance(node, ast.AnnAssign):
        return _target(node.target) and (node.value is None or _expression(node.value))
    if isinstance(node, ast.AugAssign):
        return _target(node.target) and _expression(node.value)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return _branches(node)


def _target(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List):
        return all(map(_target, node.elts))
    return isinstance(node, ast.Name) and node.id not in _ROOTS


def _branches(node: ast.stmt) -> bool:
    """`if` and `try` around data are data; a script's `__main__` branch does not run."""
    if isinstance(node, ast.If):
        if _is_main_guard(node.test):
            return all(map(_statement, node.orelse))
        return _expression(node.test) and all(map(_statement, [*node.body, *node.orelse]))
    if isinstance(node, ast.Try):
        handlers = [line for handler in node.handlers for line in handler.body]
        body = [*node.body, *handlers, *node.orelse, *node.finalbody]
        return all(map(_statement, body))
    return False


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and dotted(test.left) == "__name__"
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
    )
