"""Finds the sites of a source file and what could be wrong at each; formatting stays untouched."""

from agent_loop.benchgen.mutators.collect import bugs_of
from agent_loop.benchgen.mutators.registry import KINDS

__all__ = ["KINDS", "bugs_of"]
