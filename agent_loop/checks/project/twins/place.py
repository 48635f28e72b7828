"""From a node id to the place in the test's text."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent_loop.checks.project.source.shape import Definition

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeId:
    """One pytest node id, taken apart."""

    path: str
    parts: tuple[str, ...]
    """Classes, then the function; one dotted name for a doctest."""
    parameters: str
    """With its brackets, or nothing."""

    @classmethod
    def parse(cls, text: str) -> "NodeId":
        path, _, rest = text.partition("::")
        base, bracket, parameters = rest.partition("[")
        return cls(path=path, parts=tuple(base.split("::")), parameters=bracket + parameters)

    def at(self, path: str, parts: Sequence[str] | None = None) -> str:
        """The same test in another file, under other names if given."""
        return "::".join((path, *(parts or self.parts))) + self.parameters

    @property
    def function(self) -> tuple[str, tuple[str, ...]]:
        """What all parameter sets of one test share."""
        return self.path, self.parts


def find(tree: ast.Module, parts: Sequence[str]) -> Definition | None:
    """The function of a test, also one inherited from a class of the same file."""
    *outer, name = parts
    scope: Sequence[ast.stmt] = tree.body
    holder: ast.ClassDef | None = None
    for part in outer:
        holder = _last_class(scope, part)
        if holder is None:
            return None
        scope = holder.body
    found = _last_function(scope, name)
    if found is None and holder is not None:
        return _inherited(tree, holder, name, {holder.name})
    return found


def missing(tree: ast.Module, parts: Sequence[str]) -> Sequence[str]:
    """Those names of a test that its own file does not define."""
    scope: Sequence[ast.stmt] = tree.body
    for at, part in enumerate(parts[:-1]):
        holder = _last_class(scope, part)
        if holder is None:
            return parts[at:]
        scope = holder.body
    return () if find(tree, parts) else parts[-1:]


def imported(tree: ast.Module) -> set[str]:
    """Names of modules, and names taken from modules, in the import statements."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            dotted = [getattr(node, "module", None) or "", *(one.name for one in node.names)]
            found.update(part for name in dotted for part in name.split(".") if part)
    return found


def _inherited(
    tree: ast.Module, holder: ast.ClassDef, name: str, seen: set[str]
) -> Definition | None:
    for base in holder.bases:
        parent = _last_class(tree.body, base.id) if isinstance(base, ast.Name) else None
        if parent is None or parent.name in seen:
            continue
        seen.add(parent.name)
        found = _last_function(parent.body, name) or _inherited(tree, parent, name, seen)
        if found is not None:
            return found
    return None


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a scope, those under `if` and `try` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
            handlers = getattr(node, "handlers", [])
            yield from _flat([*inner, *(line for one in handlers for line in one.body)])


def _last_class(body: Sequence[ast.stmt], name: str) -> ast.ClassDef | None:
    found = [one for one in _flat(body) if isinstance(one, ast.ClassDef) and one.name == name]
    return found[-1] if found else None


def _last_function(body: Sequence[ast.stmt], name: str) -> Definition | None:
    found = [one for one in _flat(body) if isinstance(one, _DEFINITIONS) and one.name == name]
    return found[-1] if found else None


def reached(tree: ast.AST, start: Definition) -> tuple[Definition, ...]:
    """Functions of the file that a test may call: by name, over several steps."""
    named: dict[str, list[Definition]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS) and node is not start:
            named.setdefault(node.name, []).append(node)
    found: list[Definition] = []
    waiting = [start]
    while waiting:
        for name in identifiers(waiting.pop()):
            fresh = [one for one in named.pop(name, []) if not one.name.startswith("test")]
            found += fresh
            waiting += fresh
    return tuple(found)


def identifiers(node: ast.AST) -> set[str]:
    """Names, attributes and arguments (fixtures) that stand in a function."""
    found: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute):
            found.add(one.attr)
        elif isinstance(one, ast.arg):
            found.add(one.arg)
    return found


def static_tests(tree: ast.Module) -> tuple[tuple[str, ...], ...]:
    """Tests of a file that cannot be imported, by the usual names."""
    found: list[tuple[str, ...]] = []
    for node in _flat(tree.body):
        if isinstance(node, _DEFINITIONS) and node.name.startswith("test"):
            found.append((node.name,))
        elif isinstance(node, ast.ClassDef) and _holds_tests(node):
            found += [
                (node.name, one.name)
                for one in _flat(node.body)
                if isinstance(one, _DEFINITIONS) and one.name.startswith("test")
            ]
    return tuple(dict.fromkeys(found))


def _holds_tests(node: ast.ClassDef) -> bool:
    bases = [ast.unparse(base) for base in node.bases]
    return node.name.startswith("Test") or any(base.endswith("TestCase") for base in bases)
