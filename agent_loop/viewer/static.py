"""The page's own files: a list made at start, no other name is looked at."""

import hashlib
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from agent_loop.webguard import WebError

FOLDER = Path(__file__).parents[1] / "dashboard" / "static"
_NAME = re.compile(r"(?:[a-z0-9_-]+/)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
INDEX = "index.html"


class Static:
    """Hands out the files under `folder`."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = {
            name: path
            for path in sorted([*folder.glob("*"), *folder.glob("*/*")])
            if path.is_file()
            and not path.is_symlink()
            and path.suffix in _TYPES
            and _NAME.fullmatch(name := path.relative_to(folder).as_posix())
        }

    def answer(self, name: str, request: Request) -> Response:
        """The file, or nothing new (304).

        Raises:
            WebError: the page has no such file (404).
        """
        path = self._files.get(name)
        if path is None:
            raise WebError(404, "file", "The page has no such file.")
        raw = path.read_bytes()
        tag = f'"{hashlib.sha256(raw).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(raw, headers=headers, media_type=_TYPES[path.suffix])
