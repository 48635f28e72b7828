"""The command line."""

from agent_loop.cli.main import main

__all__ = ["main"]
