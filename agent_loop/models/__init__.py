"""Model adapters; the only room that imports model clients."""

from agent_loop.models.scripted import Line, Script, ScriptedModel

__all__ = ["Line", "Script", "ScriptedModel"]
