"""Which servers may be asked: arXiv's own by https, and this machine."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

DEFAULT_BASE_URL = "https://export.arxiv.org"
ARXIV_HOSTS = ("export.arxiv.org", "arxiv.org", "www.arxiv.org")
_PLAIN = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that may be asked."""

    root: str
    """Scheme, host and port, without a slash at the end."""
    loopback: bool


def server(url: str) -> Server:
    """Check an address, of a setting or of a redirect.

    Raises:
        ValueError: it leads anywhere but to arXiv or this machine; the message says which may.
    """
    may = f"use {DEFAULT_BASE_URL} or a server on this machine (http://127.0.0.1:PORT)"
    if not _PLAIN.fullmatch(url) or "\\" in url:
        raise ValueError(f"{url!r} is no plain address; {may}")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise ValueError(f"{url!r} is no address; {may}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"the address of {host!r} carries a user name; {may}")
    if _loopback(host) and parts.scheme in ("http", "https"):
        shown = f"[{host}]" if ":" in host else host
        return Server(
            root=f"{parts.scheme}://{shown}" + (f":{port}" if port else ""), loopback=True
        )
    if host in ARXIV_HOSTS and parts.scheme == "https" and port in (None, 443):
        return Server(root=f"https://{host}", loopback=False)
    raise ValueError(f"{url!r} is no server of arXiv reached by https; {may}")


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
