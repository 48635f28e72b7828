"""Task files: what is wanted, and what decides whether it was done."""

from agent_loop.tasks.builtin import palindrome
from agent_loop.tasks.load import find, load
from agent_loop.tasks.model import CodeTask, ProjectTask, ResearchTask, Task

__all__ = ["CodeTask", "ProjectTask", "ResearchTask", "Task", "find", "load", "palindrome"]
