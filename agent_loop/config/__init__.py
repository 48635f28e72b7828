"""The configuration: read once, layered, checked, frozen, passed down."""

from agent_loop.config.load import ALLOW_LOCAL, load
from agent_loop.config.schema import (
    PROVIDERS,
    CheckSettings,
    Config,
    ModelOptions,
    ModelSettings,
    SandboxSettings,
    split_model,
)

__all__ = [
    "ALLOW_LOCAL",
    "PROVIDERS",
    "CheckSettings",
    "Config",
    "ModelOptions",
    "ModelSettings",
    "SandboxSettings",
    "load",
    "split_model",
]
