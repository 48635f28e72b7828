"""What a configuration may say, with the defaults and their reasons."""

import hashlib
import json
import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr

from agent_loop.config.values import (
    Cast,
    Database,
    Folder,
    Image,
    ModelName,
    ServerProvider,
    Several,
    Url,
    split_model,
)
from agent_loop.ports import Json, Role
from agent_loop.redact import redact

OptionsFor = Literal["default", "lead", "worker", "reviewer", "escalation"]

DEFAULT_MODELS: dict[Role, str] = {
    "lead": "ollama:qwen2.5-coder:7b",
    "worker": "ollama:qwen2.5-coder:7b",
    "reviewer": "ollama:qwen2.5-coder:7b",
}

_FROZEN = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
_VALUES = ConfigDict(extra="forbid", frozen=True)


class ModelOptions(BaseModel):
    """How a model is asked to answer. Each role's options lie over `default`."""

    model_config = _FROZEN

    reasoning: bool | Literal["low", "medium", "high"] | None = None
    """`None`: as the model itself prefers; its reasoning is taken out of the answer anyway."""
    num_predict: int = Field(default=1024, ge=1, le=131_072)
    """Most tokens of one answer, reasoning included."""
    num_ctx: int = Field(default=8192, ge=512, le=1_048_576)
    """Context window in tokens; always sent, because a server's own default cuts silently."""
    temperature: float = Field(default=0.2, ge=0, le=5)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    repeat_penalty: float | None = Field(default=None, gt=0, le=5)


class ModelSettings(BaseModel):
    """Everything one adapter needs to know. Made by `Config.model(role)`."""

    model_config = _VALUES

    provider: str
    model: str
    options: ModelOptions = ModelOptions()
    base_url: str | None = None
    api_key: SecretStr | None = None
    connect_s: float = 10.0
    read_s: float = 300.0
    """Longest gap between two pieces of an answer; includes the loading of the weights."""
    total_s: float = 1800.0
    retries: int = 2

    @property
    def name(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"


class ModelTimeouts(BaseModel):
    """Seconds one model call may take."""

    model_config = _FROZEN

    connect_s: float = Field(default=10.0, gt=0, le=300)
    read_s: float = Field(default=300.0, gt=0, le=7200)
    """Longest gap between two pieces of an answer; includes the loading of the weights."""
    total_s: float = Field(default=1800.0, gt=0, le=86_400)


class SandboxLimits(BaseModel):
    """What one container may use."""

    model_config = _FROZEN

    memory_mib: int = Field(default=256, ge=64, le=65_536)
    cpus: float = Field(default=1.0, gt=0, le=64)
    pids: int = Field(default=128, ge=16, le=4096)
    pool: int = Field(default=3, ge=0, le=16)
    """Containers started ahead."""


class SandboxSettings(BaseModel):
    """Where model-written code runs. Made by `Config.sandbox_settings`."""

    model_config = _VALUES

    kind: Literal["docker", "local"] = "docker"
    runtime: Literal["runc", "runsc"] = "runc"
    image: str = ""
    memory_mib: int = 256
    cpus: float = 1.0
    pids: int = 128
    pool: int = 3
    allow_local: bool = False
    """From the environment only: no file can give it."""


class CheckSettings(BaseModel):
    """Seconds a check may take."""

    model_config = _FROZEN

    call_s: float = Field(default=5.0, gt=0, le=600)
    """One call of the solution."""
    total_s: float = Field(default=10.0, gt=0, le=3600)
    """All asserts of a code task."""
    project_s: float = Field(default=120.0, gt=0, le=86_400)
    """One test run of a project."""


class EpisodeSettings(BaseModel):
    """Where an episode of the worker with tools ends, whoever is right."""

    model_config = _FROZEN

    max_steps: int = Field(default=40, ge=1, le=1000)
    """Model calls, one or more tool calls each."""
    tokens: int | None = Field(default=400_000, ge=1000)
    """Input and output together; `null`: no limit."""
    cost_usd: float | None = Field(default=None, gt=0)
    """US dollars; a call of unknown price ends the episode, because it may cost more."""
    seconds: float = Field(default=1800.0, gt=0, le=86_400)
    call_s: float = Field(default=120.0, gt=0, le=7200)
    """One tool call."""
    protocol: Literal["auto", "native", "text"] = "auto"
    """How tools are called. `auto`: natively where the model can, else in a fenced block."""
    observation_chars: int = Field(default=8000, ge=500, le=100_000)
    """What a model sees of one observation; what is cut is marked."""


class PriceSettings(BaseModel):
    """US dollars for a million tokens."""

    model_config = _FROZEN

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Input that the server took from its cache; `None`: as other input."""


class OtelSettings(BaseModel):
    """OpenTelemetry spans (extra `otel`)."""

    model_config = _FROZEN

    enabled: bool = False
    endpoint: Url | Literal[""] = ""
    """OTLP over HTTP, e.g. http://127.0.0.1:4318/v1/traces; empty: OTEL_EXPORTER_OTLP_* decide."""
    prompts: bool = False
    """Send prompts, replies and observations too; keys are taken out of them."""


class ApiKeyNames(BaseModel):
    """Names of environment variables; a key itself never stands in a file."""

    model_config = _FROZEN

    openai: str = "OPENAI_API_KEY"
    anthropic: str = "ANTHROPIC_API_KEY"


class Config(BaseModel):
    """The whole configuration."""

    model_config = _FROZEN

    models: Cast = Field(default=DEFAULT_MODELS)
    model_options: dict[OptionsFor, ModelOptions] = Field(default_factory=dict)
    fallback: ModelName | None = "embedded:smollm2-135m"
    """Takes the place of every Ollama model when Ollama does not answer at the start."""
    base_urls: dict[ServerProvider, Url] = Field(default_factory=dict)
    api_key_names: ApiKeyNames = ApiKeyNames()
    model_timeouts: ModelTimeouts = ModelTimeouts()
    retries: int = Field(default=2, ge=0, le=10)
    rejection_cap: int = Field(default=3, ge=1, le=20)
    sandbox: Literal["docker", "local"] = "docker"
    sandbox_runtime: Literal["runc", "runsc"] = "runc"
    sandbox_image: Image = (
        "python@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de"
    )
    sandbox_limits: SandboxLimits = SandboxLimits()
    check: CheckSettings = CheckSettings()
    edit_format: Literal["auto", "whole", "search_replace", "diff", "json"] = "auto"
    worker_mode: Literal["reply", "tools"] = "reply"
    toolset: Literal["bash", "structured"] = "structured"
    episode: EpisodeSettings = EpisodeSettings()
    samples: int = Field(default=1, ge=1, le=16)
    """Answers of the worker in one lap; all are checked, the first passing one is taken."""
    prices: dict[ModelName, PriceSettings] = Field(default_factory=dict)
    """Over the shipped table; a model in neither costs an unknown amount, never nothing."""
    max_context_chars: int = Field(default=24_000, ge=1000, le=10_000_000)
    prompt_variants: Several[Literal["real_path_example", "no_plan", "worked_example"]] = ()
    numbers: Literal["check", "ignore"] = "check"
    arxiv_contact: str = Field(default="", max_length=200)
    """A mail address or page for the User-Agent of searches, so that arXiv can turn to somebody."""
    otel: OtelSettings = OtelSettings()
    checkpoints: Database = "sqlite"
    """Where graph states are: a file in `runs_dir`, or `postgresql://[user@]host[:port]/database`."""
    runs_dir: Folder = Path("runs")

    _keys: dict[str, SecretStr] = PrivateAttr(default_factory=dict)
    _allow_local: bool = PrivateAttr(default=False)

    def options(self, role: Role) -> ModelOptions:
        """The options of a role: its own over `default`."""
        merged: dict[str, object] = {}
        for key in ("default", role):
            if given := self.model_options.get(key):
                merged |= given.model_dump(exclude_unset=True)
        return ModelOptions.model_validate(merged)

    def model(self, role: Role) -> ModelSettings:
        """What the adapter behind `role` needs to know.

        Raises:
            KeyError: no model is configured for `escalation`.
        """
        return self.settings_for(self.models[role], role)

    def settings_for(self, name: str, role: Role) -> ModelSettings:
        """The same for another model in that role, e.g. the fallback."""
        provider, model = split_model(name)
        return ModelSettings(
            provider=provider,
            model=model,
            options=self.options(role),
            base_url=self.base_urls.get(provider),  # type: ignore[call-overload]
            api_key=self._keys.get(provider),
            retries=self.retries,
            **self.model_timeouts.model_dump(),
        )

    @property
    def sandbox_settings(self) -> SandboxSettings:
        """What the sandbox needs to know."""
        return SandboxSettings(
            kind=self.sandbox,
            runtime=self.sandbox_runtime,
            image=self.sandbox_image,
            allow_local=self._allow_local,
            **self.sandbox_limits.model_dump(),
        )

    def with_secrets(self, keys: dict[str, SecretStr], *, allow_local: bool) -> "Config":
        """The same configuration with what only the environment may give."""
        copy = self.model_copy()
        copy._keys = dict(keys)
        copy._allow_local = allow_local
        return copy

    def as_record(self) -> dict[str, Json]:
        """Plain JSON for records and the trace; no secret in it."""
        record: dict[str, Json] = json.loads(redact(self.model_dump_json()))
        # Up to the last @: a password that is not percent-encoded may hold one.
        record["checkpoints"] = re.sub(r"://.*@", "://[redacted]@", self.checkpoints)
        return record

    @property
    def database(self) -> str | None:
        """The PostgreSQL server that keeps graph states, login included; `None`: a file does."""
        return None if self.checkpoints == "sqlite" else self.checkpoints

    def hash(self) -> str:
        """SHA-256 of the record, hex."""
        text = json.dumps(self.as_record(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()
