"""What cannot be judged with solution and asserts in two containers, found before any reply.

Each finding has the line and the reason. A task with one needs `isolation: shared`: what the
asserts do there depends on both sides living in one process.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agent_loop.checks.code.licence import licence
from agent_loop.checks.code.places import LIBRARY_RULES
from agent_loop.checks.code.reading import MUTATORS, REORDERING, Reading

_SPEAKING = frozenset(
    "__name__ __doc__ __class__ __len__ __iter__ __next__ __enter__ __exit__ __str__ __repr__ "
    "__getitem__ __contains__ __call__ __bool__".split()
)
"""Special names that mean the same on a handle."""
_LOCAL = frozenset("eval exec compile vars globals locals dir id open input super".split())
_DATACLASS = frozenset("asdict astuple replace fields is_dataclass".split())


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One reason why a task needs `isolation: shared`."""

    line: int
    """Line of the joined tests, counted from 1; 0: the task as a whole."""
    reason: str


def findings(reading: Reading) -> tuple[Finding, ...]:
    """Every reason, in the order of the lines, one per line."""
    found: dict[int, str] = {}
    if not reading.wanted:
        found[0] = "the tests name nothing that the solution could supply"
    for rule in (*_RULES, *LIBRARY_RULES):
        for node, reason in rule(reading):
            found.setdefault(getattr(node, "lineno", 0), reason)
    return tuple(Finding(line=line, reason=found[line]) for line in sorted(found))


Hits = Iterator[tuple[ast.AST, str]]


def _classes(reading: Reading) -> Hits:
    for node in reading.nodes:
        if isinstance(node, ast.ClassDef):
            bases = [base for base in node.bases if reading.asks(base)]
            if bases:
                yield node, f"class {node.name} subclasses {ast.unparse(bases[0])} of the solution"
            else:
                yield node, f"instances of class {node.name} cannot be handed to the solution"
    own = {node.name for node in reading.helpers.body if isinstance(node, ast.ClassDef)}
    for node in reading.nodes:
        if isinstance(node, ast.Name) and node.id in own:
            yield node, f"instances of the task's class {node.id} cannot be handed to the solution"


def _waiting(reading: Reading) -> Hits:
    for node in reading.nodes:
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
            yield node, "coroutines need the solution's own event loop"


def _special_names(reading: Reading) -> Hits:
    for node in reading.nodes:
        if isinstance(node, ast.Attribute) and node.attr[:2] == "__" and node.attr not in _SPEAKING:
            yield node, f".{node.attr} of an object of the solution is not its own on this side"


def _local_builtins(reading: Reading) -> Hits:
    for node in reading.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name = node.func.id
        if name in _LOCAL and name not in reading.wanted:
            yield node, f"{name}() looks at this side only"
        elif name in _DATACLASS and node.args and reading.asks(node.args[0]):
            yield node, f"{name}() looks inside an instance of the solution"


def _compared_with_plain(reading: Reading) -> Hits:
    granted = licence(reading)
    for node in reading.nodes:
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        if isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
            continue
        for side, other in (
            (node.left, node.comparators[0]),
            (node.comparators[0], node.left),
        ):
            name = reading.constructs(side)
            if name in granted and not reading.asks(other) and not _is_none(other):
                yield node, f"an instance of {name} is compared with a plain value"


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _identity(reading: Reading) -> Hits:
    """`f() is f()`: a plain value is made anew each time it crosses."""
    for node in reading.nodes:
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            continue
        sides = [node.left, node.comparators[0]]
        kept = any(_of_class(reading, side) for side in sides) or _own_iterator(*sides)
        if all(map(reading.asks, sides)) and not kept:
            yield node, "`is` between two results of the solution"


def _own_iterator(left: ast.expr, right: ast.expr) -> bool:
    """Such as `iter(g) is g`."""
    return ast.unparse(left) == f"iter({ast.unparse(right)})"


def _of_class(reading: Reading, value: ast.expr) -> bool:
    """An instance or a member of a class of the solution, whose identity is kept."""
    while isinstance(value, ast.Attribute | ast.Subscript):
        value = value.value
        if isinstance(value, ast.Name) and reading.is_class_name(value.id):
            return True
    if isinstance(value, ast.Name) and (
        value.id in reading.wanted or reading.clearly_instance(value.id)
    ):
        return True
    return reading.constructs(value) is not None


# --- values that both sides would have to share -----------------------------------------------


def _changes(reading: Reading) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Statements of the asserts that change a value in place, with that value."""
    for node in reading.nodes:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
            targets = node.targets if not isinstance(node, ast.AugAssign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Subscript):
                    yield node, target.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inside = node.func.attr in REORDERING and isinstance(node.func.value, ast.Attribute)
            if inside or node.func.attr in MUTATORS:
                yield node, node.func.value


def _changed_copies(reading: Reading) -> Hits:
    """A change of something that an instance or a function gave: only a copy of it is here."""
    for node, value in _changes(reading):
        root = _root(value)
        owned = isinstance(value, ast.Attribute) and (
            root in reading.instances or root in reading.wanted
        )
        if owned or (isinstance(value, ast.Name) and _is_data(reading, value.id)):
            yield node, f"changes {ast.unparse(value)}, a copy of what the solution holds"
        elif isinstance(value, ast.Name):
            origins = [o for o in reading.sources.get(value.id, ()) if _gives_copy(reading, o)]
            plain = origins and not reading.clearly_instance(value.id)
            if plain and _asked_after(reading, node):
                yield node, f"changes {value.id}, a copy of what {ast.unparse(origins[0])} gave"


def _is_data(reading: Reading, name: str) -> bool:
    """A name of the solution that is never called: a value, not a class or function."""
    calls = (reading.parents.get(use) for use in reading.uses(name))
    return name in reading.wanted and not any(
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name
        for call in calls
    )


def _gives_copy(reading: Reading, origin: ast.expr) -> bool:
    if isinstance(origin, ast.Call) and reading.constructs(origin) is None:
        function = origin.func
        named = isinstance(function, ast.Name) and function.id in reading.wanted
        return named or (isinstance(function, ast.Attribute) and reading.asks(function.value))
    return isinstance(origin, ast.Attribute) and reading.asks(origin.value)


def _asked_after(reading: Reading, node: ast.AST) -> bool:
    """The solution is asked again further down, and could show the change."""
    line = getattr(node, "lineno", 0)
    return any(
        isinstance(later, ast.Call) and later.lineno > line and reading.asks(later.func)
        for later in reading.nodes
    )


def _root(value: ast.AST) -> str:
    while isinstance(value, ast.Attribute | ast.Subscript):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _kept_arguments(reading: Reading) -> Hits:
    """A variable the solution keeps, and either side changes later: each has its own copy."""
    given = list(_given(reading))
    for node, value in _changes(reading):
        name = value.id if isinstance(value, ast.Name) else ""
        for call, handed in given:
            later = handed == name and getattr(node, "lineno", 0) > call.lineno
            if later and reading.constructs(call):
                yield node, f"changes {name} after an instance was given it"
    for call, name in given:
        if _starts_empty(reading, name) and _read_later(reading, call, name):
            yield call, f"the solution may fill {name} after the call that it was given to"


def _given(reading: Reading) -> Iterator[tuple[ast.Call, str]]:
    """Calls of the solution, with each variable handed over."""
    for node in reading.nodes:
        if isinstance(node, ast.Call) and reading.asks(node.func):
            for value in (*node.args, *(named.value for named in node.keywords)):
                if isinstance(value, ast.Name) and not reading.asks(value):
                    yield node, value.id


def _starts_empty(reading: Reading, name: str) -> bool:
    for origin in reading.sources.get(name, ()):
        if isinstance(origin, ast.List | ast.Set) and not origin.elts:
            return True
        if isinstance(origin, ast.Dict) and not origin.keys:
            return True
        if isinstance(origin, ast.Call) and not origin.args and not reading.asks(origin.func):
            return True
    return False


def _read_later(reading: Reading, call: ast.Call, name: str) -> bool:
    """Read after another call of the solution that did not hand it over again."""
    calls = [n for n in reading.nodes if isinstance(n, ast.Call) and reading.asks(n.func)]
    for use in reading.uses(name):
        between = [
            c
            for c in calls
            if call.lineno < c.lineno <= use.lineno
            and not any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(c))
        ]
        goes_on = isinstance(reading.parents.get(call), ast.withitem | ast.FunctionDef)
        if use.lineno > call.lineno and (between or goes_on):
            return True
    return False


_RULES: tuple[Callable[[Reading], Hits], ...] = (
    _classes,
    _waiting,
    _special_names,
    _local_builtins,
    _compared_with_plain,
    _identity,
    _changed_copies,
    _kept_arguments,
)
