"""One request as the guard reads it: raw headers, nothing guessed."""

from dataclasses import dataclass, field

from starlette.types import Scope

MAX_HEADER_CHARS = 8_192


@dataclass(slots=True)
class Asking:
    """Method, path and headers; a header that stands twice is no answer to anything."""

    method: str
    path: str
    query: str
    _headers: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, scope: Scope) -> "Asking":
        """From an ASGI scope."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        query = scope.get("query_string", b"").decode("latin-1")
        return cls(scope["method"], scope["path"], query, headers)

    def one(self, name: str) -> str | None:
        """The header's value; `None` where it is missing or stands several times."""
        values = self._headers.get(name, [])
        return values[0] if len(values) == 1 and len(values[0]) <= MAX_HEADER_CHARS else None

    def has(self, name: str) -> bool:
        return name in self._headers

    def cookies(self, name: str) -> list[str]:
        """Every value sent under the name: another port of this machine may have set one too."""
        found = []
        for header in self._headers.get("cookie", []):
            for part in header[:MAX_HEADER_CHARS].split(";"):
                key, _, value = part.strip().partition("=")
                if key == name:
                    found.append(value)
        return found

    @property
    def writes(self) -> bool:
        return self.method not in ("GET", "HEAD")
