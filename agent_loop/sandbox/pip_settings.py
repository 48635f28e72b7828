"""The user's package settings, as far as they can hold inside an image build."""

import ast
import ssl
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from agent_loop import procs
from agent_loop.redact import redact

# Where packages come from; everything else of a user's settings is about this machine.
TAKEN = ("index-url", "extra-index-url", "trusted-host", "proxy", "retries", "default-timeout")
BUNDLES = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
ASK_S = 60.0


def pip_config(env: Mapping[str, str], notify: Callable[[str], None]) -> str:
    """A pip.conf for the build. May hold a password: it goes to the build and nowhere else."""
    done = procs.run([sys.executable, "-m", "pip", "config", "list"], timeout_s=ASK_S, env=env)
    found: dict[str, str] = {}
    for line in done.out.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        name = key.rpartition(".")[2]
        name = "default-timeout" if name == "timeout" else name
        if name in TAKEN:
            # Later lines win, as in pip: the environment stands last.
            found[name] = _reachable(name, _plain(value), notify)
    lines = [f"{name} = {value}\n" for name, value in found.items() if value]
    return "[global]\n" + "".join(lines)


def certificates(env: Mapping[str, str]) -> bytes:
    """The bundle this machine trusts; empty where it has none of its own."""
    named = [env[name] for name in BUNDLES if env.get(name)]
    usual = ssl.get_default_verify_paths().cafile
    for path in (*named, *((usual,) if usual else ())):
        if Path(path).is_file():
            return Path(path).read_bytes()
    return b""


def proxies(env: Mapping[str, str]) -> dict[str, str]:
    """Build arguments that the engine never writes into an image's history."""
    return {name: env[name] for name in PROXIES if env.get(name)}


def _plain(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value


def _reachable(name: str, value: str, notify: Callable[[str], None]) -> str:
    """Without the places that exist on this machine only."""
    if not name.endswith("index-url"):
        return " ".join(value.split())
    kept = [word for word in value.split() if word.startswith(("http://", "https://"))]
    for word in set(value.split()) - set(kept):
        notify(f"pip setting {name}: {redact(word)} is on this machine only and not used in images")
    return " ".join(kept)
