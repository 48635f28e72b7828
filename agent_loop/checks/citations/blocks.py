"""An answer taken apart into paragraphs, and what may not stand in one at all.

A paragraph ends at a blank line; a heading, a list item and a table row are paragraphs of their
own. Marks of Markdown are blanked out, never removed: offsets stay those of the answer.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_loop.research import invisible, name_of

_BLANK = re.compile(r"\s*\Z")
_RULE = re.compile(r"\s{0,3}([-*_])(?:\s*\1){2,}\s*\Z")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s+|\Z)")
_BULLET = re.compile(r"\s*(?:[-*+•‣–]\s+)(?:\[[ xX]\]\s+)?")
_NUMBERED = re.compile(r"\s*(?:\*\*|__)?\(?([0-9]{1,3})[.)](?:\*\*|__)?(?=\s)")
_TABLE = re.compile(r"\s*\|")
_QUOTED = re.compile(r"\s{0,3}(?:>\s?)+")

_FENCE = re.compile(r"^[ \t]*(?:>[ \t]*)*(?:[-*+][ \t]+)?(`{3,}|~{3,})", re.MULTILINE)
_TAG = re.compile(
    r"<!--|<\?|<![A-Za-z]|</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|<[A-Za-z][\w:.-]*\s+[\w:.-]+\s*=\s*[\"']"
)
_IMAGE = re.compile(r"!\[")
_TITLE = re.compile(r"\]\((?:\s*+<?[^\s()<>]++>?)?\s+[\"'(]")
# A link's target and a definition are not shown: only a plain address may stand there.
_TARGET = re.compile(r"\]\((?!<?[^\s<>\"“”„«»']*>?\))")
_REFERENCE = re.compile(
    r"^[ \t]{0,3}\[(?!\^)[^\]\n]+\]:[ \t]*+(?:\n[ \t]*+)?(?!https?://[^\s<>\"“”„«»']+[ \t]*$)"
    r"(?:<[^<>\n]*>|[^ \t\n<]+)[ \t]*$",
    re.MULTILINE,
)
_FOOTNOTE = re.compile(r"^[ \t]{0,3}(\[\^[^\]\s]+\]):", re.MULTILINE)
_UNSEEN = re.compile(
    r"\\(?:[hv]?phantom|(?:text)?color|[lr]lap|smash|kern|fontsize|scalebox|html\w*|href|class"
    r"|style|tag|label|def|g?let|(?:re)?newcommand)\b|\{::|\{%|~~"
)
_MARK_COMMAND = re.compile(
    r"\\(?:enquote|text(?:quote|guillemot|guilsingl|quotesingle)\w*|[lr]q\b|say\b|guillemot\w+)"
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,12});")
_DEFINITION = re.compile(
    r"^[ \t]{0,3}\[[^\]\n]+\]:[ \t]*+(?:\n[ \t]*+)?\S+[ \t]+([\"'(]).*[\"')][ \t]*$", re.MULTILINE
)


_WRITTEN_OUT = frozenset("\"'<>[]`‘’‚‛“”„‟«»‹›")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """One paragraph of an answer; `text[i]` is the answer's character `start + i`."""

    number: int
    """From 1."""
    start: int
    text: str
    heading: bool = False
    block_quotes: tuple[tuple[int, int], ...] = ()
    """Spans of `text` written behind `>`."""


@dataclass(slots=True)
class _Open:
    """The paragraph being read."""

    start: int = 0
    text: str = ""
    heading: bool = False
    quotes: tuple[tuple[int, int], ...] = ()


def paragraphs(answer: str) -> tuple[Paragraph, ...]:
    """The paragraphs of an answer, those without any text left out."""
    found: list[Paragraph] = []
    for block in _blocks(answer):
        if block.text.strip():
            found.append(
                Paragraph(
                    number=len(found) + 1,
                    start=block.start,
                    text=block.text,
                    heading=block.heading,
                    block_quotes=block.quotes,
                )
            )
    return tuple(found)


def _blocks(answer: str) -> Iterator[_Open]:
    block = _Open()
    counted = {0}
    at = 0
    for line in answer.splitlines(keepends=True):
        text, marker = _unmarked(line, counted)
        counted.add(marker)
        heading = _HEADING.match(line) is not None
        if heading or block.heading or _stands_alone(line):
            yield block
            block = _Open(start=at, heading=heading)
        quoted = _QUOTED.match(line)
        if quoted and not _BLANK.match(text):
            block.quotes = _joined(block.quotes, len(block.text), len(block.text) + len(text))
        block.text += text
        at += len(line)
    yield block


def _stands_alone(line: str) -> bool:
    return bool(
        _BLANK.match(line)
        or _RULE.match(line)
        or _BULLET.match(line)
        or _NUMBERED.match(line)
        or _TABLE.match(line)
        or _BLANK.match(_QUOTED.sub("", line, count=1))
    )


def _joined(
    spans: tuple[tuple[int, int], ...], start: int, end: int
) -> tuple[tuple[int, int], ...]:
    if spans and spans[-1][1] == start:
        return (*spans[:-1], (spans[-1][0], end))
    return (*spans, (start, end))


def _unmarked(line: str, counted: set[int]) -> tuple[str, int]:
    """The line with its marks blanked, and the number of its list marker (0: none).

    A number is a marker only where it starts a list or counts on: `95. Percent` is no item.
    """
    if _RULE.match(line):
        return re.sub(r"\S", " ", line), 0
    done = 0
    for mark in (_QUOTED, _HEADING, _BULLET):
        match = mark.match(line, done)
        if match:
            done = match.end()
    number = _NUMBERED.match(line, done)
    marker = int(number[1]) if number else 0
    if number and marker - 1 in counted:
        done = number.end()
    else:
        marker = 0
    return re.sub(r"\S", " ", line[:done]) + line[done:], marker


def hazards(answer: str) -> tuple[str, ...]:
    """What hides text from the reader, or brings something from outside; one sentence each."""
    found: list[str] = []
    if _FENCE.search(answer):
        found.append("A code block is no place for an answer: write plain paragraphs, quotes too.")
    tag = _TAG.search(answer)
    if tag:
        found.append(f"HTML ({tag[0][:40]!r}) can hide text: write plain Markdown without tags.")
    if _IMAGE.search(answer):
        found.append("An answer may hold no image: write text only.")
    if _TITLE.search(answer) or _DEFINITION.search(answer):
        found.append(
            "The title of a link is not seen by the reader: write [arXiv:ID] and no title."
        )
    found += _unseen(answer)
    hidden = sorted({char for char in answer if invisible(char)})
    if hidden:
        names = ", ".join(name_of(char) for char in hidden[:5])
        found.append(f"The answer holds characters that nobody can see ({names}): leave them out.")
    return tuple(found)


def _unseen(answer: str) -> Iterator[str]:
    if _TARGET.search(answer) or _REFERENCE.search(answer):
        yield "The target of a link is not seen by the reader: only a plain address may be one."
    notes = [match[1] for match in _FOOTNOTE.finditer(answer)]
    if any(answer.count(one) < 2 for one in notes):
        yield "A footnote that nothing refers to is not seen by the reader: write plain paragraphs."
    if match := _UNSEEN.search(answer):
        yield f"{match[0]!r} can hide or strike out text: write plain sentences."
    written = [html.unescape(match[0]) for match in _ENTITY.finditer(answer)]
    if _MARK_COMMAND.search(answer) or any(set(one) & _WRITTEN_OUT for one in written):
        yield "Write quotation marks and brackets as they are, not as entities or commands."


def visible(text: str) -> str:
    """`text` with each character that cannot be seen written as its code point."""
    return "".join(f"‹U+{ord(char):04X}›" if invisible(char) else char for char in text)
