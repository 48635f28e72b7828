"""One text in place of another in a file: exactly one place, and every other byte as it was."""

from dataclasses import replace

from agent_loop.edits.matching import nearest
from agent_loop.edits.pysource import Broken, parse_bytes
from agent_loop.edits.textfile import NotText, TextFile
from agent_loop.episode.tools.specs import BadCall

_PLACES = 10
_AROUND = 3
_LINE_CHARS = 300


def replaced(path: str, data: bytes, old: str, new: str) -> tuple[bytes, str]:
    """Give the new content, and the lines around the change.

    Raises:
        BadCall: `old` is not there exactly once; the text shows where it nearly is.
    """
    file = _read(path, data)
    text, old, new = _joined(file), _plain(old), _plain(new)
    if not old:
        raise BadCall("str_replace: 'old' is empty. Use create to write a whole file.")
    if old == new:
        raise BadCall("str_replace: 'old' and 'new' are the same, so nothing would change.")
    places = _places(text, old)
    if len(places) != 1:
        raise BadCall(_missed(path, file, text, old, places))
    start = places[0]
    result = text[:start] + new + text[start + len(old) :]
    changed = _spliced(file, result)
    try:
        written = changed.write()
    except NotText as problem:
        raise BadCall(f"{path}: the new text does not fit the file's encoding: {problem}") from None
    first = text.count("\n", 0, start)
    shown = numbered(changed.lines, first - _AROUND, first + new.count("\n") + 1 + _AROUND)
    return written, f"{shown}{unparsable(path, written)}"


def fitted(data: bytes | None, content: str) -> bytes:
    """A whole new content, with the line ends, mark and encoding of the file it replaces.

    Raises:
        BadCall: it does not fit the file's encoding.
    """
    if data is None:
        return content.encode("utf-8", "replace")
    try:
        old = TextFile.read(data)
        if not old.lines:
            return content.encode("utf-8", "replace")
        end = old.usual_end
        given = TextFile.read(content.encode("utf-8", "replace"))
        ends = tuple(end if one else "" for one in given.ends)
        return replace(old, lines=given.lines, ends=ends).write()
    except NotText:
        return content.encode("utf-8", "replace")


def numbered(lines: tuple[str, ...], start: int, stop: int) -> str:
    """Lines with their numbers (from 1); `start` and `stop` count from 0."""
    return "\n".join(
        f"{number + 1:>5} | {_short(lines[number])}"
        for number in range(max(0, start), min(len(lines), stop))
    )


def unparsable(path: str, data: bytes) -> str:
    """A word about a Python file that cannot be parsed; else nothing."""
    if not path.endswith(".py"):
        return ""
    parsed = parse_bytes(data)
    if not isinstance(parsed, Broken):
        return ""
    return f"\nThe file is no valid Python now: line {parsed.line}: {parsed.problem}"


def _short(line: str) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    return f"{line[:_LINE_CHARS]} [... {len(line) - _LINE_CHARS} characters left out ...]"


def _read(path: str, data: bytes) -> TextFile:
    try:
        return TextFile.read(data)
    except NotText as problem:
        raise BadCall(f"{path}: {problem}") from None


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _joined(file: TextFile) -> str:
    return "".join(
        line + ("\n" if end else "") for line, end in zip(file.lines, file.ends, strict=True)
    )


def _places(text: str, old: str) -> list[int]:
    """Where it stands, places that overlap too."""
    found: list[int] = []
    at = text.find(old)
    while at >= 0 and len(found) <= _PLACES:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _missed(path: str, file: TextFile, text: str, old: str, places: list[int]) -> str:
    if places:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:_PLACES])
        more = " and more" if len(places) > _PLACES else ""
        return (
            f"str_replace: the old text stands in {path} {len(places)} times{more} "
            f"(lines {lines}{more}). Nothing was changed. Take more lines into 'old'."
        )
    near = nearest(file.lines, old.split("\n")).replace("your SEARCH", "'old'")
    hint = f"\n{near}\nCopy the lines as they are, without the numbers." if near else ""
    return f"str_replace: the old text is not in {path}. Nothing was changed.{hint}"


def _spliced(file: TextFile, result: str) -> TextFile:
    """The file with the lines of `result`; lines that stay keep their own bytes."""
    pieces = result.split("\n")
    new = pieces if pieces[-1] else pieces[:-1]
    old = file.lines
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    made = file.splice(head, len(old) - tail, new[head : len(new) - tail])
    if not made.ends:
        return made
    wanted = "" if pieces[-1] else (made.ends[-1] or file.usual_end)
    return replace(made, ends=(*made.ends[:-1], wanted))
