"""How long a quote is, in words: one measure for what is numbered and for what is judged."""

import unicodedata

MIN_WORDS = 4
"""A shorter quote proves nothing."""


def words(text: str) -> int:
    """How many words, counted so that no script and no blank can hide one."""
    count = 0
    for token in text.split():
        letters = sum(unicodedata.category(char) == "Lo" for char in token)
        count += letters or any(char.isalnum() for char in token)
    return count
