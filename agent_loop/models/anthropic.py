"""`anthropic:` through langchain-anthropic."""

from collections.abc import Mapping
from functools import cached_property

import anthropic
import httpx2
from langchain_anthropic import ChatAnthropic
from pydantic import PrivateAttr, SecretStr

from agent_loop.config import ModelSettings
from agent_loop.models.cloud import ClientErrors, CloudProvider
from agent_loop.models.flow import Wire
from agent_loop.models.ollama_server import trusts_proxies
from agent_loop.ports import Json

ANTHROPIC_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"


class _WatchedChat(ChatAnthropic):
    """Builds its client from ours: the library shares one between all calls of a process."""

    _http: anthropic.DefaultHttpxClient = PrivateAttr()

    @cached_property
    def _client(self) -> anthropic.Client:
        return anthropic.Client(**self._client_params, http_client=self._http)


class AnthropicProvider(CloudProvider):
    """One model of Anthropic's, or of a server that speaks its protocol."""

    errors = ClientErrors(
        timeout=anthropic.APITimeoutError,
        connection=anthropic.APIConnectionError,
        transport=httpx2.TransportError,
        any=anthropic.APIError,
    )
    cut_reasons = frozenset({"max_tokens", "model_context_window_exceeded"})

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings, ANTHROPIC_URL)

    def client(self, wire: Wire) -> ChatAnthropic:
        options, settings = self.settings.options, self.settings
        chat = _WatchedChat(
            model_name=settings.model,
            base_url=self.url,
            api_key=SecretStr(self.key or "none"),
            max_retries=0,
            timeout=settings.read_s + 5,
            stop=None,
            max_tokens_to_sample=options.num_predict,
            temperature=options.temperature,
            top_p=options.top_p,
        )
        chat._http = anthropic.DefaultHttpxClient(
            base_url=self.url,
            event_hooks=wire.hooks(),
            trust_env=trusts_proxies(self.url),
            timeout=httpx2.Timeout(settings.read_s + 5, connect=settings.connect_s),
        )
        return chat

    def probe(self) -> tuple[str, Mapping[str, str]]:
        # The client takes one of the two by the address; here whichever is right is there.
        key = self.key or "none"
        headers = {
            "x-api-key": key,
            "authorization": f"Bearer {key}",
            "anthropic-version": _VERSION,
        }
        return f"{self.url}/v1/models/{self.settings.model}", headers

    def sent_options(self) -> Mapping[str, Json]:
        return self.settings.options.model_dump(include={"temperature", "top_p", "num_predict"})
