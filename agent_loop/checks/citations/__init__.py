"""The citation gate: every cited paper fetched, every quote verbatim, every number in a quote."""

from agent_loop.checks.citations.check import CitationCheck
from agent_loop.checks.citations.gate import judge
from agent_loop.checks.citations.judgement import Judgement

__all__ = ["CitationCheck", "Judgement", "judge"]
