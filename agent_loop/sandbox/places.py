"""Where a Docker engine may be: what the environment, the context file and habit say."""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT = "npipe:////./pipe/docker_engine" if os.name == "nt" else "unix:///var/run/docker.sock"
# Docker Desktop, rootless Docker, Colima, Rancher Desktop, OrbStack; below the home folder.
HABITS = (
    ".docker/run/docker.sock",
    ".docker/desktop/docker.sock",
    ".colima/default/docker.sock",
    ".rd/docker.sock",
    ".orbstack/run/docker.sock",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One address of an engine and who named it."""

    url: str
    named_by: str
    tls_folder: Path | None = None
    """Holds ca.pem, cert.pem and key.pem."""


def active_place(env: Mapping[str, str], home: Path) -> Place:
    """The engine that the `docker` command would speak to, found by its own rules.

    Raises:
        ValueError: the context file names a context that cannot be read; the message says which.
    """
    if url := env.get("DOCKER_HOST"):
        folder = env.get("DOCKER_CERT_PATH") if env.get("DOCKER_TLS_VERIFY") else None
        tls = Path(folder) if folder else None
        return Place(url=url, named_by="DOCKER_HOST in the environment", tls_folder=tls)
    settings = Path(env.get("DOCKER_CONFIG") or home / ".docker")
    name = env.get("DOCKER_CONTEXT") or _current_context(settings)
    if not name or name == "default":
        return Place(url=DEFAULT, named_by="the default of this system")
    return _context(settings, name)


def other_places(env: Mapping[str, str], home: Path, tried: Place) -> list[Place]:
    """Sockets that exist where engines are used to be, other than the one tried."""
    sockets = [Path("/var/run/docker.sock"), *(home / habit for habit in HABITS)]
    if runtime := env.get("XDG_RUNTIME_DIR"):
        sockets.append(Path(runtime) / "docker.sock")
    elif sys.platform == "linux":
        sockets.append(Path(f"/run/user/{os.getuid()}/docker.sock"))
    places = [Place(url=f"unix://{path}", named_by="habit") for path in sockets if path.is_socket()]
    return [place for place in places if place.url != tried.url]


def _current_context(settings: Path) -> str:
    try:
        config = json.loads((settings / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    name = config.get("currentContext") if isinstance(config, dict) else None
    return name if isinstance(name, str) else ""


def _context(settings: Path, name: str) -> Place:
    digest = hashlib.sha256(name.encode()).hexdigest()
    path = settings / "contexts" / "meta" / digest / "meta.json"
    try:
        url = json.loads(path.read_text("utf-8"))["Endpoints"]["docker"]["Host"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"Docker context {name!r}: {path} cannot be read: {error!r}") from error
    folder = settings / "contexts" / "tls" / digest / "docker"
    tls = folder if folder.is_dir() else None
    return Place(url=str(url), named_by=f"Docker context {name!r} ({path})", tls_folder=tls)
