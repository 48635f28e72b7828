"""Settings to models: the closed list of providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent_loop.config import ModelSettings, PriceSettings
from agent_loop.errors import ConfigError, ModelUnavailable
from agent_loop.models.asking import Asking
from agent_loop.models.embedded import EmbeddedProvider
from agent_loop.models.prices import Prices
from agent_loop.models.provider import Provider
from agent_loop.models.replay import Recording, ReplayProvider, read_recording
from agent_loop.models.scripted import Script, ScriptedModel
from agent_loop.models.scriptfile import read_script
from agent_loop.ports import Clock, Model, Role, SystemClock


@dataclass(slots=True, kw_only=True)
class Maker:
    """Makes the models of one run; what its roles share is made once."""

    scripts: Path = Path()
    """Where `scripted:FILE` is looked for."""
    runs: Path = Path("runs")
    """Where `replay:THREAD` is looked for."""
    clock: Clock = field(default_factory=SystemClock)
    answered: Mapping[Role, int] = field(default_factory=dict)
    """Replies each role has had already: a resumed scripted or replayed run goes on there."""
    prices: Mapping[str, PriceSettings] = field(default_factory=dict)
    """The owner's own, by `provider:model`."""
    _shared: dict[str, Script | Recording] = field(default_factory=dict)

    def make(self, settings: ModelSettings, role: Role) -> Model:
        """The model behind one role; nothing is asked or loaded yet.

        Raises:
            ConfigError: unknown provider, or a script that cannot be used.
            ModelUnavailable: the package of the provider or the recorded run is missing.
        """
        if settings.provider == "scripted":
            script = self._script(settings, role)
            return ScriptedModel(
                settings.name,
                script,
                clock=self.clock,
                retries=settings.retries,
                prices=prices_for(settings, self.prices),
            )
        provider = self._provider(settings, role)
        prices = prices_for(settings, self.prices)
        return Asking(provider, retries=settings.retries, clock=self.clock, prices=prices)

    def _provider(self, settings: ModelSettings, role: Role) -> Provider:
        match settings.provider:
            case "embedded":
                return EmbeddedProvider(settings, clock=self.clock)
            case "replay":
                return ReplayProvider(self._recording(settings.model), role)
            case "ollama":
                # Here and not above: the client takes a second to import.
                from agent_loop.models.ollama import OllamaProvider  # noqa: PLC0415

                return OllamaProvider(settings)
            case "openai" | "anthropic":
                return _cloud(settings)
            case other:
                raise ConfigError(f"models.{role}", f"unknown provider {other!r}")

    def _script(self, settings: ModelSettings, role: Role) -> Script:
        path = self.scripts / settings.model
        lines = read_script(path)
        if role in lines:
            where = f"{settings.name} ({role})"
            return Script(where, lines[role], answered=self.answered.get(role, 0))
        if "replies" not in lines:
            raise ConfigError(str(path), f"no replies for {role}", "Add them, or use `replies:`.")
        shared = self._shared.get(settings.name)
        if not isinstance(shared, Script):
            others = sum(n for r, n in self.answered.items() if r not in lines)
            shared = Script(settings.name, lines["replies"], answered=others)
            self._shared[settings.name] = shared
        return shared

    def _recording(self, thread: str) -> Recording:
        shared = self._shared.get(f"replay:{thread}")
        if not isinstance(shared, Recording):
            trace = self.runs / thread / "trace.jsonl"
            shared = read_recording(trace, thread, answered=sum(self.answered.values()))
            self._shared[f"replay:{thread}"] = shared
        return shared


def prices_for(settings: ModelSettings, own: Mapping[str, PriceSettings]) -> Prices:
    """The prices that hold for a model: the shipped ones at the provider's own address only."""
    elsewhere = settings.base_url is not None
    return Prices(own=own, official=frozenset() if elsewhere else frozenset({settings.provider}))


def _cloud(settings: ModelSettings) -> Provider:
    """The adapter of an optional extra."""
    try:
        if settings.provider == "openai":
            from agent_loop.models.openai import OpenAIProvider  # noqa: PLC0415

            return OpenAIProvider(settings)
        from agent_loop.models.anthropic import AnthropicProvider  # noqa: PLC0415

        return AnthropicProvider(settings)
    except ModuleNotFoundError as error:
        raise ModelUnavailable(
            f"{settings.name}: the package '{error.name}' is not installed. "
            f"Type: pip install 'agent-loop[{settings.provider}]'"
        ) from error


def make_model(
    settings: ModelSettings,
    *,
    role: Role = "worker",
    replies: Path | None = None,
    runs: Path | None = None,
    clock: Clock | None = None,
) -> Model:
    """One model by itself; see `Maker` for several that belong together."""
    maker = Maker(
        scripts=replies or Path(), runs=runs or Path("runs"), clock=clock or SystemClock()
    )
    return maker.make(settings, role)
