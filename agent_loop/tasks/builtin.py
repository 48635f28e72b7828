"""The task that runs when none is named."""

import hashlib
from dataclasses import replace

from agent_loop.tasks.model import CodeTask

_TASK = (
    "Write a Python function is_palindrome(s) that returns True if the string s reads the same "
    "forwards and backwards, and False otherwise."
)
_TESTS = (
    "assert is_palindrome('level') is True",
    "assert is_palindrome('hello') is False",
    "assert is_palindrome('') is True",
    "assert is_palindrome('a') is True",
    "assert is_palindrome('ab') is False",
)
_HIDDEN_TESTS = (
    "assert is_palindrome('abba') is True",
    "assert is_palindrome('abca') is False",
    "assert is_palindrome('Level') is False",
    "assert is_palindrome('never odd') is False",
)


def palindrome() -> CodeTask:
    """A word that reads the same both ways."""
    text = "\n".join((_TASK, *_TESTS, "", *_HIDDEN_TESTS))
    return CodeTask(
        name="palindrome",
        task=_TASK,
        tests=_TESTS,
        hidden_tests=_HIDDEN_TESTS,
        source_hash=hashlib.sha256(text.encode()).hexdigest(),
    )


def capped_palindrome() -> CodeTask:
    """The same with a test that nothing can pass, to see what happens at the cap (`--cap`)."""
    task = palindrome()
    impossible = "assert is_palindrome('level') is False"
    return replace(
        task,
        name="palindrome-cap",
        tests=(*task.tests, impossible),
        source_hash=hashlib.sha256((task.source_hash + impossible).encode()).hexdigest(),
    )
