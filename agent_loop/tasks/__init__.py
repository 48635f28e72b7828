"""Task files: what is wanted, and what decides whether it was done."""

from agent_loop.tasks.builtin import capped_palindrome, palindrome
from agent_loop.tasks.load import find, load
from agent_loop.tasks.model import CodeTask, ProjectTask, ResearchTask, Task
from agent_loop.tasks.record import from_record, test_hash, to_record

__all__ = [
    "CodeTask",
    "ProjectTask",
    "ResearchTask",
    "Task",
    "capped_palindrome",
    "find",
    "from_record",
    "load",
    "palindrome",
    "test_hash",
    "to_record",
]
