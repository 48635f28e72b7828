"""Model adapters; the only room that imports model clients."""

from agent_loop.models.choose import Chosen, choose
from agent_loop.models.make import Maker, make_model, prices_for
from agent_loop.models.scripted import Line, Script, ScriptedModel

__all__ = [
    "Chosen",
    "Line",
    "Maker",
    "Script",
    "ScriptedModel",
    "choose",
    "make_model",
    "prices_for",
]
