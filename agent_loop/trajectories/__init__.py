"""A run's trace in other forms: mini-swe-agent's, ATIF, and one page to read it on."""

from agent_loop.trajectories.atif import ATIF_VERSION, atif
from agent_loop.trajectories.page import page
from agent_loop.trajectories.story import Story, read_story
from agent_loop.trajectories.traj import TRAJ_FORMAT, traj

__all__ = ["ATIF_VERSION", "TRAJ_FORMAT", "Story", "atif", "page", "read_story", "traj"]
