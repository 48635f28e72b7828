"""Signals that a person must read a pass before trusting it, from the asserts alone."""

import ast
from collections.abc import Iterator

from agent_loop.checks.code.names import BUILTIN
from agent_loop.checks.code.reading import Reading
from agent_loop.checks.code.sheet import Sheet
from agent_loop.ports import Look

NO_HIDDEN = Look(
    signal="no hidden tests",
    detail="a solution that only knows the shown answers would pass: add hidden_tests",
)


def looks_of(sheet: Sheet, reading: Reading) -> tuple[Look, ...]:
    """One look per weak assert; hidden ones are named by place, never quoted."""
    found: list[Look] = []
    for node in reading.nodes:
        if isinstance(node, ast.Assert):
            place = sheet.place(node.lineno)
            found += [
                Look(signal=signal, detail=f"{place}: {why}")
                for signal, why in _weak(node, reading)
            ]
    return tuple(dict.fromkeys(found))


def _weak(node: ast.Assert, reading: Reading) -> Iterator[tuple[str, str]]:
    if _constant(node, reading):
        yield "constant assert", "it holds or fails whatever the solution is"
    for test in ast.walk(node.test):
        if isinstance(test, ast.Compare) and len(test.comparators) == 1:
            yield from _weak_sides(test.left, test.comparators[0], node, reading)


def _weak_sides(
    one: ast.expr, two: ast.expr, node: ast.Assert, reading: Reading
) -> Iterator[tuple[str, str]]:
    left, right = (_calls(_with_sources(side, reading), reading) for side in (one, two))
    if left and right:
        yield "both sides ask the solution", "what is expected comes from the solution itself"
    elif left or right:
        given, other = (left, two) if left else (right, one)
        if _arguments(given, reading) & _read(other, node):
            yield "expected side reads an argument", "the solution may have changed it"


def _constant(node: ast.Assert, reading: Reading) -> bool:
    """`assert False` after a call that must raise is no weakness."""
    if isinstance(node.test, ast.Constant):
        return bool(node.test.value)
    return not any(
        isinstance(part, ast.Name) and part.id not in BUILTIN for part in ast.walk(node.test)
    ) and not reading.asks(node.test)


def _with_sources(side: ast.expr, reading: Reading) -> list[ast.expr]:
    """The side, and what the variables in it were given."""
    found, names = [side], {""}
    for part in found:
        for name in _names(part) - names:
            names.add(name)
            found += reading.sources.get(name, ())
    return found


def _calls(sides: list[ast.expr], reading: Reading) -> list[ast.Call]:
    """Calls of functions of the solution, `candidate` of a `check(candidate)` among them."""
    asked = reading.wanted | _parameters(reading)
    return [
        node
        for side in sides
        for node in ast.walk(side)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in asked
        and not reading.is_class_name(node.func.id)
    ]


def _parameters(reading: Reading) -> set[str]:
    """Parameters of functions of the asserts that are given a name of the solution."""
    functions = {n.name: n for n in reading.nodes if isinstance(n, ast.FunctionDef)}
    found: set[str] = set()
    for node in reading.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = functions.get(node.func.id)
            for at, value in enumerate(node.args if function else ()):
                named = isinstance(value, ast.Name) and value.id in reading.wanted
                if function and named and at < len(function.args.args):
                    found.add(function.args.args[at].arg)
    return found


def _arguments(calls: list[ast.Call], reading: Reading) -> set[str]:
    """Variables that were handed over; a constant cannot be changed."""
    values = [value for call in calls for value in (*call.args, *(k.value for k in call.keywords))]
    names = {name for value in values for name in _names(value)}
    return {name for name in names if not _stays(name, reading)}


def _stays(name: str, reading: Reading) -> bool:
    origins = reading.sources.get(name, [])
    return bool(origins) and all(isinstance(origin, ast.Constant) for origin in origins)


def _read(side: ast.expr, node: ast.Assert) -> set[str]:
    """Variables it reads, also those that a loop inside the assert runs over."""
    read = _names(side) - BUILTIN
    for part in ast.walk(node.test):
        if isinstance(part, ast.comprehension) and _names(part.target) & read:
            read |= _names(part.iter)
    return read


def _names(value: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
