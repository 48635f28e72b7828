"""Files and lines that a task, a test id or a traceback names."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

_FRAME = re.compile(r'File "([^"\n]{1,300})", line (\d{1,7})')
_SPLIT = re.compile(r"[\s\"'`()<>\[\]{},;=|*]+")
_SUFFIX = re.compile(r"\.\w{1,8}$")
_MAX_PATH_CHARS = 300
_NODE_NAME = re.compile(r"::(\w{1,100})")
_IMPORT = re.compile(
    rb"^\s*(?:from\s+([.\w]{1,200})\s+import\s+\(?([\w ,*]{0,500})|import\s+([\w., ]{1,300}))", re.M
)
_JS_IMPORT = re.compile(rb"""(?:from|require\(|import\()\s*["']([^"'\n]{1,200})["']""")


class Paths:
    """Finds project files by the paths that other programs print."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = files
        self._by_name: dict[str, list[str]] = {}
        for path in files:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def find(self, printed: str) -> str | None:
        """`/work/pkg/a.py`, `./pkg/a.py` or `a.py` for `pkg/a.py`; only one file may fit."""
        plain = printed.replace("\\", "/").removeprefix("./")
        if plain in self._files:
            return plain
        fitting = [
            known
            for known in self._by_name.get(plain.rpartition("/")[2], ())
            if plain.endswith("/" + known) or known.endswith("/" + plain)
        ]
        if len(fitting) > 1:
            # A longer path that ends in several known ones means the longest of them.
            inner = [known for known in fitting if plain.endswith("/" + known)]
            fitting = [max(inner, key=len)] if inner else fitting
        return fitting[0] if len(fitting) == 1 else None


def lines_named(text: str, paths: Paths) -> dict[str, list[int]]:
    """Files of a traceback with their lines, in order of appearance."""
    found: dict[str, list[int]] = {}
    places = [*_FRAME.findall(text), *((path, line) for path, line in _tokens(text) if line)]
    for printed, line in places:
        path = paths.find(printed)
        if path is not None and int(line) not in found.setdefault(path, []):
            found[path].append(int(line))
    return found


def files_named(text: str, paths: Paths) -> set[str]:
    """Files whose path or name stands in a text."""
    return {path for printed, _ in _tokens(text) if (path := paths.find(printed)) is not None}


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Words that could be paths, with the line number behind them or an empty text."""
    for word in _SPLIT.split(text):
        if not 2 < len(word) <= _MAX_PATH_CHARS:
            continue
        pieces = word.split("::")[0].rstrip(".:").split(":")
        # A drive letter is no line number.
        path = ":".join(pieces[:2]) if len(pieces[0]) == 1 and len(pieces) > 1 else pieces[0]
        rest = pieces[2:] if path != pieces[0] else pieces[1:]
        line = rest[0] if rest and rest[0].isdecimal() and len(rest[0]) < 8 else ""
        if _SUFFIX.search(path[-9:]):
            yield path, line


def names_of_tests(node_ids: Sequence[str]) -> set[str]:
    """Names of test functions and classes out of pytest's ids."""
    return {name for node in node_ids for name in _NODE_NAME.findall(node)}


def imported(path: str, data: bytes, files: Mapping[str, bytes]) -> set[str]:
    """Project files that a Python or JavaScript file imports, as far as its text says."""
    if path.endswith((".js", ".mjs", ".cjs", ".jsx")):
        return _imported_js(path, data, files)
    found: set[str] = set()
    for module, names, plain in _IMPORT.findall(data):
        if module:
            base = module.decode()
            found |= _module_files(base, path, files)
            for name in names.decode().split(","):
                inner = name.strip().split(" ")[0]
                if inner:
                    found |= _module_files(
                        f"{base}.{inner}" if base != "." else f".{inner}", path, files
                    )
        for name in plain.decode().split(","):
            if name.strip():
                found |= _module_files(name.strip().split(" ")[0], path, files)
    return found - {path}


def _module_files(module: str, importer: str, files: Mapping[str, bytes]) -> set[str]:
    dots = len(module) - len(module.lstrip("."))
    below = module.lstrip(".").replace(".", "/")
    if dots:
        folder = importer.split("/")[:-dots] if dots else []
        roots = ["/".join(folder)]
    else:
        roots = ["", "src", importer.partition("/")[0]]
    found: set[str] = set()
    for root in roots:
        stem = "/".join(part for part in (root, below) if part)
        for candidate in (f"{stem}.py", f"{stem}/__init__.py"):
            if candidate in files:
                found.add(candidate)
    return found


def _imported_js(path: str, data: bytes, files: Mapping[str, bytes]) -> set[str]:
    found: set[str] = set()
    folder = path.split("/")[:-1]
    for raw in _JS_IMPORT.findall(data):
        module = raw.decode("utf-8", "replace")
        if not module.startswith("."):
            continue
        parts = list(folder)
        for part in module.split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part != ".":
                parts.append(part)
        stem = "/".join(parts)
        for candidate in (stem, f"{stem}.js", f"{stem}.mjs", f"{stem}/index.js"):
            if candidate in files:
                found.add(candidate)
    return found
