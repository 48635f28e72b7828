"""The changes a reply makes to the files of a project, worked out in memory."""

import ast
import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from agent_loop.edits import diffs, jsons, pysource, search_replace, wholes
from agent_loop.edits.degenerate import refuse_degenerate
from agent_loop.edits.draft import Draft
from agent_loop.edits.fences import lines_of
from agent_loop.edits.proposals import Proposal
from agent_loop.edits.targets import Known
from agent_loop.edits.textfile import NotText
from agent_loop.errors import ReplyError

FORMATS = ("auto", "whole", "search_replace", "diff", "json")
MAX_FEEDBACK_CHARS = 16_000
MAX_PROPOSALS = 200
MAX_PROBLEMS = 20
"""A reply that misses this often was written against other files; looking further is no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What one reply does to the files."""

    files: Mapping[str, bytes | None]
    """New contents by path; `None`: the file is deleted. Only files that really change."""
    executable: frozenset[str] = frozenset()
    """New files that a diff makes executable."""
    format: str
    """The format that the reply was read as."""
    problems: tuple[str, ...] = ()
    """Parts that were not applied, and why: for the worker's next prompt."""
    ignored: tuple[str, ...] = ()
    """Protected files that the reply wanted to change."""
    notes: tuple[str, ...] = ()
    """Corrected paths, repaired text, blocks without effect: for the record."""
    digest: str = ""
    """SHA-256 over what the files mean: other comments or blanks in Python make no difference."""


@dataclass(slots=True)
class _Read:
    """The proposals of a reply in one format."""

    format: str
    proposals: list[Proposal] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def edits_from_reply(
    text: str,
    files: Mapping[str, bytes],
    *,
    format: str,
    finish: str,
    protected: Callable[[str], bool],
    symlinks: Collection[str] = (),
) -> Changes:
    """Read the edits of a reply and apply them to `files` in memory.

    Args:
        text: the reply, reasoning already taken out.
        files: every file of the project by its relative path with `/`.
        format: auto, whole, search_replace, diff or json.
        finish: `length` when the reply was cut at its token limit: nothing is applied then.
        protected: paths that a reply may not change; such edits are ignored, the rest counts.
        symlinks: paths of symbolic links; a reply can name neither them nor anything below.

    Raises:
        ReplyError: nothing usable, a bad path, or a file that would no longer parse.
    """
    refuse_degenerate(text)
    if finish == "length":
        raise ReplyError(
            "Your reply was cut at its token limit, so nothing was applied. Send less: "
            "SEARCH/REPLACE blocks with only the lines that change."
        )
    known = Known(files, protected, symlinks)
    read = _read(_clean(text), known, format)
    if len(read.proposals) > MAX_PROPOSALS:
        raise ReplyError(f"Your reply holds {len(read.proposals)} edits; send the few that matter.")
    draft = Draft(known=known, problems=list(read.problems), notes=list(read.notes))
    for number, proposal in enumerate(read.proposals, start=1):
        if len(draft.problems) >= MAX_PROBLEMS:
            draft.problems.append(f"edits {number} and later were not looked at: too many misses")
            break
        draft.take(proposal)
    return _changes(draft, read.format)


def _clean(text: str) -> str:
    plain = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    # Half of a surrogate pair cannot be written to any file.
    return plain.encode("utf-8", "replace").decode("utf-8")


# --- reading ----------------------------------------------------------------------------------


def _read(text: str, known: Known, wanted: str) -> _Read:
    if wanted not in FORMATS:
        raise ValueError(f"unknown edit format {wanted!r}")
    lines = lines_of(text)
    readers: dict[str, Callable[[], _Read | None]] = {
        "search_replace": lambda: _search_replace(lines, known, mixed=wanted == "auto"),
        "diff": lambda: _diff(lines),
        "json": lambda: _json(jsons.without_code(text) if wanted == "auto" else text),
        "whole": lambda: _whole(text, known),
    }
    tried = readers if wanted == "auto" else {wanted: readers[wanted]}
    for reader in tried.values():
        read = reader()
        if read is not None:
            return read
    raise ReplyError(_why_nothing(text, wanted))


def _search_replace(lines: list[str], known: Known, *, mixed: bool) -> _Read | None:
    if not search_replace.has_marks(lines):
        return None
    parsed = search_replace.parse(lines, known)
    if parsed.unfinished and not _last_is_complete(parsed):
        parsed.problems.append("the last block was not finished, so it was not applied")
        parsed.blocks = parsed.blocks[:-1]
    read = _Read("search_replace", list(parsed.blocks), parsed.problems)
    if mixed:
        # A new file beside the blocks is sent whole by most models.
        more, _ = wholes.parse("\n".join(parsed.rest), known)
        read.proposals.extend(
            whole
            for whole in more
            if whole.lines and whole.place.said and whole.place.path not in known.files
        )
    return read


def _last_is_complete(parsed: search_replace.Parsed) -> bool:
    """Only its end mark is missing: the fence behind it was there."""
    last = next((line for line in reversed(parsed.rest) if line.strip()), "")
    return last.strip().startswith(("```", "~~~"))


def _diff(lines: list[str]) -> _Read | None:
    if not diffs.has_diff(lines):
        return None
    parsed = diffs.parse(lines)
    return _Read("diff", parsed.proposals, parsed.problems)


def _json(text: str) -> _Read | None:
    parsed = jsons.parse(text)
    if not parsed.proposals and not parsed.problems:
        return None
    return _Read("json", parsed.proposals, parsed.problems, parsed.notes)


def _whole(text: str, known: Known) -> _Read | None:
    found, notes = wholes.parse(text, known)
    proposals: list[Proposal] = list(found)
    return _Read("whole", proposals, [], notes) if found else None


_ASK = {
    "auto": "Send SEARCH/REPLACE blocks, or whole files in fenced blocks, each under its path.",
    "whole": "Send each changed file whole, in a fenced block under a line with its path.",
    "search_replace": "Send SEARCH/REPLACE blocks, each under a line with the path of its file.",
    "diff": "Send a unified diff with --- and +++ lines and hunks.",
    "json": 'Send one JSON object: {"edits": [{"path": ..., "search": ..., "replace": ...}]}.',
}


def _why_nothing(text: str, wanted: str) -> str:
    if wanted in {"auto", "search_replace"} and any(map(search_replace.is_mark, lines_of(text))):
        return f"Your SEARCH/REPLACE block has no ======= line. {_ASK['search_replace']}"
    if "```" in text or "~~~" in text:
        return f"No block of your reply could be tied to a file. {_ASK[wanted]}"
    if text.rstrip().endswith(("?", "？")):
        return f"Nobody answers questions here. {_ASK[wanted]}"
    return f"Your reply holds no edit. {_ASK[wanted]}"


# --- writing ----------------------------------------------------------------------------------


def _refuse_file_and_folder(files: Mapping[str, bytes | None]) -> None:
    """Two new paths of one reply, of which one would have to be the folder of the other."""
    written = {path for path, data in files.items() if data is not None}
    for path in sorted(written):
        for end in (number for number, sign in enumerate(path) if sign == "/"):
            if path[:end] in written:
                raise ReplyError(
                    f"{path[:end]!r} cannot be a file and the folder of {path!r} at once. "
                    "Nothing of this reply was applied."
                )


def _changes(draft: Draft, read_as: str) -> Changes:
    known = draft.known
    files: dict[str, bytes | None] = {}
    for path, text in sorted(draft.texts.items()):
        try:
            data = None if text is None else text.write()
        except NotText as problem:
            draft.problems.append(f"{path} cannot be written: {problem}.")
            continue
        if data == known.files.get(path):
            draft.notes.append(f"{path}: the reply changes nothing")
            continue
        files[path] = data
    _refuse_file_and_folder(files)
    _refuse_broken_python(files, known)
    ignored = tuple(dict.fromkeys(draft.ignored))
    if not files:
        raise ReplyError(_why_no_change(draft, ignored)[:MAX_FEEDBACK_CHARS])
    return Changes(
        files=files,
        executable=frozenset(draft.executable & files.keys()),
        format=read_as,
        problems=tuple(draft.problems),
        ignored=ignored,
        notes=tuple(draft.notes),
        digest=digest(files),
    )


def _refuse_broken_python(files: Mapping[str, bytes | None], known: Known) -> None:
    """An edit that leaves a Python file unparsable costs no container."""
    for path, data in files.items():
        if data is None or not path.endswith((".py", ".pyi")):
            continue
        broken = pysource.parse_bytes(data)
        if isinstance(broken, ast.Module):
            continue
        before = known.files.get(path)
        if before is not None and isinstance(pysource.parse_bytes(before), pysource.Broken):
            continue
        lines = data.split(b"\n")[broken.line - 1 : broken.line]
        shown = b"".join(lines).decode("utf-8", "replace").strip()[:120]
        raise ReplyError(
            f"After your edit {path} does not parse: line {broken.line}: {broken.problem}: "
            f"{shown!r}. Nothing was applied."
        )


def _why_no_change(draft: Draft, ignored: tuple[str, ...]) -> str:
    if draft.problems:
        return "Nothing was applied.\n" + "\n".join(f"- {text}" for text in draft.problems)
    if ignored:
        return f"Your reply edits only protected files: {', '.join(ignored[:10])}."
    return "Your reply changes nothing: the files already are as you sent them."


def digest(files: Mapping[str, bytes | None]) -> str:
    """One value for contents that mean the same; Python is compared without its comments."""
    total = hashlib.sha256()
    for path in sorted(files):
        data = files[path]
        if data is not None and path.endswith(".py"):
            data = pysource.meaning(data)
        total.update(repr((path, data)).encode())
    return total.hexdigest()
