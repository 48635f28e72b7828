"""The line that names a file: with headings, stars, ticks, prose and language words around it."""

import re

from agent_loop.edits.fences import LANGUAGES
from agent_loop.edits.proposals import Place
from agent_loop.edits.targets import Known

_NO_CHANGE = re.compile(
    r"[(\[\-–—:*_ ]*\b(?:no changes?(?: (?:needed|required|necessary|made|here))?|unchanged"
    r"|not changed|stays the same|remains the same)\b[)\]*_. ]*$"
    r"|[（(]?(?:无需修改|不变|未修改|没有变化)[)）]?$",
    re.IGNORECASE,
)
_KEYWORD = re.compile(
    r"^(?:in |the |update[ds]? |modif(?:y|ied) |new |create |edit |changed? )*"
    r"(?:file(?:[ _]?(?:name|path))?|path|filepath|title|src|文件)\s*[:=：]?\s*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^\(?\d{1,3}[.)]\s+")
_NEW_PATH = re.compile(r"^[\w.@+-]+(?:[/\\][\w.@+-]+)*\.\w{1,10}$")
_ODD_PATH = re.compile(r"^(?:\.{1,2}[/\\]|[/\\~]|[A-Za-z]:[/\\]|\.git\b)\S*$")
_COMMENT = re.compile(r"^\s*(?:#|//|--|;|/\*|<!--|\"\"\"|%)\s*(.*?)\s*(?:\*/|-->|\"\"\")?\s*$")
_BARE_NAMES = frozenset({"Makefile", "Dockerfile", "LICENSE", "Procfile", "Rakefile", "Gemfile"})
_MAX_LINE = 500


def place_of(line: str, known: Known, *, prose: bool = False) -> Place | None:
    """What file a line names; `None` when it names none.

    `prose`: the line may be a sentence; then only an existing file counts, and only a single one.
    """
    if len(line) > _MAX_LINE:
        return None
    text, unchanged = _without_no_change(line.strip())
    bare = _undecorated(text)
    if bare in known.files:
        return Place(path=bare, unchanged=unchanged, said=line.strip())
    for path in (bare, bare.partition(" ")[2].strip()):
        if _could_be_path(path) and (path == bare or bare.partition(" ")[0].lower() in LANGUAGES):
            return Place(path=_slashes(path, known), unchanged=unchanged, said=line.strip())
    mentioned = _mentioned(line, known) if prose or unchanged else set()
    if len(mentioned) == 1:
        return Place(path=mentioned.pop(), unchanged=unchanged, said=line.strip())
    return None


def place_above(lead: str, known: Known) -> Place | None:
    """The file named in the last lines before a block; language words between are skipped."""
    nearest = [line for line in lead.split("\n") if line.strip()][-3:]
    for distance, line in enumerate(reversed(nearest)):
        if _undecorated(line.strip()).lower() in LANGUAGES or not _undecorated(line.strip()):
            continue
        found = place_of(line, known, prose=True)
        if found is not None:
            return found
        if distance:
            break
    return None


def place_in_comment(line: str, known: Known) -> Place | None:
    """`# pkg/a.py` as the first line of a block."""
    match = _COMMENT.match(line[:_MAX_LINE])
    return place_of(match.group(1), known) if match and match.group(1) else None


def place_in_info(info: str, known: Known) -> Place | None:
    """`python pkg/a.py`, `pkg/a.py`, `python:pkg/a.py`, `python title="pkg/a.py"`."""
    found = place_of(info, known)
    if found is not None:
        return found
    for word in re.split(r"[\s{}]+", info[:_MAX_LINE]):
        value = word.partition("=")[2] if "=" in word else word
        for part in (value, value.partition(":")[2]):
            plain = part.strip("\"'`,:")
            if plain.lower() in LANGUAGES:
                continue
            found = place_of(plain, known) if plain else None
            if found is not None:
                return found
    return None


def _without_no_change(text: str) -> tuple[str, bool]:
    match = _NO_CHANGE.search(text[-80:])
    if match is None:
        return text, False
    return text[: len(text) - len(text[-80:]) + match.start()].rstrip(), True


def _undecorated(text: str) -> str:
    """Headings, list marks, bold, ticks, quotes, `File:` and the colon at the end taken off."""
    before = None
    while before != text:
        before = text
        text = text.strip().strip("*`\"'“”>").strip()
        text = text.lstrip("#=").lstrip() if text[:1] in "#=" else text
        text = text.removeprefix("- ").removeprefix("• ").rstrip(":：,").rstrip()
        text = _NUMBER.sub("", text)
        text = _KEYWORD.sub("", text) if not _NEW_PATH.match(text) else text
        if text.startswith(("(", "[")) and text.endswith((")", "]")):
            text = text[1:-1]
    return text


def _could_be_path(text: str) -> bool:
    if not text or text.lower() in LANGUAGES or text.strip("-=*_# ") == "":
        return False
    return bool(_NEW_PATH.match(text) or _ODD_PATH.match(text)) or text in _BARE_NAMES


def _slashes(path: str, known: Known) -> str:
    plain = path.replace("\\", "/").removeprefix("./")
    return plain if plain in known.files or plain == path.removeprefix("./") else path


def _mentioned(line: str, known: Known) -> set[str]:
    words = re.split(r"[\s`*\"'()（），。：]+", line)
    cleaned = {word.strip(".,:;!?").removeprefix("./") for word in words}
    return {word for word in cleaned if word in known.files}
