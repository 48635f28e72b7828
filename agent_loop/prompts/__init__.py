"""Text files and the functions that fill them; append-only from lap to lap."""

from agent_loop.prompts.fence import bounded, cleaned, fenced
from agent_loop.prompts.messages import Brief, Lap, Prompts, load
from agent_loop.prompts.review import opinion

__all__ = ["Brief", "Lap", "Prompts", "bounded", "cleaned", "fenced", "load", "opinion"]
