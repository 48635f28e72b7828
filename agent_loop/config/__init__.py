"""The configuration: read once, layered, checked, frozen, passed down."""

from agent_loop.config.load import (
    ALLOW_LOCAL,
    Patch,
    base_file,
    clone,
    for_this_process,
    from_record,
    load,
    state_dir,
)
from agent_loop.config.rolemodels import model_sets
from agent_loop.config.schema import (
    CheckSettings,
    Config,
    ModelOptions,
    ModelSettings,
    OtelSettings,
    PriceSettings,
    SandboxSettings,
)
from agent_loop.config.values import PROVIDERS, split_model

__all__ = [
    "ALLOW_LOCAL",
    "PROVIDERS",
    "CheckSettings",
    "Config",
    "ModelOptions",
    "ModelSettings",
    "OtelSettings",
    "Patch",
    "PriceSettings",
    "SandboxSettings",
    "base_file",
    "clone",
    "for_this_process",
    "from_record",
    "load",
    "model_sets",
    "split_model",
    "state_dir",
]
