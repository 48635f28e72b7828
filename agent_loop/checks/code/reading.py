"""What the asserts say about values: which may be the solution's, and where variables come from."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agent_loop.checks.code import names
from agent_loop.checks.code.inside.named import PLAIN_ATTRIBUTES
from agent_loop.syntax import parse

_CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9]*$")
MUTATORS = frozenset(
    ("append", "add", "update", "extend", "insert", "pop", "clear", "remove", "setdefault",
     "discard", "popitem", "appendleft", "popleft")
)  # fmt: skip
REORDERING = frozenset(("sort", "reverse"))


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The asserts of a task, looked at without running anything."""

    tree: ast.Module
    helpers: ast.Module

    @classmethod
    def of(cls, tests: str, helpers: str = "") -> "Reading":
        return cls(tree=parse(tests), helpers=parse(helpers))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @cached_property
    def wanted(self) -> frozenset[str]:
        return frozenset(names.wanted(self.tree, self.helpers))

    @cached_property
    def modules(self) -> frozenset[str]:
        return frozenset(names.modules(self.tree, self.helpers))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def sources(self) -> dict[str, list[ast.expr]]:
        """Variable -> the expressions it was given."""
        found: dict[str, list[ast.expr]] = defaultdict(list)
        for node in self.nodes:
            for target, value in _assignments(node):
                found[target].append(value)
        return found

    @cached_property
    def entered(self) -> dict[str, list[ast.expr]]:
        """Variable of a `with` -> its context."""
        found: dict[str, list[ast.expr]] = defaultdict(list)
        for node in self.nodes:
            if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                found[node.optional_vars.id].append(node.context_expr)
        return found

    def asks(self, value: ast.AST) -> bool:
        """Whether the solution has a say in this value."""
        return self._asks(value, set())

    def _asks(self, value: ast.AST, seen: set[str]) -> bool:
        for node in ast.walk(value):
            if not isinstance(node, ast.Name):
                continue
            if node.id in self.wanted:
                return True
            if node.id in seen:
                continue
            seen.add(node.id)
            origins = [*self.sources.get(node.id, ()), *self.entered.get(node.id, ())]
            if any(self._asks(origin, seen) for origin in origins):
                return True
        return False

    def is_class_name(self, name: str) -> bool:
        """Capital first and no underscore, and wanted: by convention a class. `Find_Max` is not."""
        return name in self.wanted and _CLASS_NAME.match(name) is not None

    def constructs(self, value: ast.AST) -> str | None:
        """The class name that `value` calls, or that the variable `value` was made with."""
        if isinstance(value, ast.Call):
            # `Stack(...)` or `Stack[int](...)`
            called = value.func.value if isinstance(value.func, ast.Subscript) else value.func
            named = isinstance(called, ast.Name) and self.is_class_name(called.id)
            return called.id if isinstance(called, ast.Name) and named else None
        if isinstance(value, ast.Name):
            for origin in [*self.sources.get(value.id, ()), *self.entered.get(value.id, ())]:
                if isinstance(origin, ast.Call) and (name := self.constructs(origin)):
                    return name
        return None

    @cached_property
    def instances(self) -> frozenset[str]:
        """Variables made by calling a class of the solution."""
        bound = [*self.sources, *self.entered]
        return frozenset(
            name for name in bound if self.constructs(ast.Name(name, ast.Load())) is not None
        )

    def clearly_instance(self, name: str) -> bool:
        """Some attribute of the variable is used that no plain value has."""
        owners = (self.parents.get(use) for use in self.uses(name))
        return any(isinstance(o, ast.Attribute) and not plain_attribute(o.attr) for o in owners)

    def uses(self, name: str) -> Iterator[ast.Name]:
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
        yield from ((name, node.value) for name in _targets(node.target))
    elif isinstance(node, ast.For | ast.comprehension):
        item = ast.Subscript(node.iter, ast.Constant(0), ast.Load())
        yield from ((name, item) for name in _targets(node.target))
    elif isinstance(node, ast.FunctionDef):
        # A decorated function is what its decorators made of it.
        yield from ((node.name, ast.Call(deco, [], [])) for deco in node.decorator_list)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """`a, b = f(), g()` gives each its own; anything else gives all the whole."""
    both = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
    if both and len(target.elts) == len(value.elts):  # type: ignore[attr-defined]
        for one, its in zip(target.elts, value.elts, strict=True):  # type: ignore[attr-defined]
            yield from _unpacked(one, its)
    else:
        yield from ((name, value) for name in _targets(target))


def _targets(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def plain_attribute(name: str) -> bool:
    return name in PLAIN_ATTRIBUTES
