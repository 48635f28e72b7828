"""Answers of arXiv kept on disk: its feed changes once a day, and a killed run asks only once."""

import base64
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agent_loop.paths import atomic_write

MAX_AGE_S = 24 * 3600.0
MAX_FILES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The body of one answer, and when it came."""

    body: bytes
    fetched_at: str
    """UTC, ISO 8601 with `Z`."""


class Cache:
    """One file for each request. A file that is damaged, too old or from the future is no file."""

    def __init__(
        self, folder: Path, *, max_age_s: float = MAX_AGE_S, wall: Callable[[], float] = time.time
    ) -> None:
        self._folder = folder
        self._max_age_s = max_age_s
        self._wall = wall

    def get(self, url: str) -> Stored | None:
        """The stored answer to this request, if it is young enough."""
        try:
            data = json.loads(self._path(url).read_bytes())
            body = base64.b64decode(data["body"], validate=True)
            age_s = self._wall() - float(data["at"])
            whole = hashlib.sha256(body).hexdigest() == data["sha256"] and data["url"] == url
            stored = Stored(body=body, fetched_at=str(data["fetched_at"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return stored if whole and 0 <= age_s <= self._max_age_s else None

    def put(self, url: str, body: bytes, fetched_at: str) -> None:
        """Keep an answer.

        Raises:
            OSError: the disk refused.
        """
        record = {
            "url": url,
            "at": self._wall(),
            "fetched_at": fetched_at,
            "sha256": hashlib.sha256(body).hexdigest(),
            "body": base64.b64encode(body).decode(),
        }
        atomic_write(self._path(url), json.dumps(record))
        self._sweep()

    def _path(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"

    def _sweep(self) -> None:
        files = sorted(self._folder.glob("*.json"), key=_changed)
        for path in files[: max(0, len(files) - MAX_FILES)]:
            path.unlink(missing_ok=True)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
