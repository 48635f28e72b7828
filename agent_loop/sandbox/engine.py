"""The connection to the Docker engine: found, asked once, then lent out thread by thread."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
from docker.api import APIClient
from docker.errors import DockerException

from agent_loop.errors import SandboxUnavailable
from agent_loop.sandbox.places import Place, active_place, other_places

ANSWER_S = 5.0
"""How long an engine may take to say its version before it counts as not there."""
CALL_S = 60.0
OLDEST_API = "1.41"
"""Of engine 20.10. Newer engines say what they speak, and that is used."""
INSTALL = (
    "Install Docker (Debian and Ubuntu as root: sandbox/engine.sh does it; macOS and Windows: "
    "Docker Desktop or Colima), start it and try again"
)
EngineError = (DockerException, requests.RequestException, OSError)


class Engine:
    """A Docker engine that answered.

    `requests` sessions do not stand two threads at once: each call borrows a client.
    """

    def __init__(self, place: Place, version: Mapping[str, Any]) -> None:
        self.place = place
        self.version = version
        self._idle: list[APIClient] = []
        self._lock = threading.Lock()
        self._closed = False
        with self.client("ask the engine about itself") as api:
            self.info: Mapping[str, Any] = api.info()

    @property
    def selinux(self) -> bool:
        """The engine labels files."""
        return any("selinux" in str(option) for option in self.info.get("SecurityOptions") or ())

    @property
    def is_local(self) -> bool:
        """Everybody who uses it runs under the same kernel start as we do, or in its own VM."""
        return self.place.url.startswith("unix:")

    @contextmanager
    def client(self, purpose: str) -> Iterator[APIClient]:
        """A client for this thread.

        Raises:
            SandboxUnavailable: the engine failed; says while doing what.
        """
        with self._lock:
            api = self._idle.pop() if self._idle else None
        try:
            api = api or _connect(self.place, self.version["ApiVersion"], CALL_S)
            yield api
        except EngineError as error:
            if api:
                api.close()
            raise SandboxUnavailable(f"docker could not {purpose}: {plain(error)}") from error
        except BaseException:
            if api:
                api.close()
            raise
        self._give_back(api)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for api in idle:
            api.close()

    def _give_back(self, api: APIClient) -> None:
        # It keeps a connection for each address it ever asked, names of containers included.
        # Closing drops those; the client itself stays good.
        api.close()
        with self._lock:
            if not self._closed:
                self._idle.append(api)


def find_engine(env: Mapping[str, str], home: Path) -> Engine:
    """The engine that the `docker` command would use.

    Raises:
        SandboxUnavailable: it does not answer; lists where was looked and what to type.
    """
    try:
        place = active_place(env, home)
    except ValueError as error:
        raise SandboxUnavailable(f"{error}. Fix: docker context use default") from error
    if problem := _unspeakable(place):
        raise SandboxUnavailable(f"the Docker engine at {place.url} {problem}")
    try:
        version = _ask(place)
    except EngineError as error:
        raise SandboxUnavailable(_not_there(place, error, env, home)) from error
    return Engine(place, version)


def plain(error: BaseException) -> str:
    """The sentence in an error of the client, without its wrapping."""
    explanation = getattr(error, "explanation", None)
    return str(explanation or error)[:500]


def _unspeakable(place: Place) -> str:
    """Why sessions cannot be held over this kind of address; empty where they can.

    A session closes its own direction while it still listens, on a socket that can be waited for.
    """
    if place.url.startswith("npipe:"):
        return (
            "is a Windows pipe, which sessions cannot use. Fix: work inside WSL 2, or let Docker "
            "Desktop expose tcp://localhost:2375 and set DOCKER_HOST to that"
        )
    if place.tls_folder or place.url.startswith(("ssh:", "https:")):
        return (
            "is reached over TLS or ssh, which sessions cannot use. Fix: ssh -fNL "
            "/tmp/docker.sock:/var/run/docker.sock HOST; export DOCKER_HOST=unix:///tmp/docker.sock"
        )
    return ""


def _ask(place: Place) -> Mapping[str, Any]:
    """The engine's version, without asking for any version of its interface."""
    if place.url.startswith("unix://"):
        # The client drops its socket open when this fails, and wraps the reason three times.
        with socket.socket(socket.AF_UNIX) as knock:
            knock.settimeout(ANSWER_S)
            knock.connect(place.url.removeprefix("unix://"))
    api = _connect(place, OLDEST_API, ANSWER_S)
    try:
        version: Mapping[str, Any] = api.version(api_version=False)
    finally:
        api.close()
    return version


def _connect(place: Place, version: str, timeout_s: float) -> APIClient:
    api = APIClient(base_url=place.url, version=version, timeout=int(timeout_s))
    # An engine is not reached through the proxies of the environment.
    api.trust_env = False
    return api


def _not_there(place: Place, error: Exception, env: Mapping[str, str], home: Path) -> str:
    text = f"no Docker engine answers at {place.url} (from {place.named_by}): {plain(error)}"
    others = other_places(env, home, place)
    if "Permission denied" in text or "PermissionError" in text:
        return f"{text}. Fix: sudo usermod -aG docker $USER, then log in again"
    if others:
        found = ", ".join(other.url for other in others)
        return f"{text}. Sockets found elsewhere: {found}. Fix: export DOCKER_HOST={others[0].url}"
    if "DOCKER_HOST" in place.named_by:
        return f"{text}. Fix: start that engine, or unset DOCKER_HOST"
    if "context" in place.named_by:
        return f"{text}. Fix: start that engine, or docker context use default"
    if place.url.startswith("unix://") and Path(place.url[7:]).exists():
        return f"{text}. Fix: the engine is stopped; start it (sandbox/engine.sh does it as root)"
    return f"{text}. {INSTALL}"
