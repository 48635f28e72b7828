"""The way in: a token that works once becomes a cookie."""

import html
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from agent_loop.webguard.answers import WebError
from agent_loop.webguard.asking import Asking
from agent_loop.webguard.launch import Launch

PATH = "/login"
_HOP = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><p>{}</p>'


def answer(asking: Asking, launch: Launch) -> Response:
    """Set the cookie and go to the page.

    Raises:
        WebError: the token is wrong or was used.
    """
    given = parse_qs(asking.query, max_num_fields=4).get("token", [""])
    if asking.method == "HEAD" or asking.has("sec-purpose") or asking.has("purpose"):
        # A browser that fetches what is being typed would spend the token.
        raise WebError(405, "method", "A look ahead does not log in.")
    if len(given) != 1 or not launch.spend(given[0]):
        raise WebError(
            403, "token", "This login address was used already, or is of another start. Restart "
            "the program for a new one, or ask for one on the page that is logged in."
        )  # fmt: skip
    response = _way(asking)
    response.set_cookie(
        launch.cookie_name, launch.cookie, httponly=True, samesite="strict", path="/"
    )
    return response


def _way(asking: Asking) -> Response:
    """A browser that comes from another page would not send a strict cookie along a redirect."""
    if asking.one("sec-fetch-site") in (None, "none", "same-origin"):
        return RedirectResponse("/", 303)
    return Response(_HOP.format(html.escape("Logged in.")), media_type="text/html")
