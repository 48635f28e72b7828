"""What a person most likely meant where YAML's own words only say what it met."""

import re

QUOTES = "put text that holds ': ' in quotes"

_HINTS = (
    ("found undefined alias", "text that starts with '*' goes in quotes"),
    ("sequence entries are not allowed", "put '- ' on a line of its own"),
    ("but found another document", "one document a file: take the '---' out"),
    ("unknown escape character", "single quotes take a backslash as it is"),
    ("unexpected end of stream", "a quote is never closed"),
    ("expected ',' or", "a bracket is not closed, or the text goes in quotes"),
    (
        "expected '-' indicator|expected key|expected <block end>",
        "indent the line as its neighbours are; text with quotes inside goes under '- |'",
    ),
)


def hint(what: str, text: str, line: int, column: int) -> str:
    """` (what to do)`, or nothing; `line` and `column` of the place it fell over, from 0."""
    rows = text.split("\n")
    row = rows[line] if line < len(rows) else ""
    found = _of_character(row[column : column + 1]) if "cannot start any token" in what else ""
    if "mapping values are not allowed" in what:
        deeper = re.fullmatch(r"\s+\w+", row[:column])
        found = "the line is indented further than the one it belongs to" if deeper else QUOTES
    found = found or next((said for met, said in _HINTS if re.search(met, what)), "")
    return f" ({found})" if found else ""


def _of_character(character: str) -> str:
    if character == "\t":
        return "it is a tab: YAML is indented with spaces"
    return f"text that starts with {character!r} goes in quotes" if character else ""
