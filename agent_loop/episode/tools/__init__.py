"""The tools of an episode, and the container that they work in."""

from agent_loop.episode.tools.bash import BashTools
from agent_loop.episode.tools.boxes import Ground
from agent_loop.episode.tools.container import Container
from agent_loop.episode.tools.harvest import Harvest
from agent_loop.episode.tools.structured import StructuredTools, Suite
from agent_loop.episode.tools.toolbox import Tools

__all__ = [
    "BashTools",
    "Container",
    "Ground",
    "Harvest",
    "StructuredTools",
    "Suite",
    "Tools",
]
