"""Which results may be instances that values of the asserts flow into.

Worked out from the asserts alone, before any reply. Taking something out of an instance (`len`,
`str`, iteration, an attribute) needs no licence; showing it a value (`- 4.5`, `5 in x`,
`x.count(5)`) does, because a lying object would learn what is expected of it. A result is licensed
when the asserts cannot mean a plain value there.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Any

from agent_loop.checks.code.inside.named import CALLBACK, CALLED, LOOKUP
from agent_loop.checks.code.names import BUILTIN
from agent_loop.checks.code.reading import MUTATORS, Reading, plain_attribute

_OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_",
    ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}  # fmt: skip


def licence(reading: Reading) -> frozenset[str]:
    """Names of calls, methods, attributes and operators whose results are licensed."""
    grants = _Grants(reading)
    for node in reading.nodes:
        grants.consider(node)
    return frozenset(grants.names)


class _Grants:
    def __init__(self, reading: Reading) -> None:
        self.names: set[str] = set()
        self._reading = reading
        self._seen: set[str] = set()
        self._rules: dict[type, Callable[[Any], None]] = {
            ast.Attribute: self._attribute,
            ast.withitem: self._with,
            ast.Call: self._call,
            ast.Compare: self._compare,
            ast.Expr: self._statement,
            ast.ExceptHandler: self._handler,
            ast.FunctionDef: self._function,
            ast.Lambda: self._function,
        }

    def consider(self, node: ast.AST) -> None:
        rule = self._rules.get(type(node))
        if rule is not None:
            rule(node)

    # -- where an instance must be meant

    def _attribute(self, node: ast.Attribute) -> None:
        if not plain_attribute(node.attr):
            self.grant(node.value)

    def _with(self, node: ast.withitem) -> None:
        self.grant(node.context_expr)

    def _call(self, node: ast.Call) -> None:
        function = node.func
        self.names.update(CALLED + label for label in self._labels(function, set()))
        if not isinstance(function, ast.Name):
            return
        if function.id in self._reading.wanted:
            self.names.add(LOOKUP + function.id)
        for origin in self._reading.sources.get(function.id, ()):
            if isinstance(origin, ast.BinOp):  # what an operator gave is called
                self.grant(origin)
        if function.id in ("isinstance", "issubclass") and len(node.args) == 2:
            kind = node.args[1]
            if self._reading.asks(kind):
                self.grant(node.args[0])
                for part in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
                    self.grant(part)
        elif function.id in ("hasattr", "getattr", "setattr", "delattr") and node.args:
            self.grant(node.args[0])
        if self._reading.is_class_name(function.id) and self._an_instance_is_meant(node):
            self.names.add(function.id)

    def _labels(self, function: ast.expr, seen: set[str]) -> Iterator[str]:
        """What the judge calls that which is called here."""
        while isinstance(function, ast.Subscript):
            function = function.value
        if isinstance(function, ast.Attribute):
            yield function.attr
        elif isinstance(function, ast.Call):
            yield _label(function)
        elif isinstance(function, ast.Name) and function.id not in seen:
            yield function.id
            seen.add(function.id)
            for origin in self._reading.sources.get(function.id, ()):
                yield from self._labels(origin, seen)

    def _an_instance_is_meant(self, call: ast.AST) -> bool:
        """CamelCase alone is no proof: functions are called `Split` too."""
        parent = self._reading.parents.get(call)
        if isinstance(parent, ast.Assign | ast.NamedExpr | ast.AnnAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            uses = [use for name in names for use in self._reading.uses(name)]
            return any(self._an_instance_is_meant(use) for use in uses)
        if isinstance(parent, ast.Compare):
            sides = [parent.left, *parent.comparators]
            inside = isinstance(parent.ops[0], ast.In | ast.NotIn) and parent.left is not call
            return inside or all(self._reading.constructs(side) for side in sides)
        if isinstance(parent, ast.BinOp):
            return self._an_instance_is_meant(parent)
        if isinstance(parent, ast.Call):
            return parent.func is call
        return isinstance(parent, ast.Attribute | ast.withitem | ast.Subscript)

    def _compare(self, node: ast.Compare) -> None:
        """`a + b == V(4, 6)`: what the operators give is an instance."""
        sides = [node.left, *node.comparators]
        if isinstance(node.ops[0], ast.In | ast.NotIn) or not all(map(self._reading.asks, sides)):
            return
        for side in sides:
            for part in ast.walk(side):
                if isinstance(part, ast.BinOp | ast.UnaryOp):
                    self.names.add(_OPERATORS.get(type(part.op), ""))

    def _statement(self, node: ast.Expr) -> None:
        """`x.append(1)` as a statement: whatever x is, it is to be changed."""
        function = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr in MUTATORS:
            self.grant(function.value)

    def _handler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            for part in ast.walk(node.type):
                self.grant(part)

    def _function(self, node: ast.FunctionDef | ast.Lambda) -> None:
        """A function of the asserts that uses attributes of its parameters is given instances."""
        parameters = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        for part in ast.walk(node):
            owner = part.value if isinstance(part, ast.Attribute) else None
            if isinstance(owner, ast.Name) and owner.id in parameters:
                self.names.add(CALLBACK)

    # -- what gave it

    def grant(self, value: ast.AST) -> None:
        if isinstance(value, ast.Name):
            self._grant_name(value.id)
        elif isinstance(value, ast.Call):
            self._grant_call(value)
        elif isinstance(value, ast.Attribute):
            self.names.add(value.attr)
        elif isinstance(value, ast.Subscript):
            self.names.update(("getitem", "next"))
            self.grant(value.value)
        elif isinstance(value, ast.BinOp):
            self.names.add(_OPERATORS.get(type(value.op), ""))
            self.grant(value.left)
            self.grant(value.right)
        elif isinstance(value, ast.UnaryOp):
            self.names.add(_OPERATORS.get(type(value.op), ""))
            self.grant(value.operand)
        else:
            self._grant_inner(value)

    def _grant_inner(self, value: ast.AST) -> None:
        if isinstance(value, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            self.grant(value.elt)
        elif isinstance(value, ast.IfExp):
            self.grant(value.body)
            self.grant(value.orelse)
        elif isinstance(value, ast.NamedExpr | ast.Starred | ast.Await):
            self.grant(value.value)

    def _grant_name(self, name: str) -> None:
        if name in self._reading.wanted:
            self.names.add(LOOKUP + name)
        if name in self._seen:
            return
        self._seen.add(name)
        for origin in self._reading.sources.get(name, ()):
            self.grant(origin)
        if name in self._reading.entered:
            self.names.add("__enter__")

    def _grant_call(self, call: ast.Call) -> None:
        function = call.func
        if isinstance(function, ast.Attribute):
            self.names.add(function.attr)
            if plain_attribute(function.attr):
                self.grant(function.value)
        elif isinstance(function, ast.Call):
            self.grant(function)
            self.names.add(_label(function))
        elif isinstance(function, ast.Name):
            self._grant_called_name(function.id, call)
        elif isinstance(function, ast.Subscript) and isinstance(function.value, ast.Name):
            self.names.update((function.value.id, function.value.id + "()"))

    def _grant_called_name(self, name: str, call: ast.Call) -> None:
        if name in self._reading.wanted:
            self.names.add(name)
        elif name in BUILTIN or name in ("deepcopy", "copy", "reduce", "chain", "islice"):
            self.names.add("next")  # sorted(x), list(x), next(x)
            for arg in call.args:
                self.grant(arg)
        for origin in self._reading.sources.get(name, ()):
            if isinstance(origin, ast.Call):
                self.names.add(_label(origin))
            elif isinstance(origin, ast.Attribute):
                self.names.add(origin.attr)


def _label(call: ast.Call) -> str:
    """What the judge calls the result of this call when it is called in turn."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id + "()"
    if isinstance(function, ast.Attribute):
        return function.attr + "()"
    return _label(function) + "()" if isinstance(function, ast.Call) else "()"
