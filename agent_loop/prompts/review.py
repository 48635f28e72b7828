"""Reads a reviewer's opinion out of its text."""

import re
from typing import Literal

Opinion = Literal["approved", "rejected", "unclear"]

_NOT = r"\b(?:not|never|no reason to|cannot|can't|don't|won't|unable to)\b"
_GAP = r"(?:(?!approv|reject)[^.\n]){0,25}"
_NOT_APPROVED = re.compile(rf"{_NOT}{_GAP}\bapproved?\b|\bdisapproved?\b", re.IGNORECASE)
_NOT_REJECTED = re.compile(rf"{_NOT}{_GAP}\breject(?:ed)?\b", re.IGNORECASE)
_YES = re.compile(r"\bapproved?\b", re.IGNORECASE)
_NO = re.compile(r"\breject(?:ed|ion)?\b", re.IGNORECASE)
_FIRST_WORD = re.compile(
    r"\W*(?:(?:final\s+)?(?:verdict|decision|answer|review)\W+)?"
    r"(approved?|reject(?:ed)?)\s*([.:;!(–—-]|$)?",
    re.IGNORECASE,
)
_MARKUP = str.maketrans("_*`", "   ")


def opinion(text: str) -> Opinion:
    """APPROVED or REJECTED, however it was dressed; `unclear` where neither or both are said.

    A line that starts with the word decides (the last one such, since models change their mind at
    the end); else the last line that holds one of the two and not the other.
    """
    lines = [line.translate(_MARKUP) for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        first = _opening_word(line)
        if first != "unclear":
            return first
    for line in reversed(lines):
        said = _said(line)
        if said != "unclear":
            return said
    return "unclear"


def _opening_word(line: str) -> Opinion:
    match = _FIRST_WORD.match(line)
    if match is None:
        return "unclear"
    if match.group(2) is None:  # the line goes on: "APPROVED or REJECTED?" is no answer
        return _said(line)
    return "approved" if match.group(1).lower().startswith("approve") else "rejected"


def _said(line: str) -> Opinion:
    refused = bool(_NOT_APPROVED.search(line))
    left = _NOT_APPROVED.sub(" ", line)
    excused = bool(_NOT_REJECTED.search(left))
    left = _NOT_REJECTED.sub(" ", left)
    yes = bool(_YES.search(left)) or excused
    no = bool(_NO.search(left)) or refused
    if yes == no:
        return "unclear"
    return "approved" if yes else "rejected"
