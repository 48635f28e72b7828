"""Writes a bug report from failing tests and what they said; never from the bug itself."""

import ast
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from agent_loop import syntax

SHOWN = 3
"""Examples in one report."""
_MESSAGE_LINES = 12
_LINE_CHARS = 160
_SETUP = 4
"""Statements shown before a failing one."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_RAISED = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*(?:Error|Exception|Exit|Warning|Interrupt|Iteration))\b"
)
_NOT_RAISED = re.compile(r"DID NOT RAISE .*?([A-Z]\w+)|^AssertionError: ([A-Z]\w+) not raised")
_CASE = re.compile(r"\[([^`\n]{1,60})\]$")
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_ITSELF = re.compile(r"^[ +]*where (?:<[\w ]+ ([\w.]+) at 0x…>|[\w.]+) = [\w.]+$")
_FUNCTION = re.compile(r"<(?:function|bound method|built-in \w+) ([\w.]+)[^<>]* at 0x…>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the solver of a task is told."""

    title: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.title}\n\n{self.body}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One failing check, as its user would see it."""

    test: str
    statement: str
    message: str
    apis: tuple[str, ...]
    """Names of the library that the statement calls, else those the test calls."""
    telling: Mapping[str, float]
    """How few of the file's tests call each of them: a helper of many tests is no subject."""

    @property
    def case(self) -> str:
        """The parameters of the test, as its id has them."""
        found = _CASE.search(self.test)
        return found[1] if found else ""

    @property
    def symptom(self) -> str:
        if found := _NOT_RAISED.search(self.message):
            return f"does not raise `{found[1] or found[2]}`"
        first = self.message.split("\n")[0]
        raised = _RAISED.match(first)
        if raised and raised[1] != "AssertionError":
            return f"raises `{raised[1]}`"
        return "gives a wrong result"


def examples(
    failures: Mapping[str, Mapping[str, Any]], read: Callable[[str], bytes], packages: Sequence[str]
) -> list[Example]:
    """The failing checks in the order of the tests, alike ones once."""
    found: dict[tuple[str, str], Example] = {}
    for name, failure in failures.items():
        path = name.partition("::")[0]
        place = Place.of(read(path), name, int(failure["line"]), packages)
        example = Example(
            test=name,
            statement=place.statement,
            message=cleaned(str(failure["message"])),
            apis=place.apis,
            telling=place.telling,
        )
        found.setdefault((example.statement, example.symptom), example)
    return list(found.values())


def cleaned(message: str) -> str:
    """Without addresses, and short."""
    lines = [_ADDRESS.sub("0x…", line.rstrip()) for line in message.split("\n")]
    lines = [_FUNCTION.sub(r"\1", line) for line in lines if not _ITSELF.match(line)]
    kept = [line[:_LINE_CHARS] + ("…" if len(line) > _LINE_CHARS else "") for line in lines]
    more = ["…"] if len(kept) > _MESSAGE_LINES else []
    return "\n".join([*kept[:_MESSAGE_LINES], *more]).strip()


@dataclass(frozen=True, slots=True)
class Place:
    """What a test's own file says at the line that failed."""

    statement: str
    apis: tuple[str, ...]
    telling: Mapping[str, float]

    @classmethod
    def of(cls, source: bytes, test: str, line: int, packages: Sequence[str]) -> "Place":
        try:
            tree = syntax.parse(source)
        except (SyntaxError, ValueError):
            return cls("", (), {})
        text = source.decode("utf-8", "replace")
        function = _function(tree, test)
        known = _imported(tree, packages)
        node = _statement(function or tree, line)
        before = _bindings(function, node) if function is not None and node is not None else []
        statement = "\n".join(_text_of(one, text) for one in [*before, node] if one is not None)
        apis = tuple(
            dict.fromkeys(api for one in [node, *before] if one for api in _called(one, known))
        )
        if not apis and function is not None:
            apis = tuple(_called(function, known))
        return cls(statement, apis, _telling(tree, known))


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


def _statement(tree: ast.AST, line: int) -> ast.stmt | None:
    """The smallest statement that holds the line; the head of a block stands for itself."""
    found: ast.stmt | None = None
    for one in ast.walk(tree):
        if not isinstance(one, ast.stmt) or isinstance(one, _DEFINITIONS):
            continue
        if one.lineno <= line <= (one.end_lineno or one.lineno):
            found = one
    return found


def _bindings(function: ast.AST, node: ast.stmt) -> list[ast.stmt]:
    """Statements of the test before `node` that give a meaning to the names it uses."""
    body = [one for one in getattr(function, "body", []) if one.lineno < node.lineno]
    needed = _names_in(node)
    found: list[ast.stmt] = []
    for one in reversed(body):
        bound = _bound_by(one)
        if bound & needed and len(found) < _SETUP and not isinstance(one, ast.ClassDef):
            found.append(one)
            needed |= _names_in(one)
    return list(reversed(found))


def _names_in(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _bound_by(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def _text_of(node: ast.stmt, text: str) -> str:
    lines = text.split("\n")
    first = node.lineno - 1
    last = node.end_lineno or node.lineno
    block = lines[first:last]
    indent = min((len(one) - len(one.lstrip()) for one in block if one.strip()), default=0)
    kept = [one[indent:].rstrip()[:_LINE_CHARS] for one in block[:_MESSAGE_LINES]]
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


def subject(found: Sequence[Example]) -> str:
    """The public name the report is about: the one that most failing checks have in common."""
    score: dict[str, float] = defaultdict(float)
    for one in found:
        words = set(re.split(r"[^a-z0-9]+|_", one.test.rpartition("::")[2].lower()))
        for rank, name in enumerate(one.apis[:6]):
            named = name.lower() in one.test.lower() or name.lower() in words
            points = 4 - min(rank, 3) + (6 if named else 0)
            score[name] += points * one.telling.get(name, 1.0)
    best = sorted(score.items(), key=lambda pair: (-pair[1], pair[0]))
    return best[0][0] if best else ""


_OPENINGS = {
    "gives a wrong result": (
        "`{api}` does not return what it should.",
        "The result of `{api}` is wrong in the case below.",
        "I get an unexpected value from `{api}`.",
    ),
    "raises": (
        "Using `{api}` ends in an exception that should not be there.",
        "`{api}` fails where it used to work.",
    ),
    "does not raise": (
        "`{api}` accepts what it should refuse.",
        "An error that callers of `{api}` count on is not raised.",
    ),
}


def write_report(found: Sequence[Example], package: str, pick: int) -> Report:
    """Title, opening and up to `SHOWN` examples.

    Args:
        found: the failing checks, at least one.
        package: what the library is called, for a report that no name fits.
        pick: chooses among phrasings.
    """
    api = subject(found)
    first = next((one for one in found if api in one.apis), found[0])
    symptom = first.symptom
    phrases = next(texts for start, texts in _OPENINGS.items() if symptom.startswith(start))
    if api:
        title = f"`{api}` {symptom}"
        opening = phrases[pick % len(phrases)].format(api=api)
    else:
        title = f"{package}: {_plural(found)} {symptom}"
        opening = f"Something in {package} does not behave as documented."
    shown = [first, *(one for one in found if one is not first)][:SHOWN]
    parts = [opening, *map(_shown, shown)]
    if len(found) > SHOWN:
        more = len(found) - SHOWN
        parts.append(f"{more} more check{'s' * (more > 1)} fail{'s' * (more == 1)} similarly.")
    parts.append("Find the cause and mend it; what works now has to go on working.")
    return Report(title=title, body="\n\n".join(parts))


def _plural(found: Sequence[Example]) -> str:
    module = PurePosixPath(found[0].test.partition("::")[0]).stem
    words = module.removeprefix("test_").removesuffix("_test").replace("_", " ")
    return f"one of the {words} features" if words else "a feature"


def _shown(one: Example) -> str:
    parts = []
    if one.statement:
        holds = "hold" if "assert" in one.statement.lower() else "work"
        case = f" for the case `{one.case}`" if one.case else ""
        parts.append(f"This should {holds}{case}:\n\n```python\n{one.statement}\n```")
    if one.message:
        instead = "Instead" if one.statement else "A check says"
        parts.append(f"{instead}:\n\n```\n{one.message}\n```")
    return "\n\n".join(parts)


def package_of(path: str) -> str:
    """The top-level name that a file of the library is imported by."""
    return path.removeprefix("src/").split("/")[0].removesuffix(".py")
