"""Keeps hostile text inside its bounds: length, characters, and the block it stands in."""

import re

MAX_TEXT_CHARS = 16_000


def cleaned(text: str) -> str:
    """The text with lone surrogates and NULs as `?`: nothing downstream can store those."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def bounded(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """At most `limit` characters: the middle is taken out and a marker says how much."""
    if len(text) <= limit:
        return text
    marker = f"\n[... {len(text) - limit:,} characters and more left out here ...]\n"
    keep = limit - len(marker)
    if keep <= 0:
        return text[:limit]
    head = keep - keep // 2
    return text[:head] + marker + text[len(text) - keep // 2 :]


def fenced(text: str, word: str = "") -> str:
    """The text in a block that nothing inside it can close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    bar = "`" * (longest + 1)
    return f"{bar}{word}\n{text.rstrip()}\n{bar}"
