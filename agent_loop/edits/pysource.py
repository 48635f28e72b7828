"""Python text: does it parse, what does it define, and the small mends that make it parse."""

import ast
import textwrap
from dataclasses import dataclass

from agent_loop import syntax

MAX_CODE_CHARS = 1_000_000
# What keyboards and chat windows put where Python wants plain characters.
_PLAIN = {
    0xA0: " ", 0x3000: " ", 0x2007: " ", 0x202F: " ",
    0x200B: None, 0x200C: None, 0x200D: None, 0x2060: None, 0xFEFF: None,
    0x201C: '"', 0x201D: '"', 0x2018: "'", 0x2019: "'",
    0xFF08: "(", 0xFF09: ")", 0xFF1A: ":", 0xFF0C: ",", 0xFF1D: "=",
    0x2212: "-", 0x2013: "-", 0x2026: "...",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Why a text is not Python."""

    line: int
    problem: str


def parse(text: str) -> ast.Module | Broken:
    """The syntax tree, or what is wrong with the text. Never raises."""
    return _parsed(text)


def parse_bytes(data: bytes) -> ast.Module | Broken:
    """As `parse`, for a file: its byte-order mark and coding line count."""
    return _parsed(data)


def _parsed(text: str | bytes) -> ast.Module | Broken:
    if len(text) > MAX_CODE_CHARS:
        return Broken(line=1, problem=f"longer than {MAX_CODE_CHARS} characters")
    try:
        return syntax.parse(text)
    except SyntaxError as problem:
        return Broken(line=problem.lineno or 1, problem=problem.msg or "invalid syntax")
    except (ValueError, RecursionError, MemoryError, OverflowError) as problem:
        return Broken(line=1, problem=str(problem)[:200] or "nested too deeply")


def meaning(data: bytes) -> bytes:
    """The same bytes for texts that differ only in comments, blanks and layout."""
    tree = parse_bytes(data)
    if isinstance(tree, Broken):
        return data
    try:
        return ast.dump(tree).encode("utf-8", "replace")
    except RecursionError:
        return data


def is_python(text: str) -> bool:
    return isinstance(parse(text), ast.Module)


def defined_names(tree: ast.Module) -> frozenset[str]:
    """Functions, classes and variables bound at top level, one level of `if`/`try` included."""
    names: set[str] = set()
    for node in _top_statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return frozenset(names)


def members(tree: ast.Module) -> frozenset[str]:
    """Names bound at top level, and methods as `Class.method`."""
    methods = {
        f"{node.name}.{member.name}"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for member in node.body
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return defined_names(tree) | methods


def holds_definition(tree: ast.Module) -> bool:
    """A function, a class or a lambda bound to a name: something that asserts could call."""
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        or (isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda))
        for node in _top_statements(tree)
    )


def only_prepares(tree: ast.Module) -> bool:
    """Nothing but imports and assignments of literals: what a solution may have beside it."""
    return bool(tree.body) and all(
        isinstance(node, ast.Import | ast.ImportFrom)
        or (
            isinstance(node, ast.Assign)
            and not any(isinstance(part, ast.Call) for part in ast.walk(node))
        )
        for node in tree.body
    )


def only_tests(tree: ast.Module) -> bool:
    """Test functions and test classes, and no other definition."""
    names = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    return bool(names) and all(name.startswith(("test_", "Test")) for name in names)


def _top_statements(tree: ast.Module) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.If | ast.Try):
            found.extend(node.body)
            found.extend(node.orelse)
        found.append(node)
    return found


def mend(text: str) -> tuple[str, str] | None:
    """The first small change that makes a text Python: (text, what was done)."""
    for change, note in (
        (_dedented, "took common indentation off"),
        (_without_prompts, "took >>> prompts off"),
        (_plain, "replaced typographic characters"),
        (_untabbed, "expanded tabs"),
        (_without_tail, "left out text after the code"),
    ):
        changed = change(text)
        if changed is not None and changed != text and is_python(changed):
            return changed, note
    return None


def _dedented(text: str) -> str:
    return textwrap.dedent(text)


def _plain(text: str) -> str:
    return textwrap.dedent(text.translate(_PLAIN))


def _untabbed(text: str) -> str:
    return "\n".join(line.expandtabs(4) for line in text.split("\n"))


def _without_prompts(text: str) -> str | None:
    lines = text.split("\n")
    if not any(line.startswith(">>> ") for line in lines):
        return None
    return "\n".join(
        line[4:] for line in lines if line.startswith((">>> ", "... ")) or line == "..."
    )


def _without_tail(text: str) -> str | None:
    """The longest run of whole statements from the start, if no definition is lost by it."""
    lines = text.split("\n")
    for _ in range(8):
        broken = parse("\n".join(lines))
        if isinstance(broken, ast.Module):
            return "\n".join(lines)
        cut = min(max(broken.line - 1, 0), len(lines) - 1)
        while cut > 0 and lines[cut][:1] in ("", " ", "\t", "#", ")", "]", "}"):
            cut -= 1
        if cut <= 0 or any(starts_definition(line) for line in lines[cut:]):
            return None
        lines = lines[:cut]
    return None


def starts_definition(line: str) -> bool:
    return line.startswith(("def ", "class ", "async def ", "@"))


def starts_code(line: str) -> bool:
    return starts_definition(line) or line.startswith(("import ", "from ", ">>> def "))
