"""What the OpenAI and the Anthropic protocol have in common here."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Never

import httpx
from langchain_core.language_models import BaseChatModel

from agent_loop.config import ModelSettings
from agent_loop.errors import ModelUnavailable, ServerDown
from agent_loop.models.context import Window
from agent_loop.models.flow import Wire
from agent_loop.models.langchain_chat import Called, Gathered, offering, read_answer
from agent_loop.models.ollama_server import trusts_proxies
from agent_loop.models.provider import Attempt, Collected, Spent, TransientFault
from agent_loop.models.text import bounded, clean
from agent_loop.ports import Cancel, Fingerprint, Json, Message, ToolSpec
from agent_loop.redact import redact

_SAID_CHARS = 300
_PASSING = {408, 409, 425, 429}
_ENDS = frozenset({None, "stop", "end_turn", "stop_sequence", "tool_calls", "tool_use"})
_REFUSALS = frozenset({"refusal", "content_filter"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientErrors:
    """The error classes of one client library, narrow before wide."""

    timeout: type[Exception]
    connection: type[Exception]
    transport: type[Exception]
    any: type[Exception]


class CloudProvider(ABC):
    """One model behind an HTTP interface that wants a key."""

    native_tools = True

    url: str
    errors: ClientErrors
    cut_reasons: frozenset[str]
    """Reasons for an end that mean that the answer is not whole."""

    def __init__(self, settings: ModelSettings, url: str) -> None:
        self.answered = settings.name
        self.settings = settings
        self.url = (settings.base_url or url).rstrip("/")
        self.key = settings.api_key.get_secret_value() if settings.api_key else ""
        self._window = Window(settings.name, settings.options)
        self._version: str | None = None

    @abstractmethod
    def client(self, wire: Wire) -> BaseChatModel:
        """A client for one call, its sockets known to `wire`, its own retries off."""

    @abstractmethod
    def probe(self) -> tuple[str, Mapping[str, str]]:
        """(address, headers) of a request that tells whether the model is there."""

    @abstractmethod
    def sent_options(self) -> Mapping[str, Json]:
        """What of `model_options` this protocol carries."""

    def preflight(self) -> None:
        url, headers = self.probe()
        try:
            with httpx.Client(
                timeout=self.settings.connect_s + 20, trust_env=trusts_proxies(self.url)
            ) as client:
                answer = client.get(url, headers=dict(headers))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ServerDown(
                f"{self.answered}: no answer at {self.url} ({type(error).__name__}). "
                f"Is base_urls.{self.settings.provider} right?"
            ) from error
        if answer.status_code in {401, 403}:
            raise ModelUnavailable(self._key_refused(answer.status_code))
        if answer.is_success:
            self.look(answer)

    def look(self, answer: httpx.Response) -> None:  # noqa: B027 - most need no more
        """Whether the probe's answer names the model."""

    def once(
        self,
        messages: Sequence[Message],
        into: Collected,
        *,
        attempt: Attempt,
        cancel: Cancel,
        tools: Sequence[ToolSpec] = (),
    ) -> Spent:
        # Without a wish of the user's, num_ctx is Ollama's default and says nothing here.
        own = "num_ctx" in self.settings.options.model_fields_set
        doubt = self._window.refuse_too_long(messages, tools) if own else ""
        gathered = read_answer(
            lambda wire: offering(self.client(wire), tools),
            messages,
            into,
            settings=self.settings,
            cancel=cancel,
            translate=self._translate,
        )
        return self._spent(gathered, messages, into, doubt, called=bool(tools))

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
        reason = said.get("finish_reason") or said.get("stop_reason")
        if reason is None and not into.full:
            raise TransientFault("cut", "the answer broke off before its end")
        self._version = said.get("system_fingerprint") or said.get("model_name") or self._version
        counted = gathered.tokens("input_tokens")
        cut = self._window.absurd(messages, counted)
        odd = f"the server ended the answer with {reason!r}"
        normal = reason in _ENDS | self.cut_reasons
        return Spent(
            finish="length" if reason in self.cut_reasons else "stop",
            input_tokens=counted,
            output_tokens=gathered.tokens("output_tokens"),
            reused_tokens=gathered.tokens("reused") or 0,
            context_cut=bool(cut),
            notes=tuple(note for note in (doubt, cut, "" if normal else odd) if note),
            tool_calls=tools.calls,
            bad_calls=tools.bad,
            raw=tools.raw,
            refused=tools.refused or reason in _REFUSALS,
        )

    def _translate(self, error: Exception, into: Collected) -> Never:
        said = self.said(error)
        status = getattr(error, "status_code", None)
        # An error inside a stream carries the 200 that the stream began with.
        if isinstance(status, int) and status >= 400:
            self._refused(status, said, error)
        if isinstance(error, self.errors.timeout):
            raise TransientFault("stall", "nothing came in time") from error
        if isinstance(error, self.errors.connection):
            raise TransientFault("connection", f"no answer at {self.url}") from error
        if isinstance(error, self.errors.transport):
            raise TransientFault("cut", f"the connection broke ({said})") from error
        if isinstance(error, self.errors.any):
            raise TransientFault("server", f"server error inside the answer: {said}") from error
        if isinstance(error, ValueError):
            raise TransientFault("server", f"the answer made no sense ({said})") from error
        raise ModelUnavailable(f"{self.answered}: {said}") from error

    def _refused(self, status: int, said: str, error: Exception) -> Never:
        if status in {401, 403}:
            raise ModelUnavailable(self._key_refused(status)) from error
        if status == 404:
            raise ModelUnavailable(
                f"{self.answered}: no such model at {self.url} ({said}). Check the name, "
                f"or base_urls.{self.settings.provider}."
            ) from error
        if status in _PASSING or status >= 500:
            raise TransientFault("server", f"server error {status}: {said}") from error
        raise ModelUnavailable(
            f"{self.answered}: the server refused the request ({status}): {said}"
        ) from error

    def _key_refused(self, status: int) -> str:
        what = "the key was refused" if self.key else "a key is needed"
        return (
            f"{self.answered}: {what} by {self.url} ({status}). Set the environment variable "
            f"that api_key_names.{self.settings.provider} names."
        )

    def said(self, error: Exception) -> str:
        """What an error says, without the key that some servers repeat."""
        text = str(error) or type(error).__name__
        if self.key:
            text = text.replace(self.key, "[key]")
        return bounded(redact(clean(text)), _SAID_CHARS)

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(
            name=self.answered,
            answered=self.answered,
            server_version=self._version,
            options=self.sent_options(),
        )

    def close(self) -> None:  # noqa: B027 - nothing is held between calls
        """Clients live for one call each."""
