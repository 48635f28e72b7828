"""Rewrites that are not whole: cut at a limit, or `... rest unchanged ...`."""

import re
from collections.abc import Sequence

_COMMENT = re.compile(r"^\s*(?:#|//|/\*|--|<!--|;|\*|%|\{/\*|\"\"\"|\.\.\.|…|\[|\()")
_DOTS = re.compile(r"\.\.\.|…")
_WORDS = re.compile(
    r"\b(?:rest|remain(?:s|ing|der)?|unchanged|existing|same|previous|before|above|omitted|other"
    r"|others|brevity|code|continues?|truncated|methods?|functions?|keep|as is|your"
    r"|implementation)\b"
    r"|其余|不变|省略|同上|保持|其他",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"\b(?:(?:rest|remainder) of (?:the |this |your )?"
    r"(?:code|file|class|module|function|method|program|script)s?"
    r"|(?:rest|remainder|remaining \w+|everything else|all else|other \w+)"
    r"(?: \w+){0,4} (?:unchanged|the same|as before|as is|omitted|stays?|remains?)"
    r"|existing code(?: here)?|(?:same|code) as before|unchanged code|rest as before"
    r"|omitted for brevity|previous code(?: here)?|no changes? (?:here|below|above)"
    r"|keep (?:the )?(?:rest|existing|remaining)\b)"
    r"|其余.{0,12}不变|代码省略|保持不变|其他代码",
    re.IGNORECASE,
)
MIN_LINES_LOST = 30
_PLACEHOLDER = re.compile(
    r"^[\s#/*<!\-(\[.…]*"
    r"(?:no changes?(?: \w+){0,3}|unchanged|same as before|not changed|无需修改|不变)"
    r"[\s.*/\-)\]>…]*$",
    re.IGNORECASE,
)


def elided_line(new: Sequence[str], old: Sequence[str]) -> str:
    """A comment that stands for lines left out, unless the file had it before; else empty."""
    before = {line.strip() for line in old}
    for line in new:
        if len(line) <= 300 and _stands_for_more(line) and line.strip() not in before:
            return line.strip()
    return ""


def _stands_for_more(line: str) -> bool:
    comment = _comment_part(line)
    if not comment:
        return False
    return bool((_DOTS.search(comment) and _WORDS.search(comment)) or _PLAIN.search(comment))


def _comment_part(line: str) -> str:
    """The text of a line that is only a comment or starts with dots."""
    return line.strip() if _COMMENT.match(line) and len(line.strip()) > 5 else ""


def placeholder(lines: Sequence[str]) -> bool:
    """The whole block says `no changes`."""
    full = [line for line in lines if line.strip()]
    return len(full) == 1 and len(full[0]) < 120 and bool(_PLACEHOLDER.match(full[0]))


def shrunk(new: Sequence[str], old: Sequence[str]) -> bool:
    """Less than half of a file is left, and at least 30 lines are gone."""
    return len(new) * 2 < len(old) and len(old) - len(new) >= MIN_LINES_LOST


def lost_definitions(new_names: frozenset[str], old_names: frozenset[str]) -> frozenset[str]:
    """Names gone, where more than half of them are and at least two: a snippet, not a file."""
    gone = old_names - new_names
    return gone if len(gone) >= 2 and len(gone) * 2 > len(old_names) else frozenset()
