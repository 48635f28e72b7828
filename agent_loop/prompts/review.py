"""Reads a reviewer's opinion out of its text."""

import re
from typing import Literal

Opinion = Literal["approved", "rejected", "unclear"]

_NOT_APPROVED = re.compile(
    r"\b(?:not|never|cannot|can't|can not|don't|do not|won't|will not|unable to)\b[^.\n]{0,25}"
    r"\bapproved?\b|\bdisapproved?\b",
    re.IGNORECASE,
)
_NOT_REJECTED = re.compile(
    r"\b(?:not|never|no reason to|cannot|can't|don't|do not|won't)\b[^.\n]{0,25}\breject(?:ed)?\b",
    re.IGNORECASE,
)
_YES = re.compile(r"\bapproved?\b", re.IGNORECASE)
_NO = re.compile(r"\breject(?:ed|ion)?\b", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[\W_]*(?:(?:final\s+)?(?:verdict|decision|answer|review)\W+)?(\w+)")


def opinion(text: str) -> Opinion:
    """APPROVED or REJECTED, however it was dressed; `unclear` where neither or both are said.

    A line that starts with the word decides (the last one such, since models change their mind at
    the end); else the last line that holds one of the two and not the other.
    """
    lines = [line for line in text.splitlines() if line.strip()]
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
    word = match.group(1).upper() if match else ""
    if word not in {"APPROVED", "REJECTED", "APPROVE", "REJECT"}:
        return "unclear"
    return _said(line)


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
