"""What stands before the server over HTTP: address, origin and key, before anything is read."""

from collections.abc import Callable

import anyio.to_thread
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_loop.webguard import Launch
from agent_loop.webguard.asking import Asking

SESSION = "mcp-session-id"


class Door:
    """Wraps the MCP application. No browser page may ask, and no program without the key."""

    def __init__(self, app: ASGIApp, launch: Launch, left: Callable[[str], None]) -> None:
        """`left` is told the id of a session that its client ended."""
        self._app, self._launch, self._left = app, launch, left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        asking = Asking.of(scope)
        if refused := self._refusal(asking):
            await PlainTextResponse(refused[1], status_code=refused[0])(scope, receive, send)
            return
        ended = False

        async def watch(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start" and asking.method == "DELETE":
                ended = message["status"] < 300
            await send(message)

        await self._app(scope, receive, watch)
        session = asking.one(SESSION)
        if ended and session:
            await anyio.to_thread.run_sync(self._left, session)

    def _refusal(self, asking: Asking) -> tuple[int, str] | None:
        host = asking.one("host")
        if host not in self._launch.hosts:
            return 403, "This is not the address of this server."
        if asking.has("origin") and asking.one("origin") != f"http://{host}":
            return 403, "Requests of other pages are refused."
        if asking.one("sec-fetch-site") not in (None, "same-origin", "none"):
            return 403, "Requests of other pages are refused."
        words = (asking.one("authorization") or "").split(" ")
        if len(words) != 2 or words[0].lower() != "bearer" or not self._launch.knows_key(words[1]):
            return 401, "Send the key of this server: Authorization: Bearer KEY."
        return None
