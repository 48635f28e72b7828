"""Signals in a patch that a person must read before trusting its pass.

None of them refuses a patch: honest work on test tools uses the same names, and a hard rule
would only be written around. They say where to look.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_loop.checks.project.source.changes import SourceChange
from agent_loop.checks.project.source.data import dotted, more_than_data
from agent_loop.checks.project.source.text import Source, words
from agent_loop.ports import Look

_MODULES = words(
    "pytest _pytest unittest pluggy gc atexit ctypes signal inspect dis marshal subprocess "
    "multiprocessing linecache traceback importlib imp code codeop tracemalloc faulthandler "
    "hashlib zlib binascii hmac mock socket resource pdb bdb trace runpy pickle zipimport pkgutil"
)
_NAMES = words(
    "_exit abort fork forkpty kill killpg execv execve posix_spawn _getframe _current_frames "
    "settrace setprofile addaudithook f_back f_locals f_globals f_code f_lineno tb_frame gi_frame "
    "cr_frame co_consts __code__ __globals__ __closure__ modules meta_path path_hooks "
    "path_importer_cache exec eval __import__ import_module __file__ __builtins__ "
    "builtins environ getenv argv stack currentframe get_objects get_referrers get_referents "
    "setattr __setattr__ __dict__ __subclasses__ __mro__ __bases__ hash crc32 adler32 md5 sha1 "
    "sha256 blake2b getuid gethostname uname register_at_fork exitstatus excepthook "
    "unraisablehook displayhook __class__ ANY skip xfail importorskip SkipTest exit"
)
_METHODS = words(
    "__eq__ __ne__ __instancecheck__ __subclasscheck__ __bool__ __hash__ __getattribute__ "
    "__init_subclass__ __set_name__ __del__ __contains__ __lt__ __le__ __gt__ __ge__"
)
_TEXTS = (
    "pytest",
    "unittest",
    "junit",
    "conftest",
    "/proc/",
    "/sys/",
    ".dockerenv",
    "cgroup",
    "/tmp",  # noqa: S108 - a text to look for, not a path that is used
    "site-packages",
)
_SHORT_TEXT = 3
_SMALL_NUMBER = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Patched:
    """One changed Python file, before and after."""

    path: str
    old: Source | None
    new: Source
    change: SourceChange


def looks(files: Sequence[Patched], wanted_tests: Mapping[str, Source]) -> tuple[Look, ...]:
    """Every signal of the patch; `wanted_tests` are the test files with a wanted test."""
    expected = frozenset(
        literal for source in wanted_tests.values() for literal in _literals(source)
    )
    found: list[Look] = []
    for file in files:
        found += _risky(file)
        found += _shared_literals(file, expected)
        found += _import_time(file)
    return tuple(found)


def _import_time(file: Patched) -> list[Look]:
    return [
        Look(
            signal="import-time code is more than data",
            detail=f"{file.path}:{getattr(item.node, 'lineno', 0)}",
        )
        for item in more_than_data(file.change.added)
    ]


def _risky(file: Patched) -> list[Look]:
    fresh = _uses(file.new) - (_uses(file.old) if file.old else frozenset())
    if not fresh:
        return []
    return [Look(signal="risky new names", detail=f"{file.path}: {', '.join(sorted(fresh))}")]


def _shared_literals(file: Patched, expected: frozenset[str]) -> list[Look]:
    fresh = _literals(file.new) - (_literals(file.old) if file.old else frozenset())
    shared = sorted(fresh & expected)
    if not shared:
        return []
    shown = ", ".join(one[:60] for one in shared[:8])
    return [
        Look(signal="new literals that stand in the wanted tests", detail=f"{file.path}: {shown}")
    ]


def _walk(source: Source) -> list[ast.AST]:
    try:
        return list(ast.walk(source.tree()))
    except SyntaxError:
        return []


def _literals(source: Source) -> frozenset[str]:
    """Texts of three characters or more and numbers above sixteen; docstrings left out."""
    nodes = _walk(source)
    prose = {id(one.value) for one in nodes if isinstance(one, ast.Expr)}
    values = [one.value for one in nodes if isinstance(one, ast.Constant) and id(one) not in prose]
    return frozenset(repr(value) for value in values if _telling(value))


def _telling(value: object) -> bool:
    if isinstance(value, (str, bytes)):
        return len(value) >= _SHORT_TEXT
    if isinstance(value, bool) or not isinstance(value, (int, float, complex)):
        return False
    return abs(value) > _SMALL_NUMBER


def _uses(source: Source) -> frozenset[str]:
    found: set[str] = set()
    for node in _walk(source):
        found.update(_names_in(node))
    return frozenset(found)


def _names_in(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names if one.name.split(".")[0] in _MODULES]
    if isinstance(node, ast.ImportFrom):
        origin = [node.module] if node.module and node.module.split(".")[0] in _MODULES else []
        return [*origin, *(one.name for one in node.names if one.name in _NAMES)]
    if isinstance(node, ast.Name):
        return [node.id] if node.id in _NAMES | _METHODS | {"compile"} else []
    if isinstance(node, ast.Attribute):
        return [node.attr] if node.attr in _NAMES | _METHODS else _patches(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name] if node.name in _METHODS else []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [repr(node.value[:40])] if any(t in node.value.lower() for t in _TEXTS) else []
    return []


def _patches(node: ast.Attribute) -> list[str]:
    """An assignment to an attribute of something that is not `self` or `cls`."""
    base = dotted(node.value)
    if isinstance(node.ctx, ast.Store) and base and base.split(".")[0] not in ("self", "cls"):
        return [f"{base}.{node.attr} ="]
    return []
