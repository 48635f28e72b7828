"""How a web door says no."""

import json
from collections.abc import Mapping

from starlette.responses import PlainTextResponse, Response

from agent_loop.ports import Json


class WebError(Exception):
    """A request that is refused; every handler may raise it."""

    def __init__(
        self, status: int, code: str, message: str, *, retry_after_s: int | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s


def failed(error: WebError) -> Response:
    """The JSON of a refusal."""
    return refusal(error.status, error.code, error.message, retry_after_s=error.retry_after_s)


def refusal(status: int, code: str, message: str, *, retry_after_s: int | None = None) -> Response:
    """`{"error": {"code", "message"}}`."""
    fields: Mapping[str, Json] = {"error": {"code": code, "message": message}}
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    raw = json.dumps(fields, ensure_ascii=True).encode()
    return Response(raw, status, headers=headers, media_type="application/json")


def page(status: int, message: str) -> Response:
    """The same for a person who typed an address: plain text."""
    return PlainTextResponse(message + "\n", status)
