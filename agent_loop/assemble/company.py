"""The models of one process: made once for each configuration, closed together."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from agent_loop import models
from agent_loop.config import Config, ModelSettings
from agent_loop.errors import ConfigError
from agent_loop.models.gate import Gated, ModelGate
from agent_loop.ports import Clock, Model, Role


class Company:
    """Who plays which role."""

    def __init__(self, runs: Path, clock: Clock, notify: Callable[[str], None]) -> None:
        """`runs` is where `replay:THREAD` finds its trace."""
        self._runs = runs
        self._clock = clock
        self.notify = notify
        self.gated = False
        """Several runs share a server: calls for the loaded model go first."""
        self._gates: dict[str, ModelGate] = {}
        self._shared: dict[str, Mapping[Role, Model]] = {}
        self._lock = threading.Lock()

    def shared(self, config: Config) -> Mapping[Role, Model]:
        """The models that every run of this configuration uses, each asked for first.

        Raises:
            ModelUnavailable: one cannot be asked; says what to type.
        """
        key = config.hash()
        with self._lock:
            if key not in self._shared:
                self._shared[key] = self._own(config, {})
            return self._shared[key]

    def _own(self, config: Config, answered: Mapping[str, int]) -> Mapping[Role, Model]:
        """`answered`: replies each role has had, a scripted or replayed run goes on there."""
        maker = models.Maker(
            runs=self._runs,
            clock=self._clock,
            prices=config.prices,
            answered={role: n for role, n in answered.items() if role in config.models},
        )
        wanted = {role: config.model(role) for role in config.models}
        chosen = models.choose(wanted, maker=maker, fallback=_fallback(config))
        for note in chosen.notes:
            self.notify(note)
        if not self.gated or chosen.notes:
            return chosen.models
        return {
            role: self._behind_gate(model, wanted[role]) for role, model in chosen.models.items()
        }

    @contextlib.contextmanager
    def cast(
        self, config: Config, *, answered: Mapping[str, int] | None
    ) -> Iterator[Mapping[Role, Model]]:
        """The models of one run: its own and gone with it, or for `None` the shared ones.

        Raises:
            ModelUnavailable: one cannot be asked; says what to type.
        """
        if answered is None:
            yield self.shared(config)
            return
        own = self._own(config, answered)
        try:
            yield own
        finally:
            _dismiss(own)

    def _behind_gate(self, model: Model, settings: ModelSettings) -> Model:
        """Ollama alone swaps models by itself; a server of one model needs no gate."""
        if settings.provider != "ollama":
            return model
        gate = self._gates.setdefault(settings.base_url or "", ModelGate())
        # Another window size is another load.
        return Gated(model, gate, f"{settings.model}@{settings.options.num_ctx}")

    def close(self) -> None:
        """Give them all back; safe to call twice."""
        with self._lock:
            groups, self._shared = list(self._shared.values()), {}
        for group in groups:
            _dismiss(group)


def _dismiss(group: Mapping[Role, Model]) -> None:
    for model in group.values():
        model.close()


def _fallback(config: Config) -> Mapping[Role, ModelSettings] | None:
    name = config.fallback
    return {role: config.settings_for(name, role) for role in config.models} if name else None


def refuse_unpriced(config: Config) -> None:
    """Before anything is asked: a cost limit can be kept only where every price is known.

    Raises:
        ConfigError: names the models without one.
    """
    settings = [config.model(role) for role in config.models]
    unknown = [
        one.name for one in settings if models.prices_for(one, config.prices).of(one.name) is None
    ]
    if unknown:
        raise ConfigError(
            "--cost-limit",
            f"nobody knows what {', '.join(dict.fromkeys(unknown))} costs",
            "Give prices: in the configuration, e.g. "
            f"prices: {{{unknown[0]}: {{input: 1.0, output: 4.0}}}} (US dollars, million tokens).",
        )
