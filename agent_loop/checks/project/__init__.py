"""The gate of project tasks: with pytest, seven proofs and more; with any other command, fewer."""

from agent_loop.checks.project.bench import Reproduced
from agent_loop.checks.project.check import NOTE, TREE, Place, ProjectCheck

__all__ = ["NOTE", "TREE", "Place", "ProjectCheck", "Reproduced"]
