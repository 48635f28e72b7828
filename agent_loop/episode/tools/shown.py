"""What a model is shown of hostile output: bounded, and no byte that acts on a terminal."""

import re

_ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Control characters by their number (`\x1b`); line ends and tabs stay."""
    plain = text.replace("\r\n", "\n")
    return _ACTS.sub(lambda found: f"\\x{ord(found[0]):02x}", plain)


def one_line(text: str, most_chars: int = 200) -> str:
    r"""A hostile name on one line, its line ends and tabs shown as `\x0a`."""
    return visible(text[:most_chars]).replace("\n", "\\x0a").replace("\t", "\\x09")


def decoded(data: bytes) -> str:
    r"""Bytes that are not UTF-8 by their number (`\xff`)."""
    return visible(data.decode("utf-8", "backslashreplace"))


def cut(text: str, most_chars: int) -> tuple[str, bool]:
    """The beginning and the end of a text that is too long, and whether anything is missing."""
    if len(text) <= most_chars:
        return text, False
    marker = marked(len(text) - most_chars, "characters")
    room = max(0, most_chars - len(marker))
    head = room - room // 2
    return text[:head] + marker + (text[-(room // 2) :] if room // 2 else ""), True


def marked(count: int, unit: str) -> str:
    """Stands where something was taken out."""
    return f"\n[... {count} {unit} left out ...]\n"
