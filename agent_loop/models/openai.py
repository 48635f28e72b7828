"""`openai:` through langchain-openai: any server that speaks the chat completions protocol."""

from collections.abc import Mapping

import httpx
import httpx2
import openai
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agent_loop.config import ModelSettings
from agent_loop.errors import ModelUnavailable
from agent_loop.models.cloud import ClientErrors, CloudProvider
from agent_loop.models.flow import Wire
from agent_loop.models.ollama_server import trusts_proxies
from agent_loop.models.text import clean
from agent_loop.ports import Json

OPENAI_URL = "https://api.openai.com/v1"
_SHOWN = 5


class OpenAIProvider(CloudProvider):
    """One model of OpenAI's or of a compatible server (llama.cpp, vLLM, LM Studio …)."""

    errors = ClientErrors(
        timeout=openai.APITimeoutError,
        connection=openai.APIConnectionError,
        transport=httpx2.TransportError,
        any=openai.APIError,
    )
    cut_reasons = frozenset({"length"})

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(settings, OPENAI_URL)

    def client(self, wire: Wire) -> ChatOpenAI:
        options, settings = self.settings.options, self.settings
        own = self.url == OPENAI_URL
        http = openai.DefaultHttpxClient(
            event_hooks=wire.hooks(),
            trust_env=trusts_proxies(self.url),
            timeout=httpx2.Timeout(settings.read_s + 5, connect=settings.connect_s),
        )
        return ChatOpenAI(
            model=settings.model,
            base_url=self.url,
            api_key=SecretStr(self.key or "none"),
            http_client=http,
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
            temperature=options.temperature,
            top_p=options.top_p,
            seed=options.seed,
            reasoning_effort=options.reasoning if isinstance(options.reasoning, str) else None,
            # The client sends the limit under its new name, which other servers do not know.
            max_completion_tokens=options.num_predict if own else None,
            extra_body=None if own else {"max_tokens": options.num_predict},
        )

    def probe(self) -> tuple[str, Mapping[str, str]]:
        return f"{self.url}/models", {"authorization": f"Bearer {self.key or 'none'}"}

    def look(self, answer: httpx.Response) -> None:
        try:
            names = [str(entry["id"]) for entry in answer.json()["data"]]
        except (ValueError, KeyError, TypeError):
            return
        if names and self.settings.model not in names:
            there = ", ".join(sorted(names)[:_SHOWN])
            raise ModelUnavailable(
                clean(f"{self.answered}: no such model at {self.url}. There is {there}.")
            )

    def sent_options(self) -> Mapping[str, Json]:
        return self.settings.options.model_dump(
            include={"temperature", "top_p", "seed", "num_predict", "reasoning"}
        )
