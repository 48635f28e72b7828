"""The application of a web door: addresses, the page's files, and one shape for every error."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from anyio.to_thread import run_sync
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from agent_loop.viewer.static import INDEX, Static
from agent_loop.webguard import WebError, failed, refusal


def make_app(
    title: str,
    version: str,
    routers: Sequence[APIRouter],
    static: Static,
    *,
    at_end: Callable[[], None] = lambda: None,
) -> FastAPI:
    """Routers beside the page. No pages of documentation: they would load scripts from outside.

    `at_end` is called when the server stops.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_sync(at_end)

    app = FastAPI(
        title=title,
        version=version,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    for router in routers:
        app.include_router(router)
    app.include_router(_page(static))
    app.add_exception_handler(WebError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _bug)
    return app


def _page(static: Static) -> APIRouter:
    made = APIRouter(include_in_schema=False)

    def index(request: Request) -> Response:
        return static.answer(INDEX, request)

    def file(name: str, request: Request) -> Response:
        return static.answer(name, request)

    made.add_api_route("/", index, methods=["GET"], response_class=Response)
    made.add_api_route("/static/{name:path}", file, methods=["GET"], response_class=Response)
    return made


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, WebError)  # noqa: S101 - FastAPI's types know no narrower one
    return failed(error)


def _invalid(_: Request, error: Exception) -> Response:
    """What was wrong, without repeating what was sent."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0] if error.errors() else {"loc": (), "msg": "invalid"}
    place = [str(part)[:50] for part in first["loc"]]
    status = 422 if place[:1] == ["body"] else 400
    return refusal(status, "invalid", f"{'.'.join(place)[:200]}: {str(first['msg'])[:200]}")


def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    code = {404: "address", 405: "method"}.get(error.status_code, "http")
    return refusal(error.status_code, code, str(error.detail)[:200])


def _bug(_: Request, error: Exception) -> Response:
    return refusal(500, "bug", f"An error of ours: {type(error).__name__}.")
