"""What an Ollama server says about itself and its models."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

import httpx

from agent_loop.errors import ModelUnavailable, ServerDown
from agent_loop.models.text import clean

DEFAULT_URL = "http://127.0.0.1:11434"
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def trusts_proxies(url: str) -> bool:
    """Proxy settings of the environment are for other machines, not for this one."""
    return urlsplit(url).hostname not in _LOOPBACK


def full_name(model: str) -> str:
    """The exact tag a name stands for: `qwen3` is `qwen3:latest`, never `qwen3:8b`."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """One model as the server describes it; what it does not say stays `None`."""

    digest: str | None = None
    quantisation: str | None = None
    template: str | None = None
    capabilities: tuple[str, ...] = field(default=())


class OllamaApi:
    """The plain requests beside the chat."""

    def __init__(self, url: str, *, connect_s: float) -> None:
        self.url = url.rstrip("/")
        self._timeout = httpx.Timeout(max(10.0, connect_s), connect=connect_s)

    def find(self, model: str) -> Mapping[str, Any]:
        """The entry of a pulled model, by its exact tag.

        Raises:
            ServerDown: no answer.
            ModelUnavailable: not pulled; the message holds the line to type.
        """
        entries = {str(m.get("model") or m.get("name")): m for m in self._list("/api/tags")}
        wanted = full_name(model)
        if wanted in entries:
            return entries[wanted]
        raise ModelUnavailable(_not_pulled(model, sorted(entries), self.url))

    def describe(self, model: str) -> Pulled:
        """Digest, quantisation, template and capabilities of a pulled model."""
        entry = self.find(model)
        shown = self._get("POST", "/api/show", {"model": model})
        details = _map(shown.get("details")) or _map(entry.get("details"))
        abilities = shown.get("capabilities")
        return Pulled(
            digest=_text(entry.get("digest")),
            quantisation=_text(details.get("quantization_level")),
            template=_text(shown.get("template")),
            capabilities=tuple(map(str, abilities)) if isinstance(abilities, list) else (),
        )

    def version(self) -> str | None:
        """The server's version, where it says one."""
        return _text(self._get("GET", "/api/version").get("version"))

    def allocated(self, model: str) -> int | None:
        """The context window a loaded model really got, where the server says."""
        for entry in self._list("/api/ps"):
            if entry.get("model") == full_name(model) or entry.get("name") == full_name(model):
                size = entry.get("context_length")
                return size if isinstance(size, int) and size > 0 else None
        return None

    def _list(self, path: str) -> list[Mapping[str, Any]]:
        models = self._get("GET", path).get("models")
        return [m for m in models if isinstance(m, dict)] if isinstance(models, list) else []

    def _get(
        self, method: str, path: str, body: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        try:
            with httpx.Client(timeout=self._timeout, trust_env=trusts_proxies(self.url)) as client:
                answer = client.request(method, self.url + path, json=body)
                answer.raise_for_status()
                return _map(answer.json())
        except httpx.HTTPStatusError as error:
            raise ModelUnavailable(
                f"ollama: {self.url}{path} answered {error.response.status_code}. "
                "Is there an Ollama server at that address?"
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ServerDown(
                f"ollama: no answer at {self.url} ({type(error).__name__}). "
                "Type: ollama serve, or set base_urls.ollama."
            ) from error
        except ValueError as error:
            raise ModelUnavailable(f"ollama: {self.url}{path} did not answer in JSON.") from error


def _not_pulled(model: str, there: list[str], url: str) -> str:
    near = [name for name in there if name.split(":")[0] == model.split(":")[0]]
    near = near or get_close_matches(model, there, n=3)
    hint = f" There is {', '.join(near)}." if near else ""
    return clean(f"ollama: the model '{model}' is not at {url}.{hint} Type: ollama pull {model}")


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return clean(value) if isinstance(value, str) and value else None
