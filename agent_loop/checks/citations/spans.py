"""Where an answer quotes: text between quotation marks of any style, and block quotes.

Nested marks belong to the outer quote, which is judged whole. A quote ends in the paragraph it
began in. Single marks count where they open before a word and close after one; else they are
apostrophes.
"""

from dataclasses import dataclass

from agent_loop.checks.citations.blocks import Paragraph

MAX_BESIDE_WORDS = 6
"""In a block quote with quotes in it, more of its own words (a name, a citation) are quoted too."""
_STRAIGHT = frozenset('"＂″ʺ˝‟')
_PAIRS = {"“": "”", "„": "”“", "«": "»", "»": "«", "「": "」", "『": "』", "❝": "❞", "〝": "〞〟"}
# Marks that also stand for something else (brackets of formulas, primes, apostrophes): they quote
# where they have a partner, and are no fault where they have none.
_LOOSE_PAIRS: dict[str, str | tuple[str, ...]] = {
    "‹": "›", "《": "》", "〈": "〉", "｢": "｣", "❮": "❯", "⟪": "⟫", "⟨": "⟩", "﹁": "﹂",
    "﹃": "﹄", "⹂": "”“", "🙶": "🙷", "🙸": "🙷", "<<": (">>",), ",,": ("''", "“", "”"),
}  # fmt: skip
_TWICE = frozenset("”’›〟❞ˮ״″‴〃′ʹʼ｀‵ˊ")
_SINGLE_OPEN = frozenset("'‘‚`´❛＇")
_SINGLE_CLOSE = frozenset("'’‘´❜＇")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One quoted span; offsets in the paragraph's text, the marks outside `start:end`."""

    start: int
    end: int
    outer_start: int
    outer_end: int
    closed: bool = True
    marks: str = '"'


def spans(paragraph: Paragraph) -> tuple[Span, ...]:
    """The outermost quoted spans, in order."""
    text = paragraph.text
    found: list[Span] = []
    at = 0
    while at < len(text):
        span = _span_at(text, at)
        if span is None:
            at += 1
        else:
            found.append(span)
            at = max(span.outer_end, at + 1)
    for start, end in paragraph.block_quotes:
        inner = [one for one in found if one.outer_start < end and start < one.outer_end]
        if not inner or _own_words(text, start, end, inner) > MAX_BESIDE_WORDS:
            found = [one for one in found if one not in inner]
            found.append(Span(start=start, end=end, outer_start=start, outer_end=end, marks=">"))
    return tuple(sorted(found, key=lambda one: one.start))


def _own_words(text: str, start: int, end: int, inner: list[Span]) -> int:
    """How many words of a block quote stand outside the quotes in it."""
    rest = list(text[start:end])
    for one in inner:
        for at in range(max(one.outer_start, start), min(one.outer_end, end)):
            rest[at - start] = " "
    return sum(any(char.isalnum() for char in word) for word in "".join(rest).split())


def _span_at(text: str, at: int) -> Span | None:
    char = text[at]
    if text.startswith("``", at):
        close = text.find("''", at + 2)
        return None if close < 0 else _span(at, 2, close, 2, "``")
    if char in _STRAIGHT:
        return _straight(text, at)
    if char in _PAIRS:
        return _paired(text, at, _PAIRS[char])
    if char in _SINGLE_OPEN:
        return _single(text, at)
    return _loose(text, at)


def _loose(text: str, at: int) -> Span | None:
    opener = text[at : at + 2] if text[at : at + 2] in _LOOSE_PAIRS else text[at]
    after = text[at + len(opener) : at + len(opener) + 1]
    if opener in _LOOSE_PAIRS and not after.isspace():
        places = [(text.find(one, at + len(opener)), one) for one in _LOOSE_PAIRS[opener]]
        close, closer = min([one for one in places if one[0] >= 0], default=(-1, ""))
        return None if close < 0 else _span(at, len(opener), close, len(closer), opener)
    if opener in _TWICE and _opens(text, at):
        return _again(text, at)
    return None


def _again(text: str, at: int) -> Span | None:
    """A mark that opens before a word and closes, the same one, behind another."""
    mark = text[at]
    for place in range(at + 2, len(text)):
        following = text[place + 1] if place + 1 < len(text) else " "
        if text[place] == mark and not (text[place - 1].isspace() or following.isalnum()):
            return _span(at, 1, place, 1, mark)
    return None


def _span(start: int, open_len: int, close: int, close_len: int, marks: str) -> Span:
    return Span(
        start=start + open_len,
        end=close,
        outer_start=start,
        outer_end=close + close_len,
        marks=marks,
    )


def _open_ended(text: str, at: int) -> Span:
    return Span(
        start=at + 1, end=len(text), outer_start=at, outer_end=len(text), closed=False,
        marks=text[at],
    )  # fmt: skip


def _opens(text: str, at: int) -> bool:
    before = text[at - 1] if at else " "
    after = text[at + 1] if at + 1 < len(text) else " "
    return not (before.isalnum() or before in ".,;:!?)]}%”’") and not after.isspace()


def _straight(text: str, at: int) -> Span | None:
    if not _opens(text, at):
        if at and (text[at - 1].isdigit() or text[at - 1] == "\\"):
            return None  # seconds of arc, inches; a LaTeX accent
        after = text[at + 1] if at + 1 < len(text) else " "
        if at == 0 or after.isspace() or not after.isalnum():
            return Span(
                start=at, end=at, outer_start=at, outer_end=at + 1, closed=False, marks=text[at]
            )
    if at and text[at - 1] == "\\" and text[at + 1 : at + 2] in tuple("aeiouyAEIOUY{\\"):
        return None
    depth = 1
    for place in range(at + 1, len(text)):
        if text[place] not in _STRAIGHT or text[place - 1] == "\\":
            continue
        depth += 1 if _opens(text, place) and text[place - 1] not in "-—–/" else -1
        if depth == 0:
            return _span(at, 1, place, 1, text[at])
    return _shallow(text, at)


def _shallow(text: str, at: int) -> Span:
    """Marks that do not nest as they look: the next one closes."""
    for place in range(at + 1, len(text)):
        if text[place] in _STRAIGHT and not text[place - 1].isspace():
            return _span(at, 1, place, 1, text[at])
    return _open_ended(text, at)


def _paired(text: str, at: int, closers: str) -> Span:
    depth = 0
    opener = text[at]
    for place in range(at, len(text)):
        if text[place] == opener:
            depth += 1
        elif text[place] in closers:
            depth -= 1
            if depth == 0:
                return _span(at, 1, place, 1, opener)
    return _open_ended(text, at)


def _single(text: str, at: int) -> Span | None:
    after = text[at + 1] if at + 1 < len(text) else " "
    if not _opens(text, at) or not (after.isalnum() or after in '…([$\\“"'):
        return None
    for place in range(at + 2, len(text)):
        following = text[place + 1] if place + 1 < len(text) else " "
        if text[place] in _SINGLE_CLOSE and not (following.isalnum() or text[place - 1].isspace()):
            return _span(at, 1, place, 1, text[at])
    return None
