"""The pieces of the page. Everything that comes from outside goes through `text`."""

import hashlib
import html
from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path

from agent_loop.evals.plots import Plot
from agent_loop.terminal.safe import safe


def text(value: str, limit: int = 2_000) -> str:
    """Somebody else's text, with no markup and nothing that turns the reading around."""
    flat = safe(value)
    return html.escape(flat if len(flat) <= limit else f"{flat[: limit - 1]}…")


def page(title: str, body: Iterable[str]) -> str:
    """A whole document: one file, no script, nothing loaded from anywhere."""
    style = Path(__file__).with_name("page.css").read_text("utf-8")
    mark = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>"
    )
    return "\n".join([head, *body, "</main>\n</body>\n</html>\n"])


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, label: str) -> str:
    """A table that scrolls by itself where it is too wide. Cells are plain text."""
    top = "".join(f'<th scope="col">{text(head)}</th>' for head in heads)
    lines = "\n".join(_line(row) for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(label)}">'
        f"<table><thead><tr>{top}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>"
    )


def plots(drawn: Iterable[Plot]) -> str:
    """The pictures, each with its numbers folded away under it."""
    return f'<div class="plots">{"".join(map(_figure, drawn))}</div>'


def details(summary: str, inner: str) -> str:
    return f"<details><summary>{text(summary)}</summary>{inner}</details>"


def bullets(lines: Iterable[str], *, kind: str = "") -> str:
    """A list of plain texts."""
    of = f' class="{kind}"' if kind else ""
    return f"<ul{of}>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>"


def tiles(values: Iterable[tuple[str, str]]) -> str:
    """The few numbers one looks for first: (value, what it is)."""
    made = "".join(f"<li><b>{text(v)}</b><span>{text(what)}</span></li>" for v, what in values)
    return f'<ul class="key">{made}</ul>'


def _line(row: Sequence[str]) -> str:
    first, *rest = row
    cells = "".join(f"<td>{text(cell)}</td>" for cell in rest)
    return f'<tr><th scope="row">{text(first)}</th>{cells}</tr>'


def _figure(plot: Plot) -> str:
    numbers = table(plot.heads, plot.rows, label=f"Numbers of: {plot.title}")
    return (
        f'<figure><h3>{text(plot.title)}</h3><div role="img" aria-label="{text(plot.says)}">'
        f"{plot.svg}</div><figcaption>{text(plot.says)}</figcaption>"
        f"{details('Numbers', numbers)}</figure>"
    )
