"""The files as they become, one proposal after the other."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_loop.edits.elision import elided_line
from agent_loop.edits.matching import Match, Miss, locate, nearest, positions
from agent_loop.edits.proposals import Delete, Move, Proposal, Replace, Whole
from agent_loop.edits.splice import spliced
from agent_loop.edits.targets import Known, refuse_bad_path
from agent_loop.edits.textfile import NotText, TextFile
from agent_loop.edits.wholeness import SMALLER, complete_python, is_part, why_not_whole

MAX_SEARCHES = 5
MAX_REGIONS = 5
"""Misses whose feedback shows the nearest lines of the file."""


@dataclass(slots=True)
class Draft:
    """What became of each proposal so far."""

    known: Known
    texts: dict[str, TextFile | None] = field(default_factory=dict)
    """Files touched; `None`: deleted."""
    executable: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    searches: int = 0
    """Times the whole project was searched for a block that names no file."""

    def take(self, proposal: Proposal) -> None:
        """Apply one proposal, or say why not.

        Raises:
            BadPath: the path may not be named by any reply.
        """
        if proposal.place.unchanged:
            self.notes.append(f"{proposal.place.path}: said to be unchanged, nothing written")
            return
        path = self._path(proposal)
        if path is None:
            return
        if self.known.protected(path):
            self.ignored.append(path)
            return
        try:
            self._apply(proposal, path)
        except NotText as problem:
            self.problems.append(f"{proposal.name}: {path} cannot be edited: {problem}.")

    def _apply(self, proposal: Proposal, path: str) -> None:
        match proposal:
            case Replace():
                self._replace(proposal, path)
            case Whole():
                self._whole(proposal, path)
            case Delete():
                self._delete(proposal, path)
            case Move():
                self._move(proposal, path)

    # --- paths --------------------------------------------------------------------------------

    def _path(self, proposal: Proposal) -> str | None:
        """The file a proposal is about; `None` (and a problem) where that is not clear."""
        said = proposal.place.path
        if said is None:
            found = self._by_search(proposal)
            if found is None:
                self.problems.append(
                    f"{proposal.name} names no file. Write the path alone on the line above it. "
                    f"Files: {self.known.some()}."
                )
            return found
        plain = self._without_side(said, proposal)
        for path in dict.fromkeys((said, plain)):
            if path in self.texts or path in self.known.files:
                refuse_bad_path(path)
                return self._followed(path)
        if self.known.find(plain) is None or plain.startswith(("/", "\\", "~", ".")):
            refuse_bad_path(plain)
        return self._near(proposal, plain)

    def _followed(self, path: str) -> str:
        if path in self.known.symlinks or any(
            path.startswith(link + "/") for link in self.known.symlinks
        ):
            self.known.refuse_new(path)
        return self.moved.get(path, path)

    def _without_side(self, said: str, proposal: Proposal) -> str:
        """`a/x.py` and `b/x.py` of a diff, unless such a folder exists."""
        if said in self.known.files or not said.startswith(("a/", "b/")):
            return said
        plain = said[2:]
        return plain if plain in self.known.files or _of_diff(proposal) else said

    def _near(self, proposal: Proposal, path: str) -> str | None:
        if isinstance(proposal, Whole):
            near = None if proposal.must_be_new else self.known.find_for_whole(path)
        elif isinstance(proposal, Replace) and not any(map(str.strip, proposal.search)):
            near = self.known.find_for_whole(path)
        else:
            near = self.known.find(path)
            if near is None:
                self.problems.append(
                    f"{proposal.name}: there is no file {path!r}. Files: {self.known.some()}."
                )
                return None
        if near is None:
            self.known.refuse_new(path)
            return path
        self.notes.append(f"corrected the path {path!r} to {near!r}")
        return self._followed(near)

    def _by_search(self, proposal: Proposal) -> str | None:
        """The only file in which the SEARCH lines stand."""
        if not isinstance(proposal, Replace) or not any(map(str.strip, proposal.search)):
            return None
        self.searches += 1
        if self.searches > MAX_SEARCHES:
            return None
        wanted = max(proposal.search, key=len).strip().encode("utf-8", "replace")
        holding = [path for path, data in self.known.files.items() if wanted in data][:50]
        fitting = [path for path in holding if positions(self._lines(path), proposal.search)]
        if len(fitting) != 1:
            return None
        self.notes.append(f"{proposal.name} names no file: took {fitting[0]}, the only one it fits")
        return fitting[0]

    def _lines(self, path: str) -> Sequence[str]:
        try:
            return self._text(path).lines
        except NotText:
            return ()

    def _text(self, path: str) -> TextFile:
        if path not in self.texts:
            return TextFile.read(self.known.files[path])
        return self.texts[path] or TextFile()

    def _exists(self, path: str) -> bool:
        return self.texts[path] is not None if path in self.texts else path in self.known.files

    # --- edits --------------------------------------------------------------------------------

    def _replace(self, edit: Replace, path: str) -> None:
        if not self._exists(path):
            if any(map(str.strip, edit.search)):
                self.problems.append(f"{edit.name}: there is no file {path!r} to search in.")
                return
            self.texts[path] = _fresh(edit.new)
            return
        text = self._text(path)
        if not any(map(str.strip, edit.search)):
            self._insert(edit, path, text)
            return
        elided = elided_line(edit.new, text.lines)
        if elided:
            self.problems.append(
                f"{edit.name}: {elided!r} stands for lines left out. Write them, or leave them "
                "out of SEARCH as well."
            )
            return
        found = locate(text.lines, edit.search, edit.new, at=edit.at)
        if isinstance(found, Miss):
            shown = len(self.problems) < MAX_REGIONS
            self.problems.append(_why_missed(edit, path, text, found, shown=shown))
            return
        if found.how:
            self.notes.append(f"{edit.name}: matched {path} apart from {found.how}")
        self._put(path, text, found, edit)

    def _put(self, path: str, text: TextFile, found: Match, edit: Replace) -> None:
        loose = bool(found.how)
        new = text.splice(found.start, found.stop, found.replacement, loose=loose)
        if edit.open_end is not None and found.stop >= len(text.lines):
            new = _with_end(new, open_end=edit.open_end)
        self.texts[path] = new

    def _insert(self, edit: Replace, path: str, text: TextFile) -> None:
        """No SEARCH lines: a diff that only adds, or an empty file."""
        if edit.at is not None and 0 <= edit.at + 1 <= len(text.lines):
            self.texts[path] = text.splice(edit.at + 1, edit.at + 1, edit.new)
        elif not any(map(str.strip, text.lines)):
            self.texts[path] = text.splice(0, len(text.lines), edit.new)
        else:
            self.problems.append(
                f"{edit.name}: SEARCH is empty but {path} exists and is not. Put the lines next "
                "to the change into SEARCH."
            )

    def _whole(self, edit: Whole, path: str) -> None:
        if not self._exists(path):
            if not edit.closed and not complete_python(path, edit.lines):
                self.problems.append(f"{edit.name}: {path} was not finished. {SMALLER}")
                return
            elided = elided_line(edit.lines, ())
            if elided:
                self.problems.append(f"{edit.name}: {elided!r} stands for lines left out.")
                return
            self.texts[path] = _with_end(_fresh(edit.lines), open_end=bool(edit.open_end))
            if edit.executable:
                self.executable.add(path)
            return
        text = self._text(path)
        if self._snippet(edit, path, text):
            return
        problem = why_not_whole(edit, path, text)
        if problem:
            self.problems.append(f"{edit.name}: {problem}")
            return
        self.texts[path] = text.splice(0, len(text.lines), edit.lines)

    def _snippet(self, edit: Whole, path: str, text: TextFile) -> bool:
        """Only some definitions of the file: they take the place of their namesakes."""
        lines = textwrap.dedent("\n".join(edit.lines)).split("\n")
        if edit.must_be_new or not edit.closed or not is_part(path, lines, text.lines):
            return False
        found = spliced(text, lines)
        if found is None:
            return False
        self.texts[path] = found.text
        self.notes.append(
            f"{edit.name}: put {', '.join(found.replaced)} into {path}, kept the rest"
        )
        if found.left_out:
            self.notes.append(f"{edit.name}: left out {found.left_out} statements of a demo")
        return True

    def _delete(self, edit: Delete, path: str) -> None:
        if not self._exists(path):
            self.problems.append(f"{edit.name}: there is no file {path!r} to delete.")
            return
        self.texts[path] = None

    def _move(self, edit: Move, path: str) -> None:
        target = edit.to
        self.known.refuse_new(target)
        if self.known.protected(target):
            self.ignored.append(target)
        elif self._exists(target):
            self.problems.append(f"{edit.name}: {target} is already there.")
        else:
            self.texts[target] = self._text(path)
            self.texts[path] = None
            self.moved[path] = target


def _of_diff(proposal: Proposal) -> bool:
    return "diff" in proposal.name


def _fresh(lines: Sequence[str]) -> TextFile:
    return TextFile(lines=tuple(lines), ends=("\n",) * len(lines))


def _with_end(text: TextFile, *, open_end: bool) -> TextFile:
    if not text.ends:
        return text
    last = "" if open_end else text.usual_end
    return TextFile(
        lines=text.lines, ends=(*text.ends[:-1], last), bom=text.bom, encoding=text.encoding
    )


def _why_missed(edit: Replace, path: str, text: TextFile, miss: Miss, *, shown: bool) -> str:
    if miss.several:
        lines = ", ".join(map(str, miss.several[:8]))
        return (
            f"{edit.name}: its lines stand several times in {path} (lines {lines}). "
            "Add lines around them so that only one place fits."
        )
    there = positions(text.lines, edit.new) if any(map(str.strip, edit.new)) else []
    if there:
        return (
            f"{edit.name}: its SEARCH lines are not in {path}, but its REPLACE lines already are, "
            f"at line {there[0] + 1}."
        )
    region = nearest(text.lines, edit.search) if shown else ""
    return f"{edit.name}: its lines are not in {path}. {region}".rstrip()
