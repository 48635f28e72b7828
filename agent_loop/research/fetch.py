"""One GET from a server that is not trusted: bounded in time, bytes and redirects."""

import contextlib
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import cast
from urllib.parse import urljoin

import httpcore
import httpx

from agent_loop.research.hosts import server

MAX_REDIRECTS = 3


class NotFetched(Exception):
    """The request failed. `again`: it may work soon; `after_s`: the server said when."""

    def __init__(self, problem: str, *, again: bool = False, after_s: float | None = None) -> None:
        super().__init__(problem)
        self.again = again
        self.after_s = after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one request may take."""

    connect_s: float = 10.0
    read_s: float = 30.0
    """Longest gap between two pieces."""
    total_s: float = 90.0
    max_bytes: int = 4 << 20
    """30 abstracts with everything around them are 0.3 MB."""


Take = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """How a GET is made."""

    types: frozenset[str]
    """Content types that are taken."""
    agent: str
    before: Callable[[], None]
    """Runs before every request, those to a redirect's target too."""
    after: Callable[[], None]
    bounds: Bounds = Bounds()


def get(url: str, request: Request, take: Take) -> None:
    """GET `url`, giving each piece of the body to `take`.

    Raises:
        NotFetched: says what happened.
    """
    for _ in range(MAX_REDIRECTS + 1):
        request.before()
        try:
            target = _once(url, request, take)
        finally:
            request.after()
        if target is None:
            return
        url = target
    raise NotFetched(f"it redirects more than {MAX_REDIRECTS} times")


def _once(url: str, request: Request, take: Take) -> str | None:
    """One request; gives where it redirects to."""
    bounds = request.bounds
    headers = {
        "User-Agent": request.agent,
        "Accept-Encoding": "identity",
        "Accept": ", ".join(sorted(request.types)),
    }
    timeout = httpx.Timeout(bounds.read_s, connect=bounds.connect_s)
    # A proxy of the environment is for the world outside, never for this machine.
    loopback = server(url).loopback
    with _Watch(bounds.total_s) as watch:
        try:
            with (
                httpx.Client(timeout=timeout, trust_env=not loopback) as client,
                client.stream(
                    "GET", url, headers=headers, extensions={"trace": watch.hear}
                ) as response,
            ):
                if response.is_redirect:
                    return _redirect(url, response)
                _check_status(response)
                _check_type(response, request.types)
                _take_body(response, take, bounds)
            if watch.fired:  # without a length, a connection that was cut looks like the end
                raise NotFetched(_late(bounds), again=True)
        except httpx.TimeoutException:
            raise NotFetched(
                f"it did not answer in time (connect {bounds.connect_s:g} s, silence "
                f"{bounds.read_s:g} s)",
                again=True,
            ) from None
        except httpx.HTTPError as error:
            if watch.fired:
                raise NotFetched(_late(bounds), again=True) from None
            raise NotFetched(f"the connection failed ({_said(error)})", again=True) from None
    return None


def _late(bounds: Bounds) -> str:
    return f"its answer took longer than {bounds.total_s:g} s"


class _Watch:
    """Cuts a connection after a time: httpx only limits gaps, so a byte now and then would do."""

    def __init__(self, total_s: float) -> None:
        self.fired = False
        self._streams: list[httpcore.NetworkStream] = []
        self._timer = threading.Timer(total_s, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> "_Watch":
        self._timer.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def hear(self, event: str, info: dict[str, object]) -> None:
        """Learns of each connection as it is made."""
        stream = info.get("return_value")
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._streams.append(cast(httpcore.NetworkStream, stream))
            if self.fired:  # the time was up before there was anything to cut
                self._cut()

    def _cut(self) -> None:
        self.fired = True
        for stream in self._streams:
            connection = stream.get_extra_info("socket")
            if connection is not None:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def _redirect(url: str, response: httpx.Response) -> str:
    target = urljoin(url, str(response.headers.get("location", "")))
    try:
        server(target)
    except ValueError as error:
        raise NotFetched(f"it redirects elsewhere: {error}") from None
    return target


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status == 200:
        return
    if status in (429, 503):
        after_s = _retry_after(response.headers.get("retry-after", ""), response)
        said = f", and asks to wait {after_s:g} s" if after_s else ""
        reason = "too many requests" if status == 429 else "it is overloaded or closed for a while"
        raise NotFetched(f"HTTP {status}: {reason}{said}", again=True, after_s=after_s)
    start = b""
    if status < 500:
        for piece in response.iter_raw():
            start += piece
            if len(start) > 8192:
                break
    raise NotFetched(f"HTTP {status}{_summary(start)}", again=status >= 500)


def _summary(body: bytes) -> str:
    """What an error feed or an error text says, on one line."""
    text = body.decode("utf-8", "replace")
    said = re.search(r"<summary[^>]*>(.*?)</summary>", text, re.DOTALL)
    words = " ".join((said[1] if said else re.sub(r"<[^<>]*>", " ", text)).split())
    return f": {words[:200]}" if words else ""


def _retry_after(value: str, response: httpx.Response) -> float | None:
    """Seconds, or a date compared with the server's own clock."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,9}", value):
        return float(value)
    try:
        then = parsedate_to_datetime(value)
        now = parsedate_to_datetime(response.headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _check_type(response: httpx.Response, types: frozenset[str]) -> None:
    kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind not in types:
        hint = " (a proxy, a login page?)" if "html" in kind else ""
        raise NotFetched(
            f"it answered with {kind or 'something of no type'}{hint} instead of "
            f"{' or '.join(sorted(types))}"
        )
    coding = response.headers.get("content-encoding", "identity").lower()
    if coding not in ("identity", ""):
        raise NotFetched(f"it compressed its answer ({coding[:20]}) although it was asked not to")


def _take_body(response: httpx.Response, take: Take, bounds: Bounds) -> None:
    size = 0
    for piece in response.iter_raw():
        size += len(piece)
        if size > bounds.max_bytes:
            raise NotFetched(f"its answer is longer than {bounds.max_bytes >> 20} MiB")
        take(piece)


def _said(error: Exception) -> str:
    return str(error)[:200] or type(error).__name__
