"""Text of models on a terminal: it may not move the cursor, change colours or turn the reading.

Model text is hostile: an escape sequence can repaint a verdict, a right-to-left mark can turn
"not passed" around, a thousand accents can hide a line.
"""

import unicodedata

_MAX_MARKS = 2
_KEPT = frozenset("\n\t")
_BLANKS = frozenset("\u2028\u2029\u0085\u115f\u1160\u3164\uffa0\u2800")


def safe(text: str) -> str:
    r"""The same text with everything that acts on a terminal shown as `\x1b` or `\u202e`.

    Line ends and tabs stay; at most two combining marks stay on one letter.
    """
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    marks = 0
    for char in text.replace("\r\n", "\n"):
        category = unicodedata.category(char)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks > _MAX_MARKS:
            continue
        acts = category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or char in _BLANKS
        out.append(_named(char) if acts and char not in _KEPT else char)
    return "".join(out)


def one_line(text: str, limit: int = 200) -> str:
    """Safe, on one line, at most `limit` characters."""
    flat = " ".join(safe(text[: limit * 8]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def few_lines(text: str, limit: int) -> str:
    """Safe, at most `limit` lines, with a word about the rest."""
    lines = safe(text).strip("\n").split("\n")
    if len(lines) <= limit:
        return "\n".join(lines)
    return "\n".join([*lines[:limit], f"… {len(lines) - limit} more lines"])


def _named(char: str) -> str:
    code = ord(char)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
