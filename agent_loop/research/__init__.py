"""Research: what arXiv answered, ids and text folding. Knows nothing of answers or checks."""

from agent_loop.research.fold import find, fold, fold_source, invisible, name_of, spaced, whole
from agent_loop.research.ids import PaperId, parse
from agent_loop.research.papers import Paper, Search
from agent_loop.research.trace import Traced

__all__ = [
    "Paper",
    "PaperId",
    "Search",
    "Traced",
    "find",
    "fold",
    "fold_source",
    "invisible",
    "name_of",
    "parse",
    "spaced",
    "whole",
]
