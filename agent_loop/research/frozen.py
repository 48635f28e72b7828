"""A search kept in a file, so that a task repeats offline; its content is pinned by hash."""

import hashlib
import json
from pathlib import Path

from agent_loop.errors import TaskFileError
from agent_loop.paths import atomic_write
from agent_loop.research.papers import Search, from_json, to_json

VERSION = 1
MAX_BYTES = 64 << 20
"""30 papers with their full text."""
_FIX = "Freeze the search again (--freeze FILE), or give the task no 'papers:' line."


def dumps(search: Search) -> str:
    """The file's text."""
    content = to_json(search)
    record = {"version": VERSION, "sha256": digest(search), "search": content}
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def digest(search: Search) -> str:
    """SHA-256 over everything that a judgement can depend on."""
    text = json.dumps(to_json(search), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def save(path: Path, search: Search) -> str:
    """Write the file whole; gives its digest.

    Raises:
        OSError: the disk refused.
    """
    atomic_write(path, dumps(search))
    return digest(search)


def load(path: Path, *, query: str | None = None) -> Search:
    """Read a frozen search, and check that it is whole and answers `query`.

    Raises:
        TaskFileError: it is missing, damaged, changed by hand, or of another query.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise TaskFileError(str(path), f"is larger than {MAX_BYTES >> 20} MiB", _FIX)
        data = json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise TaskFileError(str(path), f"cannot be read ({error.strerror})", _FIX) from None
    except (ValueError, RecursionError) as error:
        raise TaskFileError(str(path), f"is no frozen search: {_short(error)}", _FIX) from None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise TaskFileError(str(path), f"is no frozen search of version {VERSION}", _FIX)
    try:
        search = from_json(data.get("search"))
    except ValueError as error:
        raise TaskFileError(str(path), f"is no frozen search: {_short(error)}", _FIX) from None
    if digest(search) != data.get("sha256"):
        raise TaskFileError(str(path), "was changed after it was frozen: its hash differs", _FIX)
    if query is not None and search.query != query:
        raise TaskFileError(
            str(path), f"was frozen for another query: {search.query[:200]!r}", _FIX
        )
    return search


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _short(error: Exception) -> str:
    return str(error)[:200]
