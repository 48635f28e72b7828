"""The worker with tools: many model calls and one working copy in a container, for one lap."""

from agent_loop.episode.loop import run_episode
from agent_loop.episode.terms import Episode, EpisodeLimits, Setting, StopReason

__all__ = ["Episode", "EpisodeLimits", "Setting", "StopReason", "run_episode"]
