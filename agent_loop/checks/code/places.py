"""Library modules in the asserts that reach into the process they run in."""

import ast
from collections.abc import Callable, Iterator

from agent_loop.checks.code.reading import Reading

Hits = Iterator[tuple[ast.AST, str]]

_INTROSPECTING = frozenset(
    "inspect dis gc ctypes tracemalloc weakref pickle importlib subprocess threading concurrent "
    "multiprocessing asyncio signal unittest builtins socket logging io tempfile shutil sqlite3 "
    "contextvars faulthandler".split()
)
"""Whatever is used of them, it means the process that the solution runs in."""
_HARMLESS = {
    "sys": frozenset(
        "maxsize getsizeof float_info int_info version_info version maxunicode".split()
    ),
    "os": frozenset("path sep linesep pathsep extsep curdir pardir".split()),
}
"""Of these modules only some names mean the same everywhere."""
_FOREIGN = {
    "random": frozenset(("seed", "setstate", "getstate")),
    "contextlib": frozenset(("redirect_stdout", "redirect_stderr", "chdir")),
    "warnings": frozenset(("catch_warnings", "simplefilter", "filterwarnings", "warn")),
    "time": frozenset(("tzset",)),
    "locale": frozenset(("setlocale",)),
    "decimal": frozenset(("getcontext", "setcontext", "localcontext")),
    "dataclasses": frozenset("asdict astuple replace fields is_dataclass".split()),
    "pathlib": frozenset(("cwd", "home")),
}
"""Names that act on the process; the rest of these modules is harmless."""
_FILES = frozenset(
    "write_text write_bytes read_text read_bytes mkdir unlink touch exists is_file is_dir iterdir "
    "glob rglob stat rename resolve rmdir".split()
)


def _imports(reading: Reading) -> Hits:
    for node in reading.nodes:
        for module, names in _imported(node):
            top = module.partition(".")[0]
            if top in _INTROSPECTING:
                yield node, f"imports {top}, which means the process the solution runs in"
            allowed = _HARMLESS.get(top)
            for name in names:
                if name in _FOREIGN.get(top, ()) or (allowed is not None and name not in allowed):
                    yield node, f"{top}.{name} means the process the solution runs in"


def _imported(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    if isinstance(node, ast.Import):
        yield from ((alias.name, []) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or "", [alias.name for alias in node.names]


def _names(reading: Reading) -> dict[str, str]:
    """Local name -> module, for every module the asserts can name."""
    found = {name: name for name in reading.modules}
    for node in reading.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[(alias.asname or alias.name).partition(".")[0]] = alias.name
    return found


def _dotted(reading: Reading) -> Hits:
    known = _names(reading)
    for node in reading.nodes:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        top = known.get(node.value.id, "").partition(".")[0]
        allowed = _HARMLESS.get(top)
        inward = top in _INTROSPECTING or node.attr in _FOREIGN.get(top, ())
        if top and (inward or (allowed is not None and node.attr not in allowed)):
            yield node, f"{top}.{node.attr} means the process the solution runs in"


def _patches(reading: Reading) -> Hits:
    known = _names(reading)
    for node in reading.nodes:
        stored = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        owner = node.value if isinstance(node, ast.Attribute) and stored else None
        if isinstance(owner, ast.Name) and owner.id in known:
            yield node, f"patches {ast.unparse(node)}, which the solution would not see"


def _files(reading: Reading) -> Hits:
    if not any("pathlib" in module for node in reading.nodes for module, _ in _imported(node)):
        return
    for node in reading.nodes:
        if isinstance(node, ast.Attribute) and node.attr in _FILES:
            yield node, f".{node.attr} means files that the solution does not see"


LIBRARY_RULES: tuple[Callable[[Reading], Hits], ...] = (
    _imports,
    _dotted,
    _patches,
    _files,
)
