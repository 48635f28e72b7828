"""`ollama:` through langchain-ollama, with what it leaves to its users done here."""

import hashlib
import logging
from collections.abc import Sequence
from typing import Any, Never

import httpx
import ollama
from langchain_ollama import ChatOllama

from agent_loop.config import ModelSettings
from agent_loop.errors import ModelUnavailable
from agent_loop.models.context import Window
from agent_loop.models.flow import Wire
from agent_loop.models.langchain_chat import Called, Gathered, offering, read_answer
from agent_loop.models.ollama_server import (
    DEFAULT_URL,
    OllamaApi,
    Pulled,
    full_name,
    trusts_proxies,
)
from agent_loop.models.provider import Attempt, Collected, Spent, TransientFault
from agent_loop.models.text import bounded, clean, repeats
from agent_loop.ports import Cancel, Fingerprint, Message, ToolSpec

_NS = 1_000_000_000
_REPEAT = "token repeat limit"
_MEND_REPEAT = "raise repeat_penalty in model_options"
_NOTHING = "No generation chunks"
"""From langchain-core, for a stream in which no piece counted."""
_SAID_CHARS = 300


class OllamaProvider:
    """One model of one Ollama server."""

    def __init__(self, settings: ModelSettings) -> None:
        # What it would say is said by our notes; unhandled, it lands on the terminal.
        logging.getLogger("langchain_ollama").addHandler(logging.NullHandler())
        self.answered = settings.name
        self._settings = settings
        self._api = OllamaApi(settings.base_url or DEFAULT_URL, connect_s=settings.connect_s)
        self._pulled: Pulled | None = None
        self._window = Window(settings.name, settings.options)
        self._measured = False

    def preflight(self) -> None:
        self._pulled = self._api.describe(self._settings.model)

    @property
    def native_tools(self) -> bool:
        """Servers refuse tools for a model whose template has no place for them."""
        return "tools" in self._described().capabilities

    def once(
        self,
        messages: Sequence[Message],
        into: Collected,
        *,
        attempt: Attempt,
        cancel: Cancel,
        tools: Sequence[ToolSpec] = (),
    ) -> Spent:
        doubt = self._window.refuse_too_long(messages, tools)
        gathered = read_answer(
            lambda wire: offering(self._client(wire, attempt), tools),
            messages,
            into,
            settings=self._settings,
            cancel=cancel,
            translate=self._translate,
        )
        return self._spent(gathered, messages, into, doubt, called=bool(tools))

    def _client(self, wire: Wire, attempt: Attempt) -> ChatOllama:
        options, settings = self._settings.options, self._settings
        again = attempt.after_repeats
        return ChatOllama(
            model=settings.model,
            base_url=self._api.url,
            num_ctx=options.num_ctx,
            num_predict=options.num_predict,
            temperature=options.temperature,
            top_p=options.top_p,
            seed=(options.seed or 0) + again if again else options.seed,
            repeat_penalty=(
                max(options.repeat_penalty or 1.0, 1.0) + 0.1 * again
                if again
                else options.repeat_penalty
            ),
            reasoning=self._reasoning(),
            sync_client_kwargs={
                # Longer than ours: it only ends a thread that nobody waits for any more.
                "timeout": httpx.Timeout(settings.read_s + 5, connect=settings.connect_s),
                "event_hooks": wire.hooks(),
                "trust_env": trusts_proxies(self._api.url),
            },
        )

    def _reasoning(self) -> bool | str | None:
        """Servers refuse the field for models without the ability, so it is looked up first.

        Without a wish the ability is used, because what a server sends as reasoning
        unasked would be dropped by the client.
        """
        if "thinking" not in self._described().capabilities:
            return None
        wish = self._settings.options.reasoning
        return True if wish is None else wish

    def _described(self) -> Pulled:
        if self._pulled is None:
            self._pulled = self._api.describe(self._settings.model)
        return self._pulled

    def _spent(
        self,
        gathered: Gathered,
        messages: Sequence[Message],
        into: Collected,
        doubt: str,
        *,
        called: bool,
    ) -> Spent:
        said = gathered.said
        tools = Called(gathered if called else Gathered())
        if not into.full and said.get("done") is not True:
            self._ended_early(into)
        if said.get("done_reason") in {"load", "unload"}:
            raise TransientFault("cut", f"the server only did a {said['done_reason']}")
        counted = gathered.tokens("input_tokens")
        if not self._measured:
            self._window.allocated(self._allocated())
            self._measured = True
        cut = self._window.was_cut(messages, counted)
        load_ns = said.get("load_duration")
        return Spent(
            finish="length" if said.get("done_reason") == "length" else "stop",
            input_tokens=counted,
            output_tokens=gathered.tokens("output_tokens"),
            load_s=load_ns / _NS if isinstance(load_ns, int) else 0.0,
            context_cut=bool(cut),
            notes=tuple(note for note in (doubt, cut) if note),
            tool_calls=tools.calls,
            bad_calls=tools.bad,
            raw=tools.raw,
        )

    def _allocated(self) -> int | None:
        try:
            return self._api.allocated(self._settings.model)
        except ModelUnavailable:
            return None

    def _ended_early(self, into: Collected) -> Never:
        """Servers before September 2026 end a repeat abort like this, without a word."""
        answer, reasoning = into.finish()
        piece = repeats(answer) or repeats(reasoning)
        if piece:
            raise TransientFault("repeat", f"stopped because {piece!r} repeated; {_MEND_REPEAT}")
        raise TransientFault("cut", "the answer broke off before its end")

    def _translate(self, error: Exception, into: Collected) -> Never:
        said = _said(error)
        if isinstance(error, ollama.ResponseError):
            self._refused(error, said)
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            raise TransientFault(
                "connection", f"no answer at {self._api.url}; is `ollama serve` running?"
            ) from error
        if isinstance(error, httpx.TimeoutException):
            raise TransientFault("stall", f"nothing came in time ({said})") from error
        if isinstance(error, httpx.TransportError):
            raise TransientFault("cut", f"the connection broke ({said})") from error
        if _NOTHING in said:
            raise TransientFault("cut", "the server ended the answer without a word") from error
        if isinstance(error, ValueError):
            # A line that is no JSON, bytes that are no UTF-8.
            raise TransientFault("server", f"the answer made no sense ({said})") from error
        raise ModelUnavailable(f"{self.answered}: {said}") from error

    def _refused(self, error: ollama.ResponseError, said: str) -> Never:
        """An error the server itself gave; status -1 is one inside a stream."""
        model = self._settings.model
        if _REPEAT in said:
            raise TransientFault("repeat", f"{said}; {_MEND_REPEAT}") from error
        if error.status_code == 404:
            raise ModelUnavailable(
                f"ollama: the model '{model}' is not at {self._api.url} ({said}). "
                f"Type: ollama pull {full_name(model)}"
            ) from error
        if error.status_code == -1 or error.status_code >= 500 or error.status_code in {408, 429}:
            status = "inside the answer" if error.status_code == -1 else str(error.status_code)
            raise TransientFault("server", f"server error {status}: {said}") from error
        raise ModelUnavailable(
            f"{self.answered}: the server refused the request ({error.status_code}): {said}"
        ) from error

    def fingerprint(self) -> Fingerprint:
        pulled, version = self._pulled or Pulled(), None
        try:
            pulled = self._pulled = self._pulled or self._api.describe(self._settings.model)
            version = self._api.version()
        except ModelUnavailable:
            # Gone since it answered: the record then says what is known.
            pass
        template = pulled.template
        options: dict[str, Any] = self._settings.options.model_dump()
        return Fingerprint(
            name=self.answered,
            answered=self.answered,
            digest=pulled.digest,
            quantisation=pulled.quantisation,
            template_hash=hashlib.sha256(template.encode()).hexdigest() if template else None,
            server_version=version,
            options=options,
        )

    def close(self) -> None:
        """Clients live for one call each."""


def _said(error: Exception) -> str:
    text = getattr(error, "error", None) or str(error) or type(error).__name__
    return bounded(clean(str(text)), _SAID_CHARS)
