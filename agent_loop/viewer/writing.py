"""An export as Markdown or as one HTML file. Hostile text stays text in both."""

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator

from agent_loop.viewer.exports import Block

_TICKS = re.compile(r"`+")
_KEPT = frozenset("\n\t")
_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .6rem; border: 1px solid #8886;
  border-radius: 6px; font: 13px/1.45 ui-monospace, monospace; max-height: 40rem; overflow: auto; }
h3 { margin: 1.6rem 0 .3rem; font-size: 1rem; } h4 { margin: .6rem 0 .2rem; font-size: .85rem; }
table { border-collapse: collapse; } th { text-align: left; padding-right: 1rem; font-weight: 600;
  vertical-align: top; } td { overflow-wrap: anywhere; }
"""
_HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'\">"
    '<meta name="viewport" content="width=device-width"><title>{title}</title>'
    "<style>{style}</style></head><body>\n"
)
_LEVELS = {"title": 1, "section": 2, "event": 3}


def visible(text: str) -> str:
    """Characters that act instead of being read, shown by their number."""
    if text.isascii() and text.isprintable():
        return text
    shown = []
    for char in text.replace("\r\n", "\n"):
        acts = unicodedata.category(char) in _ACTING and char not in _KEPT
        shown.append(f"\u2039U+{ord(char):04X}\u203a" if acts else char)
    return "".join(shown)


def markdown(parts: Iterable[Block]) -> Iterator[bytes]:
    """Pieces of a Markdown file."""
    for part in parts:
        yield _markdown(part).encode("utf-8", "replace")


def page(parts: Iterable[Block], title: str) -> Iterator[bytes]:
    """Pieces of one HTML file that loads nothing and runs nothing."""
    yield _HEAD.format(title=html.escape(visible(title)), style=_STYLE).encode()
    for part in parts:
        yield _html(part).encode("utf-8", "replace")
    yield b"</body></html>\n"


def _markdown(part: Block) -> str:
    if part.kind in _LEVELS:
        return f"{'#' * _LEVELS[part.kind]} {_span(part.title)}\n\n"
    if part.kind == "facts":
        rows = (f"- {_span(name)}: {_span(value)}\n" for name, value in part.facts)
        return "".join(rows) + ("\n" if part.facts else "")
    if part.kind == "note":
        return f"> {_span(part.text)}\n\n"
    return f"{_span(part.title)}\n\n{_fenced(part.text)}\n\n"


def _span(text: str) -> str:
    """On one line, as code where anything in it could be markup."""
    flat = " ".join(visible(text).split())
    if not flat or (re.fullmatch(r"[\w .,:;()=/%+-]*", flat) and not re.match(r"[-+=\d\s]", flat)):
        return flat
    ticks = "`" * (_longest(flat) + 1)
    return f"{ticks} {flat} {ticks}" if "`" in flat else f"{ticks}{flat}{ticks}"


def _fenced(text: str) -> str:
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}text\n{visible(text)}\n{fence}"


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _html(part: Block) -> str:
    if part.kind in _LEVELS:
        level = _LEVELS[part.kind]
        return f"<h{level}>{_safe(part.title)}</h{level}>\n"
    if part.kind == "facts":
        rows = (f"<tr><th>{_safe(n)}</th><td>{_safe(v)}</td></tr>" for n, v in part.facts)
        return f"<table>{''.join(rows)}</table>\n"
    if part.kind == "note":
        return f"<p>{_safe(part.text)}</p>\n"
    return f"<h4>{_safe(part.title)}</h4><pre>{_safe(part.text)}</pre>\n"


def _safe(text: str) -> str:
    return html.escape(visible(text), quote=True)
