"""The numbers of a text, as whole tokens: `4`, `1.5`, `-3`, `90%`, `10^{-3}`, `GPT-4`, `10k`."""

import re
import unicodedata
from dataclasses import dataclass

from agent_loop.research import fold

_RUN = re.compile(
    r"(?:[^\W_]|(?<=\d)[.,:/](?=\d)|(?<=[^\W\d_])-(?=\d)|[_^]\{[^{}]*\}|(?<![\w.,])\.(?=\d))+"
)
_PERCENT = re.compile(r" ?%| ?per ?cent\b")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number token; offsets in the text it was read from."""

    token: str
    """Canonical: equal tokens are the same number."""
    start: int
    end: int


def numbers(text: str) -> tuple[Number, ...]:
    """Every token that holds a digit, or any other character that stands for a number."""
    folded = fold(text)
    found = []
    for match in _RUN.finditer(folded.text):
        if not any(unicodedata.category(char).startswith("N") for char in match[0]):
            continue
        start, end = folded.original(match.start(), match.end())
        percent = _PERCENT.match(folded.text, match.end())
        token = _THOUSANDS.sub(lambda m: m[0].replace(",", ""), match[0])
        token = f"0{token}" if token.startswith(".") else token
        sign = "-" if _negative(folded.text, match.start()) else ""
        found.append(Number(token=sign + token + ("%" if percent else ""), start=start, end=end))
    return tuple(found)


def _negative(text: str, at: int) -> bool:
    return (
        at > 0
        and text[at - 1] == "-"
        and text[at].isdigit()
        and not (at > 1 and (text[at - 2].isalnum() or text[at - 2] in ")}%-"))
    )
