"""Files laid over the tree for one run: twins, and copies under other names."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath

from agent_loop.checks.project.source.sabotage import draw_word
from agent_loop.checks.project.source.text import Edit, Source, Spans
from agent_loop.checks.project.twins.alter import Alterer
from agent_loop.checks.project.twins.find import Check, checks, distinct
from agent_loop.checks.project.twins.place import (
    NodeId,
    find,
    identifiers,
    imported,
    missing,
    reached,
)
from agent_loop.checks.project.twins.rename import draw_names, rename_edits

_MOST_TWINS = 120
"""Twin files of one run."""
_MOST_RUNS = 5
"""Runs of twins in one check; past them, as many as they hold are drawn and the rest is spare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedTest:
    """One test of a copy."""

    original: str
    """The frozen id it was made from."""
    run: str
    """The id it runs under."""
    lines: frozenset[int]
    """Lines of the altered checks in the original file; empty: they always run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One file and the tests of it that are run."""

    path: str
    data: bytes
    tests: tuple[CopiedTest, ...]


class WantedFile:
    """One Python test file and the wanted tests in it."""

    def __init__(self, path: str, data: bytes, ids: Sequence[str]) -> None:
        """Raises SyntaxError when the file cannot be parsed."""
        self.path = path
        self.source = Source.decode(data)
        self.tree = self.source.tree()
        self.spans = Spans(self.source.text)
        self.alterer = Alterer(self.spans)
        self.groups: dict[tuple[str, ...], list[NodeId]] = {}
        for one in map(NodeId.parse, ids):
            self.groups.setdefault(one.parts, []).append(one)

    def own_checks(self, parts: tuple[str, ...]) -> tuple[Check, ...]:
        node = find(self.tree, parts)
        return checks(node.body, self.alterer) if node is not None else ()

    def reached_checks(self, parts: tuple[str, ...]) -> tuple[Check, ...]:
        """Checks of helpers and fixtures in this file that the test uses."""
        node = find(self.tree, parts)
        if node is None:
            return ()
        bodies = [line for one in reached(self.tree, node) for line in one.body]
        return distinct(checks(bodies, self.alterer))

    def lacks(self, parts: tuple[str, ...]) -> bool:
        """The test's function stands in another file: its class inherits it, or it is imported."""
        return find(self.tree, parts) is None

    def needs(self, parts: tuple[str, ...]) -> set[str]:
        """Names a test uses, to look for its helpers in other files."""
        node = find(self.tree, parts)
        return identifiers(node) if node is not None else set()

    def imported(self) -> set[str]:
        """What its import statements name."""
        return imported(self.tree)

    def foreign(self) -> set[str]:
        """Names in the tests' ids that this file does not define: it has them from another."""
        return {name for parts in self.groups for name in missing(self.tree, parts)}

    def twins(self, parts: tuple[str, ...]) -> Iterator[Copy]:
        """One fresh file per check, the test's own name kept."""
        own = self.own_checks(parts)
        reached_ones = () if own else self.reached_checks(parts)
        sets: list[tuple[Check, ...]] = [(one,) for one in own] or (
            [reached_ones] if reached_ones else []
        )
        for picked in sets:
            path = fresh_path(self.path)
            yield self._copy(path, picked, [(one, one.at(path)) for one in self.groups[parts]])

    def checkless(self, parts: tuple[str, ...]) -> Copy | None:
        """For a test that checks nothing but that nothing is raised: it raises at its end."""
        node = find(self.tree, parts)
        if node is None:
            return None
        path = fresh_path(self.path)
        return Copy(
            path=path,
            data=self._encode([self.alterer.raise_at_end(node)]),
            tests=tuple(
                CopiedTest(original=_text(one), run=one.at(path), lines=frozenset())
                for one in self.groups[parts]
            ),
        )

    def in_place(self) -> Copy | None:
        """The file itself with one drawn check of every wanted test altered, or its helpers'."""
        drawn = self._drawn()
        return self._in_place(drawn, self.path, {}) if drawn else None

    def renamed(self, names: Mapping[str, str]) -> Copy:
        """A fresh file in which the wanted tests have the names that `names` has for them."""
        names = {one: names[one] for parts in self.groups for one in parts}
        path, edits = fresh_path(self.path), rename_edits(self.tree, self.alterer, names)
        tests = [
            CopiedTest(
                original=_text(one), run=one.at(path, _renamed(parts, names)), lines=frozenset()
            )
            for parts, ids in self.groups.items()
            for one in ids
        ]
        return Copy(path=path, data=self._encode(edits), tests=tuple(tests))

    def renamed_twins(self) -> Copy | None:
        """The same with one drawn check of every test altered."""
        drawn = self._drawn()
        if not drawn:
            return None
        return self._in_place(drawn, fresh_path(self.path), draw_names(drawn, {}))

    def _drawn(self) -> dict[tuple[str, ...], tuple[Check, ...]]:
        chosen: dict[tuple[str, ...], tuple[Check, ...]] = {}
        for parts in self.groups:
            own = self.own_checks(parts)
            picked = (secrets.choice(own),) if own else self.reached_checks(parts)
            if picked:
                chosen[parts] = picked
        return chosen

    def _in_place(
        self,
        drawn: Mapping[tuple[str, ...], tuple[Check, ...]],
        path: str,
        names: Mapping[str, str],
    ) -> Copy:
        picked = distinct(check for checks_ in drawn.values() for check in checks_)
        edits = [edit for one in picked for edit in one.edits]
        tests = [
            CopiedTest(
                original=_text(one),
                run=one.at(path, _renamed(parts, names)),
                lines=_lines(drawn[parts]),
            )
            for parts in drawn
            for one in self.groups[parts]
        ]
        data = self._encode([*edits, *rename_edits(self.tree, self.alterer, names)])
        return Copy(path=path, data=data, tests=tuple(tests))

    def _copy(self, path: str, picked: Sequence[Check], runs: Sequence[tuple[NodeId, str]]) -> Copy:
        edits = [edit for one in picked for edit in one.edits]
        tests = [
            CopiedTest(original=_text(one), run=run, lines=_lines(picked)) for one, run in runs
        ]
        return Copy(path=path, data=self._encode(edits), tests=tuple(tests))

    def _encode(self, edits: Sequence[Edit]) -> bytes:
        changed = self.source.with_text(self.spans.replace(edits))
        changed.tree()
        return changed.encode()


def draw(
    copies: Sequence[Copy], most: int = _MOST_TWINS, runs: int = _MOST_RUNS
) -> tuple[list[list[Copy]], list[Copy]]:
    """Twins by run and the spare ones, in a drawn order: every test's first before seconds."""
    if len(copies) <= most:
        return [list(copies)], []
    turns: dict[str, list[Copy]] = {}
    for one in secrets.SystemRandom().sample(copies, len(copies)):
        turns.setdefault(one.tests[0].original, []).append(one)
    rounds = zip_longest(*turns.values())
    drawn = [one for turn in rounds for one in turn if one is not None]
    tried = drawn[: most * runs]
    return [tried[at : at + most] for at in range(0, len(tried), most)], drawn[most * runs :]


def fresh_path(path: str) -> str:
    """A file name beside `path`, of the same kind."""
    place = PurePosixPath(path)
    stem, word = place.stem, draw_word(8)
    if stem.endswith("_test"):
        name = f"{word}_test"
    elif stem.startswith("test"):
        name = f"test_{word}"
    else:
        name = word
    return str(place.with_name(name + place.suffix))


def _renamed(parts: Sequence[str], names: Mapping[str, str]) -> list[str]:
    return [names.get(part, part) for part in parts]


def _text(node: NodeId) -> str:
    return node.at(node.path)


def _lines(picked: Sequence[Check]) -> frozenset[int]:
    return frozenset(line for one in picked for line in range(one.line, one.end_line + 1))
