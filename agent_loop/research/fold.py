"""The one folding both sides of a quote go through, and the search for one folded text in another.

Forgiven, by a fixed table: white space, ligatures, dash and quote style, soft hyphens, words broken
at a line's end, composed or decomposed letters, LaTeX and HTML spellings of the same character.
Nothing else is: letters that look alike, invisible characters, case and punctuation count, and an
exponent is no digit (10⁻³ is 10^{-3}, never 10-3). NFKC would fold too much and too little.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from agent_loop.research.latex import read_latex
from agent_loop.research.trace import Kept, Traced, rewrite, traced

BREAK = "\x00"
"""Stands where a line ended in a hyphen between letters: the word may or may not own it."""

TABLE = {
    # ligatures
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "œ": "oe",
    "Œ": "OE", "æ": "ae", "Æ": "AE", "ĳ": "ij", "Ĳ": "IJ",
    # dashes
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-",
    "\u2212": "-", "\ufe58": "-", "\ufe63": "-",
    # quotes and primes
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "`": "'", "\u00b4": "'",
    "\u02bc": "'",
    "\u2039": "'", "\u203a": "'", "\u2032": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"',
    "\u201f": '"', "«": '"', "»": '"', "\u2033": '"',
    # one character under two names
    "…": "...", "µ": "μ", "ϵ": "ε", "ϕ": "φ", "ϑ": "θ", "∼": "~", "⋅": "·", "∙": "·",
    # set only to break a line
    "\u00ad": "",
}  # fmt: skip
"""Character -> what it is folded to."""

_SUPER = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
_SUB = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()", strict=True))

_NUL = re.compile(BREAK)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_SOFT_BREAK = re.compile(r"\u00ad[ \t\r]*\n[ \t]*")
_DASHES = re.compile(r"(?<!-)---?(?!-)")
_DOUBLED = re.compile(r"``|''")
_TABLE = re.compile("[" + re.escape("".join(TABLE)) + "]")
_SUPERS = re.compile(f"[{''.join(_SUPER)}]+")
_SUBS = re.compile(f"[{''.join(_SUB)}]+")
_RAISED = re.compile(r"([\^_])(?:\{([^{}]*)\}|([+-]?[0-9]+|[A-Za-z*+-]))")
_DOUBLE = re.compile(r'(?<![0-9])"')
_LINE_BREAK = re.compile(r"(?<=[^\W\d_])-[ \t\r]*\n[ \t]*(?=[^\W\d_])")
_DIGIT_BREAK = re.compile(r"(?<=\w)-\s+(?=[0-9])|(?<=[0-9])-\s+(?=\w)")
_SPACE = re.compile(r"\s+")
_EDGES = re.compile(r"\A\s+|\s+\Z")
_AROUND_SIGNS = re.compile(r" ?([=<>≤≥≠≈≃≡∝±∓×÷·→←+∈≲≳≪≫]) ?")
_AFTER_TILDE = re.compile(r"~ ")


@lru_cache(maxsize=512)
def fold(text: str) -> Traced:
    """`text` in the form in which quotes are compared."""
    return _folded(traced(text))


@lru_cache(maxsize=512)
def fold_source(text: str) -> Traced:
    """The same for a paper's text, which may hold characters that only steer how others are shown:
    nobody can copy those, so they are left out. In an answer they are not.
    """
    return _folded(_seen(text))


@lru_cache(maxsize=512)
def spaced(text: str) -> Traced:
    """The text with its white space alone folded: what stands so in a paper needs no more reading.

    (A lone `$` of a part pairs with another one in the whole.)
    """
    out = _seen(text)
    return rewrite(rewrite(out, _EDGES, lambda _: ""), _SPACE, lambda _: " ")


def _seen(text: str) -> Traced:
    kept = tuple(at for at, char in enumerate(text) if char.isspace() or not invisible(char))
    return Traced("".join(text[at] for at in kept), kept, tuple(at + 1 for at in kept))


def _folded(out: Traced) -> Traced:
    out = rewrite(out, _NUL, lambda _: "\ufffd")
    out = rewrite(out, _ENTITY, lambda m: html.unescape(m[0]).replace(BREAK, "\ufffd"))
    out = rewrite(out, _SOFT_BREAK, lambda _: "")
    out = compose(read_latex(out))
    out = rewrite(out, _DASHES, lambda _: "-")
    out = rewrite(out, _DOUBLED, lambda _: '"')
    out = rewrite(out, _TABLE, lambda m: TABLE[m[0]])
    out = rewrite(out, _SUPERS, lambda m: "^{" + "".join(_SUPER[c] for c in m[0]) + "}")
    out = rewrite(out, _SUBS, lambda m: "_{" + "".join(_SUB[c] for c in m[0]) + "}")
    out = rewrite(out, _RAISED, _raised)
    out = rewrite(out, _LINE_BREAK, lambda _: BREAK)
    out = rewrite(out, _DIGIT_BREAK, lambda _: "-")
    out = rewrite(rewrite(out, _EDGES, lambda _: ""), _SPACE, lambda _: " ")
    out = rewrite(out, _AROUND_SIGNS, lambda m: Kept(m.start(1), m.end(1)))
    out = rewrite(out, _AFTER_TILDE, lambda _: "~")
    # A quote inside a quote changes its marks; after a digit they are minutes and seconds.
    return rewrite(out, _DOUBLE, lambda _: "'")


def _raised(match: re.Match[str]) -> str:
    inner = match[2] if match[2] is not None else match[3]
    return match[1] + "{" + re.sub(r"\s+", "", inner) + "}"


def compose(old: Traced) -> Traced:
    """NFC, cluster by cluster so that offsets survive."""
    if old.text.isascii() or unicodedata.is_normalized("NFC", old.text):
        return old
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(old.text):
        new = unicodedata.normalize("NFC", old.text[start:end])
        first, last = old.original(start, end)
        text.append(new)
        starts.extend([first] * len(new))
        ends.extend([last] * len(new))
    return Traced("".join(text), tuple(starts), tuple(ends))


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Spans that NFC changes independently of each other."""
    start = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and _joins(text[start:at], text[at]):
            continue
        yield start, at
        start = at


def _joins(before: str, char: str) -> bool:
    if char.isascii():
        return False
    if unicodedata.combining(char):
        return True
    form = unicodedata.normalize
    return form("NFC", before + char) != form("NFC", before) + form("NFC", char)


# --- searching ------------------------------------------------------------------------------

_HYPHENS = {"-", "\u2010", "\u2011"}
_PIECE = re.compile(rf"{BREAK}|(?<=[^\W\d_])- (?=[^\W\d_])|[\s\S]")


@lru_cache(maxsize=512)
def _pattern(needle: str) -> re.Pattern[str]:
    parts: list[str] = []
    for piece in _PIECE.findall(needle):
        if piece == BREAK:
            parts.append(f"(?:- ?|{BREAK})?")
        elif piece == "- ":
            parts.append(f"(?:- |{BREAK})")
        elif piece == "-":
            parts.append(f"[-{BREAK}]")
        else:
            parts.append(f"{BREAK}?{re.escape(piece)}" if parts else re.escape(piece))
    return re.compile("".join(parts))


def find(needle: Traced, hay: Traced, source: str, start: int = 0) -> tuple[int, int] | None:
    """Where `needle` stands in `hay` as whole words, from `start` on; offsets in `hay.text`.

    `source` is the text `hay` was folded from: it knows which dashes were hyphens.
    """
    if not needle.text:
        return None
    pattern = _pattern(needle.text)
    match = pattern.search(hay.text, start)
    while match:
        if whole(hay, source, match.start(), match.end()):
            return match.start(), match.end()
        match = pattern.search(hay.text, match.start() + 1)
    return None


def whole(hay: Traced, source: str, start: int, end: int) -> bool:
    """Whether `hay.text[start:end]` cuts no word and no number.

    `linear models are enough` is not a quote from `non-linear models are enough`, nor is
    `a rate of 1` one from `a rate of 1.5`, nor `... of 5` one from `... of 5%`.
    """
    text = hay.text
    return not _cut_before(hay, source, start) and not (
        end < len(text) and _cut_after(hay, source, end)
    )


def _cut_before(hay: Traced, source: str, start: int) -> bool:
    text = hay.text
    first, before = text[start], text[start - 1] if start else " "
    if not _wordy(first):
        opens_number = first in "-.," and start + 1 < len(text) and text[start + 1].isdigit()
        return first in "^_{%" or (opens_number and _wordy(before))
    if _wordy(before) or before == BREAK:
        return True
    if first.isdigit() and before in "-.,±^_{~$":
        return before not in ".," or (start > 1 and text[start - 2].isdigit()) or before == "."
    return (
        before == "-" and start > 1 and _wordy(text[start - 2]) and _hyphen(hay, source, start - 1)
    )


def _cut_after(hay: Traced, source: str, end: int) -> bool:
    text = hay.text
    last, after = text[end - 1], text[end]
    following = text[end + 1] if end + 1 < len(text) else " "
    if not _wordy(last) and last != "}":
        return last in ".," and after.isdigit() and end > 1 and text[end - 2].isdigit()
    if _wordy(after) or after == BREAK:
        return _wordy(last)
    if last.isdigit() and (after in "%°^_" or (after in ".,-:/" and following.isdigit())):
        return True
    if after in "^_" and following == "{":
        return True
    return after == "-" and _wordy(following) and _hyphen(hay, source, end)


def _wordy(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")


def _hyphen(hay: Traced, source: str, at: int) -> bool:
    start, end = hay.original(at, at + 1)
    return source[start:end] in _HYPHENS


# --- what no fold forgives ------------------------------------------------------------------

_BLANK_LETTERS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}


def invisible(char: str) -> bool:
    """Whether a reader cannot see that this character is there (soft hyphens are folded away)."""
    code = ord(char)
    if char in "\n\t\r\u00ad" or (char.isascii() and char.isprintable()):
        return False
    if code in _BLANK_LETTERS or 0xFE00 <= code <= 0xFE0F or 0x180B <= code <= 0x180F:
        return True
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} or (
        0xE0100 <= code <= 0xE01EF
    )


def name_of(char: str) -> str:
    """`U+200B ZERO WIDTH SPACE`."""
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()
