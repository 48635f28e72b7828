"""The line of a test's file that failed: what it says, and what of the library it calls."""

import ast
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent_loop import syntax
from agent_loop.benchgen.bindings import bindings, names_in

_LINES, _LINE_CHARS = 16, 160
"""Of one statement that is shown."""
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a test's own file says at the line that failed."""

    statement: str
    claim: str
    asks_left: bool
    apis: tuple[str, ...]
    telling: Mapping[str, float]

    @classmethod
    def of(cls, source: bytes, test: str, line: int, packages: Sequence[str]) -> "Place":
        try:
            tree = syntax.parse(source)
        except (SyntaxError, ValueError):
            return cls(statement="", claim="", asks_left=False, apis=(), telling={})
        text = source.decode("utf-8", "replace")
        known = _imported(tree, packages)
        function = _function(tree, test)
        around, node = _found(tree, function, line)
        before = bindings(tree, around, node) if node is not None else []
        apis = tuple(
            dict.fromkeys(api for one in [node, *before] if one for api in _called(one, known))
        )
        if not apis and function is not None:
            apis = tuple(_called(function, known))
        if node is None or _only_says(node):
            before, node = [], None
        return cls(
            statement="\n".join(_text_of(one, text) for one in [*before, node] if one),
            claim=_claim_of(node, text),
            asks_left=_asks_left(node, known),
            apis=apis,
            telling=_telling(tree, known),
        )


def _found(
    tree: ast.Module, function: ast.AST | None, line: int
) -> tuple[ast.AST, ast.stmt | None]:
    """The statement of the line, and the smallest function it stands in."""
    around = _around(function or tree, line) or _around(tree, line) or function or tree
    return around, _statement(around, line)


def _only_says(node: ast.stmt) -> bool:
    """It was reached because something is wrong, and only passes that on."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _method(node.value) == "fail"
    never = isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant)
    return never or isinstance(node, ast.Raise)


def _claimed(node: ast.stmt | None) -> ast.expr | None:
    """What an assertion holds to be true, in the manner of pytest or of unittest."""
    if isinstance(node, ast.Assert):
        return node.test
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return None
    method, given = _method(node.value), node.value.args
    if method == "assertTrue" and given:
        return given[0]
    if method in ("assertEqual", "assertEquals") and len(given) > 1:
        return ast.Compare(left=given[0], ops=[ast.Eq()], comparators=[given[1]])
    return None


def _claim_of(node: ast.stmt | None, text: str) -> str:
    claimed = _claimed(node)
    if claimed is None or not names_in(claimed):
        return ""
    found = ast.get_source_segment(text, claimed) if isinstance(node, ast.Assert) else None
    return found if found and "\n" not in found else ast.unparse(claimed)


def _asks_left(node: ast.stmt | None, known: Mapping[str, str]) -> bool:
    said = _claimed(node)
    if not isinstance(said, ast.Compare):
        return False
    alone = len(said.ops) == 1 and isinstance(said.ops[0], ast.Eq | ast.Is)
    left, right = (set(_called(one, known)) for one in (said.left, said.comparators[0]))
    return alone and bool(left) and not right


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _telling(tree: ast.Module, known: Mapping[str, str]) -> dict[str, float]:
    """By name: larger the fewer tests of the file call it."""
    tests = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test")
    ]
    callers = Counter(name for one in tests for name in _called(one, known))
    return {name: math.log(1 + len(tests) / count) for name, count in callers.items()}


def _function(tree: ast.Module, test: str) -> ast.AST | None:
    """The test's own definition, by the names in its id."""
    parts = [one.partition("[")[0] for one in test.split("::")[1:]]
    here: ast.AST = tree
    for part in parts:
        inner = [
            one for one in ast.walk(here) if isinstance(one, _DEFINITIONS) and one.name == part
        ]
        if not inner:
            return None
        here = inner[0]
    return here if parts else None


def _around(tree: ast.AST, line: int) -> ast.AST | None:
    """The smallest function that holds the line."""
    found: ast.AST | None = None
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            holds = one.lineno <= line <= (one.end_lineno or one.lineno)
            found = one if holds else found
    return found


def _statement(tree: ast.AST, line: int) -> ast.stmt | None:
    """The smallest statement that holds the line; the head of a block stands for itself."""
    found: ast.stmt | None = None
    for one in ast.walk(tree):
        if not isinstance(one, ast.stmt) or isinstance(one, _DEFINITIONS):
            continue
        if one.lineno <= line <= (one.end_lineno or one.lineno):
            found = one
    return found


def _text_of(node: ast.stmt, text: str) -> str:
    lines = text.split("\n")
    first = node.lineno - 1
    last = node.end_lineno or node.lineno
    block = lines[first:last]
    indent = min((len(one) - len(one.lstrip()) for one in block if one.strip()), default=0)
    kept = [one[indent:].rstrip()[:_LINE_CHARS] for one in block[:_LINES]]
    if len(block) > _LINES:
        kept.append(f"# … {len(block) - _LINES} more lines")
    if isinstance(node, ast.Return):
        kept[0] = kept[0].removeprefix("return").lstrip()
    return "\n".join(kept)


def _imported(tree: ast.Module, packages: Sequence[str]) -> dict[str, str]:
    """Local name -> what a user of the library calls it."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            ours = node.level > 0 or module.partition(".")[0] in packages
            for one in node.names if ours else ():
                found[one.asname or one.name] = one.name
        elif isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] in packages:
                    local = one.asname or one.name.partition(".")[0]
                    found[local] = ""
    return found


def _called(node: ast.AST, known: Mapping[str, str]) -> Iterator[str]:
    """Names of the library in the order in which they are called."""
    seen: dict[str, None] = {}
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            dotted = _dotted(one.func)
            name = _public(dotted, known) if dotted else ""
            if name:
                seen[name] = None
        if isinstance(one, ast.Name) and known.get(one.id):
            seen.setdefault(known[one.id])
    yield from seen


def _dotted(node: ast.expr) -> list[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return []
    return [node.id, *reversed(parts)]


def _public(dotted: Sequence[str], known: Mapping[str, str]) -> str:
    """`take` for `toolz.itertoolz.take`; a module alone is no name to report about."""
    if dotted[0] not in known:
        return ""
    rest = [known[dotted[0]], *dotted[1:]] if known[dotted[0]] else list(dotted[1:])
    while len(rest) > 1 and rest[0].islower() and "_" not in rest[0] and len(rest) > 2:
        rest = rest[1:]
    return rest[-1] if rest and not rest[-1].startswith("_") else ""
