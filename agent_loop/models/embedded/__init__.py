"""A small real model inside this process: weak answers, nothing to install or start."""

from agent_loop.models.embedded.adapter import EmbeddedProvider
from agent_loop.models.embedded.weights import EMBEDDED_MODELS, weights_file

__all__ = ["EMBEDDED_MODELS", "EmbeddedProvider", "weights_file"]
