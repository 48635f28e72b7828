"""Turns a title into a slug."""

import re

_NOT_A_WORD = re.compile(r"[^a-z0-9-]")


def slugify(text, separator="-", max_length=None):
    """Lower-case words joined by `separator`; accents folded, at most `max_length` characters."""
    text = text.lower().strip()
    text = _NOT_A_WORD.sub("-", text)
    slug = text.strip("-").replace("-", separator)
    return shorten(slug, max_length, separator)


def shorten(slug, max_length, separator="-"):
    """Cut at a word where one fits, never with a separator at the end."""
    if max_length is None or len(slug) <= max_length:
        return slug
    cut = slug[:max_length]
    if slug[max_length] != separator and separator in cut:
        cut = cut[: cut.rindex(separator)]
    return cut.rstrip(separator)
