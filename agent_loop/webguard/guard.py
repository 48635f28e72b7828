"""The guard: an ASGI application around another that lets nothing through unasked.

In this order: Host, method, where the request comes from, how often, login, and for everything
that is not a plain look: Origin, CSRF header, JSON, size. The first miss is the answer.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_loop.webguard import login
from agent_loop.webguard.answers import WebError, failed, page
from agent_loop.webguard.asking import Asking
from agent_loop.webguard.headers import guarded
from agent_loop.webguard.launch import Launch
from agent_loop.webguard.rate import Rate

CALLER = "agent_loop_caller"
"""Key in the ASGI scope: `person` (cookie) or `program` (API key)."""
BODY_WAIT_S = 10.0
_METHODS = frozenset({"GET", "HEAD", "POST"})
_HOME = "Open the address that the terminal printed, or start it again for a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much one launch takes."""

    body_bytes: int = 4_096
    wider: Mapping[str, int] = field(default_factory=dict)
    """Addresses whose bodies may be larger, in bytes."""
    requests_per_s: float = 300.0
    requests_burst: float = 1_000.0
    logins_per_s: float = 1.0
    logins_burst: float = 10.0


class Guard:
    """Wraps the application of one web door."""

    def __init__(
        self,
        app: ASGIApp,
        launch: Launch,
        *,
        bounds: Bounds | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        bounds = bounds or Bounds()
        self._app = app
        self._launch = launch
        self._bounds = bounds
        self._requests = Rate(bounds.requests_per_s, bounds.requests_burst, monotonic)
        self._logins = Rate(bounds.logins_per_s, bounds.logins_burst, monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or pass on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def answer(message: Message) -> None:
            await send(guarded(message) if message["type"] == "http.response.start" else message)

        asking = Asking.of(scope)
        try:
            given = self._admit(asking, scope)
            if given is not None:
                await given(scope, receive, answer)
                return
            body = await self._body(asking, receive) if asking.writes else receive
        except WebError as error:
            await _said(error, asking)(scope, receive, answer)
            return
        await self._app(scope, body, answer)

    def _admit(self, asking: Asking, scope: Scope) -> Response | None:
        """Our own answer, or `None` to pass on; refusals are raised."""
        self._check_host(asking)
        if asking.method not in _METHODS:
            raise WebError(405, "method", "Only GET and POST are known here.")
        if not self._requests.allows():
            raise WebError(429, "busy", "Too many requests; wait a second.", retry_after_s=1)
        if asking.path == login.PATH:
            return self._login(asking)
        _check_site(asking)
        scope[CALLER] = self._caller(asking)
        if asking.writes:
            self._check_write(asking, scope[CALLER])
        elif asking.has("origin"):
            self._check_origin(asking)
        return None

    # --- who, and from where

    def _check_host(self, asking: Asking) -> None:
        # A name that somebody else points at 127.0.0.1 (DNS rebinding) has another Host.
        if asking.one("host") not in self._launch.hosts:
            raise WebError(403, "host", "This is not the address of this page. " + _HOME)

    def _check_origin(self, asking: Asking) -> None:
        if asking.one("origin") != f"http://{asking.one('host')}":
            raise WebError(403, "origin", "Requests of other pages are refused.")

    def _caller(self, asking: Asking) -> str:
        words = (asking.one("authorization") or "").split(" ")
        if len(words) == 2 and words[0].lower() == "bearer":
            if self._launch.knows_key(words[1]):
                return "program"
            raise WebError(401, "key", "The API key is not the one of this server.")
        cookies = asking.cookies(self._launch.cookie_name)
        if not any(self._launch.knows_cookie(value) for value in cookies):
            raise WebError(401, "login", "You are not logged in. " + _HOME)
        return "person"

    def _login(self, asking: Asking) -> Response:
        if asking.writes:
            raise WebError(405, "method", "Logging in is a GET.")
        if not self._logins.allows():
            raise WebError(429, "busy", "Too many tries; wait a second.", retry_after_s=1)
        return login.answer(asking, self._launch)

    # --- what only writers need

    def _check_write(self, asking: Asking, caller: str) -> None:
        if caller == "person" or asking.has("origin"):
            self._check_origin(asking)
        if caller == "person" and not self._launch.knows_csrf(asking.one("x-csrf-token") or ""):
            raise WebError(403, "csrf", "The header X-CSRF-Token is missing or of another start.")
        kind = (asking.one("content-type") or "").split(";")[0].strip().lower()
        if kind != "application/json":
            raise WebError(415, "json", "Send JSON, with Content-Type: application/json.")

    async def _body(self, asking: Asking, receive: Receive) -> Receive:
        """Read the body here, never more than allowed, and hand it on as one piece."""
        most = self._bounds.wider.get(asking.path, self._bounds.body_bytes)
        length = asking.one("content-length") or "0"
        if not length.isascii() or not length.isdigit():
            raise WebError(400, "length", "Content-Length is no number.")
        if len(length) > 9 or int(length) > most:
            raise _too_large(most)
        body = b""
        with anyio.move_on_after(BODY_WAIT_S) as waiting:
            more = True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise WebError(400, "gone", "The request ended early.")
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > most:
                    raise _too_large(most)
        if waiting.cancelled_caught:
            raise WebError(408, "slow", f"The body took longer than {BODY_WAIT_S:.0f} seconds.")
        return _handed_on(body, receive)


def _check_site(asking: Asking) -> None:
    # Another port of this machine is the "same site": it gets our cookie, so ask the browser.
    if asking.one("sec-fetch-site") not in (None, "same-origin", "none"):
        raise WebError(403, "site", "Requests of other pages are refused.")


def _too_large(most: int) -> WebError:
    return WebError(413, "large", f"The body may have {most} bytes.")


def _handed_on(body: bytes, receive: Receive) -> Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _said(error: WebError, asking: Asking) -> Response:
    if asking.path.startswith("/api/") or asking.writes:
        answer = failed(error)
    else:
        answer = page(error.status, error.message)
    if error.status in (408, 413):
        answer.headers["Connection"] = "close"  # what is left of the body is not read
    return answer
