"""The secrets of one start of a web door: drawn anew each time, kept in memory only."""

import hashlib
import hmac
import secrets
import threading

MAX_LINKS = 8
"""Unused one-time links at a time: an older one stops working."""
SECRET_BYTES = 32


class Launch:
    """Who may come in. Any thread may ask."""

    def __init__(self, port: int, *, api_key: str | None = None) -> None:
        """`api_key`: lets programs in without a cookie; `None` lets none in."""
        self.port = port
        self.csrf = secrets.token_urlsafe(SECRET_BYTES)
        self.cookie_name = f"agent_loop_{port}"  # cookies do not know ports
        self.cookie = secrets.token_urlsafe(SECRET_BYTES)
        self._key = None if api_key is None else _digest(api_key)
        self._links: list[bytes] = []
        self._lock = threading.Lock()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Values of `Host` that are ours: any other name was pointed at us by somebody else."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def link(self) -> str:
        """A new address that logs in once."""
        token = secrets.token_urlsafe(SECRET_BYTES)
        with self._lock:
            self._links = [*self._links[1 - MAX_LINKS :], _digest(token)]
        return f"http://127.0.0.1:{self.port}/login?token={token}"

    def spend(self, token: str) -> bool:
        """Whether the token opens the door; it does so once."""
        given = _digest(token)
        with self._lock:
            left = [kept for kept in self._links if not hmac.compare_digest(kept, given)]
            opened = len(left) < len(self._links)
            self._links = left
        return opened

    def knows_cookie(self, value: str) -> bool:
        return _same(value, self.cookie)

    def knows_csrf(self, value: str) -> bool:
        return _same(value, self.csrf)

    def knows_key(self, value: str) -> bool:
        """Whether it is the key for programs."""
        return self._key is not None and hmac.compare_digest(_digest(value), self._key)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _same(one: str, other: str) -> bool:
    # Digests: `compare_digest` takes no text outside ASCII, and lengths are no secret then.
    return hmac.compare_digest(_digest(one), _digest(other))
