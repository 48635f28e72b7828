"""What a model call cost. Local models cost nothing; a price nobody knows is unknown, never 0."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path

from agent_loop.config import PriceSettings
from agent_loop.errors import ConfigError
from agent_loop.ports import Usage
from agent_loop.yamlfile import load

FREE = frozenset({"ollama", "embedded", "scripted", "replay"})
"""Providers on this machine; an owner who pays for power gives them a price."""
_MILLION = 1_000_000
_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices by `provider:model`: the owner's over the shipped table."""

    own: Mapping[str, PriceSettings] = field(default_factory=dict)
    official: frozenset[str] = frozenset({"openai", "anthropic"})
    """Providers at their own address: a compatible server elsewhere has prices of its own."""

    def of(self, name: str) -> PriceSettings | None:
        """The price of a model, `None` where nobody knows it; a dated name is its model's."""
        if name in self.own:
            return self.own[name]
        provider = name.partition(":")[0]
        if provider in FREE:
            return PriceSettings(input=0.0, output=0.0)
        if provider not in self.official:
            return None
        table = shipped()
        return table.get(name) or table.get(_DATED.sub("", name))

    def priced(self, usage: Usage, name: str) -> Usage:
        """The usage with what it cost; calls without token counts or price stay unpriced."""
        price = self.of(name)
        if price is None:
            return replace(usage, unpriced_calls=usage.calls)
        if not (price.input or price.output):
            return usage
        cached = price.input if price.cached_input is None else price.cached_input
        fresh = max(0, usage.input_tokens - usage.reused_tokens)
        dollars = fresh * price.input + usage.reused_tokens * cached
        dollars += usage.output_tokens * price.output
        return replace(usage, cost_usd=dollars / _MILLION, unpriced_calls=usage.unmeasured_calls)


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, PriceSettings]:
    """The table of this release.

    Raises:
        ConfigError: somebody broke the file.
    """
    path = resources.files("agent_loop.models") / "prices.yaml"
    models = load(Path(str(path))).data["models"]
    if not isinstance(models, Mapping):
        raise ConfigError(str(path), "has no models")
    table: dict[str, PriceSettings] = {}
    for name, entry in models.items():
        if not isinstance(entry, Mapping):
            raise ConfigError(str(path), f"{name} is no price")
        fields = {key: value for key, value in entry.items() if key != "source"}
        table[str(name)] = PriceSettings.model_validate(fields)
    return table
