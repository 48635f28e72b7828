"""Which files of a project are worth looking at, and the words in them."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_loop.context.symbols import SymbolReader, Symbols

MAX_FILE_BYTES = 1 << 20
_VENDORED = frozenset(
    {"node_modules", "vendor", "vendored", "_vendor", "third_party", "thirdparty", "site-packages",
     "dist", "build", "bower_components", ".git", "__pycache__", "coverage", "htmlcov"}
)  # fmt: skip
_LOCKS = re.compile(
    r"(?:^|/)(?:package-lock\.json|yarn\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|pnpm-lock\.yaml"
    r"|Cargo\.lock)$|\.min\.(?:js|css)$|\.(?:map|svg|csv|lock)$"
)
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,60}")
_PART = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")
_STOP = frozenset(
    """
    the and for that with this from have has not are was were will would should could can into when
    then than there their them they you your our its which what who how why all any each only also
    make makes made let must may fix fixed fixes fixing bug bugs error errors fail fails failing
    failed test tests def class return self none true false import assert raise code file files
    function functions method methods value values line lines use used uses using add new now
    """.split()  # noqa: SIM905 (a table of words reads better than a list)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A kind of file that is not shown at all, and how many of it there are."""

    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(slots=True)
class Cache:
    """What was read out of contents before, by their hash. Keep one for a run."""

    words: dict[bytes, Mapping[str, int]] = field(default_factory=dict)
    symbols: dict[bytes, Symbols] = field(default_factory=dict)
    parts: dict[bytes, frozenset[str]] = field(default_factory=dict)
    reader: SymbolReader = field(default_factory=SymbolReader)

    def words_of(self, key: bytes, data: bytes) -> Mapping[str, int]:
        """How often each word and each part of a name stands in a file, lower case."""
        if key not in self.words:
            counted: dict[str, int] = {}
            for raw, count in Counter(_WORD.findall(data)).items():
                for part in self._parts_of(raw):
                    counted[part] = counted.get(part, 0) + count
            self.words[key] = counted
        return self.words[key]

    def _parts_of(self, raw: bytes) -> frozenset[str]:
        known = self.parts.get(raw)
        if known is None:
            known = self.parts[raw] = frozenset(parts_of(raw.decode()))
        return known

    def symbols_of(self, path: str, data: bytes) -> Symbols:
        key = content_key(path, data)
        if key not in self.symbols:
            self.symbols[key] = self.reader.read(path, data)
        return self.symbols[key]


def content_key(path: str, data: bytes) -> bytes:
    """The suffix counts too: it decides the language."""
    return hashlib.blake2b(data, digest_size=16).digest() + path.rpartition(".")[2].encode()


def sort_out(files: Mapping[str, bytes]) -> tuple[dict[str, bytes], tuple[Skipped, ...]]:
    """Text files of the project itself, and counts of what was skipped."""
    kept: dict[str, bytes] = {}
    skipped: dict[str, list[str]] = {}
    for path in sorted(files):
        reason = _why_not(path)
        data = b"" if reason else files[path]
        reason = reason or _why_not_content(data)
        if reason:
            skipped.setdefault(reason, []).append(path)
        else:
            kept[path] = data
    return kept, tuple(
        Skipped(reason=reason, count=len(paths), examples=tuple(paths[:3]))
        for reason, paths in sorted(skipped.items())
    )


def _why_not(path: str) -> str:
    if _VENDORED.intersection(path.split("/")[:-1]):
        return "vendored or built"
    return "lock, data or minified file" if _LOCKS.search(path) else ""


def _why_not_content(data: bytes) -> str:
    if b"\0" in data[:8192]:
        return "binary"
    return "larger than 1 MiB" if len(data) > MAX_FILE_BYTES else ""


def words_in(text: str) -> Counter[str]:
    """Words of prose and the parts of names in it, lower case: `foldAccents` is fold, accents."""
    found: Counter[str] = Counter()
    for raw in _WORD.findall(text.encode("utf-8", "replace")):
        word = raw.decode()
        for part in parts_of(word):
            if part not in _STOP:
                found[part] += 1
    return found


def parts_of(word: str) -> set[str]:
    """A name whole and in parts, lower case."""
    return {word.lower(), *(part.lower() for part in _PART.findall(word))}
