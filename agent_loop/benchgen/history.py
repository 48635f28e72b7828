"""Bugs that people made: commits whose tests fail on the code before them."""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_loop import syntax
from agent_loop.assemble import Yard
from agent_loop.benchgen.accept import Accepted, Court, Refused
from agent_loop.benchgen.bugs import Bug, Edit, Read
from agent_loop.benchgen.ground import Given, Ground, prepare
from agent_loop.benchgen.journal import Journal
from agent_loop.benchgen.layout import is_test_path
from agent_loop.benchgen.model_bugs import named_functions
from agent_loop.benchgen.origins import Library
from agent_loop.benchgen.sieve import Sieve
from agent_loop.benchgen.wording import package_of
from agent_loop.errors import UserError
from agent_loop.workspace import Commit, History

MOST_FILES = 12
"""Source files of one commit; more is a rewrite, not a mended bug."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Miner:
    """Looks through the commits of one checkout."""

    history: History
    name: str
    given: Given
    yard: Yard
    work: Path
    most: int
    """Commits looked at."""
    say: Callable[[str], None]

    def run(self, count: int, journal: Journal) -> list[Accepted]:
        """Tasks out of the newest commits first."""
        found: list[Accepted] = []
        for commit in self.history.commits(self.most):
            if len(found) == count:
                break
            bug = self._bug(commit)
            if bug is None:
                continue
            verdict = self._judged(commit, bug)
            if isinstance(verdict, Refused):
                journal.add(bug, verdict.fate, f"{commit.id[:10]}: {verdict.detail}")
                self.say(f"{commit.id[:10]}: {verdict.fate}: {verdict.detail}")
            else:
                found.append(verdict)
                journal.add(bug, "accepted", commit.id[:10])
                self.say(f"{commit.id[:10]}: {verdict.report.title}")
        return found

    def _bug(self, commit: Commit) -> Bug | None:
        """What the commit mended, backwards; `None` where it is no mended bug with tests."""
        python = [path for path in commit.modified if path.endswith(".py")]
        sources = [path for path in python if not is_test_path(path)]
        tested = [
            path
            for path in (*commit.modified, *commit.added)
            if path.endswith(".py") and is_test_path(path)
        ]
        if not tested or not 0 < len(sources) <= MOST_FILES:
            return None
        now, before = self.history.files(commit.id), self.history.files(commit.parent)
        edits = [edit for path in sources for edit in line_edits(path, now[path], before[path])]
        return mended(edits, lambda path: now[path]) if edits else None

    def _judged(self, commit: Commit, bug: Bug) -> Accepted | Refused:
        root = self.work / commit.id[:12] / "right"
        lay_files(self.history.files(commit.id), root)
        library = Library(name=self.name, source=f"{self.name}@{commit.id}", root=root)
        work = root.parent
        try:
            ground = prepare(library, self.given, self.yard, work, self.say)
            return self._sifted(ground, bug, work)
        except UserError as problem:
            return Refused(bug=bug, fate="refused", detail=_first_line(str(problem)))

    def _sifted(self, ground: Ground, bug: Bug, work: Path) -> Accepted | Refused:
        sieve = Sieve(ground, self.yard, 1)
        try:
            sieve.learn()
            # What else a commit changes (its documentation, say) is no part of the bug.
            edits = [one for one in bug.edits if one.path in sieve.covered]
            if not edits:
                return Refused(bug=bug, fate="uncovered")
            bug = mended(edits, ground.read)
            (found,) = sieve.explain(sieve.sift([bug]))
        finally:
            sieve.close()
        packages = tuple({package_of(path) for path in sieve.covered})
        court = Court(ground=ground, yard=self.yard, work=work / "court", packages=packages)
        report = court.report(found)
        return report if isinstance(report, Refused) else court.hear(found, report)


def mended(edits: Sequence[Edit], read: Read) -> Bug:
    """The bug of these edits, under the names of the functions they are in."""
    functions: dict[str, None] = {}
    for edit in edits:
        text = read(edit.path)
        first = text.count(b"\n", 0, edit.start) + 1
        last = max(first, text.count(b"\n", 0, edit.end))
        try:
            tree = syntax.parse(text)
        except (SyntaxError, ValueError):
            continue
        inside = [
            name
            for name, node in named_functions(tree)
            if first <= (node.end_lineno or node.lineno) and node.lineno <= last
        ]
        functions |= dict.fromkeys(f"{edit.path}::{one}" for one in inside or ["<module>"])
    return Bug(kind="history", edits=tuple(edits), functions=tuple(functions), where="import")


def line_edits(path: str, right: bytes, wrong: bytes) -> Iterator[Edit]:
    """The difference of two files as edits of whole lines."""
    ours, theirs = right.splitlines(keepends=True), wrong.splitlines(keepends=True)
    starts = [0]
    for line in ours:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what != "equal":
            yield Edit(path=path, start=starts[a], end=starts[b], new=b"".join(theirs[c:d]))


def lay_files(files: dict[str, bytes], root: Path) -> None:
    """Write the files of a commit, without what decides what is left out of a copy."""
    for path, data in files.items():
        if path.rpartition("/")[2] == ".gitignore":
            continue
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _first_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)[:200]
