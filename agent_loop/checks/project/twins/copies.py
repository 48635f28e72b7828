"""Files laid over the tree for one run: twins, and copies under other names."""

import ast
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath

from agent_loop.checks.project.source.sabotage import draw_word
from agent_loop.checks.project.source.shape import Definition
from agent_loop.checks.project.source.text import Edit, Source, Spans
from agent_loop.checks.project.twins.alter import Alterer
from agent_loop.checks.project.twins.find import Check, checks
from agent_loop.checks.project.twins.place import NodeId, find, identifiers, reached

_MOST_TWINS = 120
"""Twin files of one run; past it, as many are drawn and the others are spare."""


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
        return _distinct(checks(bodies, self.alterer))

    def needs(self, parts: tuple[str, ...]) -> set[str]:
        """Names a test uses, to look for its helpers in other files."""
        node = find(self.tree, parts)
        return identifiers(node) if node is not None else set()

    def imported(self) -> set[str]:
        """Names of modules, and names taken from modules, in the import statements."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                dotted = [getattr(node, "module", None) or "", *(one.name for one in node.names)]
                found.update(part for name in dotted for part in name.split(".") if part)
        return found

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
        end = self.spans.line_end(self.spans.of(node.body[-1])[1])
        indent = " " * node.body[0].col_offset
        separator = f"\n{indent}" if node.body[0].lineno > node.lineno else "; "
        edit = Edit(start=end, end=end, text=f"{separator}raise BufferError")
        path = fresh_path(self.path)
        return Copy(
            path=path,
            data=self._encode([edit]),
            tests=tuple(
                CopiedTest(original=_text(one), run=one.at(path), lines=frozenset())
                for one in self.groups[parts]
            ),
        )

    def in_place(self) -> Copy | None:
        """The file itself with one drawn check of every wanted test altered, or its helpers'."""
        drawn = self._drawn()
        return self._in_place(drawn, self.path, {}) if drawn else None

    def renamed(self) -> Copy:
        """A fresh file in which the wanted tests have other names."""
        names, path = self._other_names(), fresh_path(self.path)
        edits = self._rename_edits(names)
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
        return self._in_place(drawn, fresh_path(self.path), self._other_names())

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
        picked = _distinct(check for checks_ in drawn.values() for check in checks_)
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
        data = self._encode([*edits, *self._rename_edits(names)])
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

    def _other_names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for parts in self.groups:
            *classes, function = parts
            for name in classes:
                names.setdefault(name, f"Test{draw_word(7).capitalize()}")
            names.setdefault(function, f"{_prefix(function)}_{draw_word(8)}")
        return names

    def _rename_edits(self, names: Mapping[str, str]) -> list[Edit]:
        return [edit for node in ast.walk(self.tree) for edit in self._rename(node, names)]

    def _rename(self, node: ast.AST, names: Mapping[str, str]) -> list[Edit]:
        if isinstance(node, ast.Name) and node.id in names:
            start, end = self.spans.of(node)
            return [Edit(start=start, end=end, text=names[node.id])]
        if isinstance(node, ast.Attribute) and node.attr in names:
            return self.alterer.rename_attribute(node, names[node.attr])
        if isinstance(node, Definition | ast.ClassDef) and node.name in names:
            return [self._rename_definition(node, names[node.name])]
        return []

    def _rename_definition(self, node: Definition | ast.ClassDef, name: str) -> Edit:
        start = self.spans.offset(node.lineno, node.col_offset)
        keyword = re.compile(rb"(?:async\s+)?(?:def|class)\s+").match(self.spans.data, start)
        begin = keyword.end() if keyword else start
        return Edit(start=begin, end=begin + len(node.name.encode()), text=name)


def helper_twins(files: Mapping[str, bytes], needed: set[str]) -> dict[str, bytes]:
    """Other files of the tests with every check altered in what the wanted tests use."""
    found: dict[str, bytes] = {}
    for path, data in files.items():
        try:
            source = Source.decode(data)
            tree = source.tree()
        except SyntaxError:
            continue
        alterer = Alterer(Spans(source.text))
        used = [one for one in ast.walk(tree) if isinstance(one, Definition) and one.name in needed]
        picked = _distinct(checks([line for one in used for line in one.body], alterer))
        if picked:
            edits = [edit for one in picked for edit in one.edits]
            found[path] = source.with_text(alterer.spans.replace(edits)).encode()
    return found


def draw(copies: Sequence[Copy], most: int = _MOST_TWINS) -> tuple[list[Copy], list[Copy]]:
    """Twins for one run and the spare ones, in a drawn order: every test's first before seconds."""
    if len(copies) <= most:
        return list(copies), []
    turns: dict[str, list[Copy]] = {}
    for one in secrets.SystemRandom().sample(copies, len(copies)):
        turns.setdefault(one.tests[0].original, []).append(one)
    rounds = zip_longest(*turns.values())
    drawn = [one for turn in rounds for one in turn if one is not None]
    return drawn[:most], drawn[most:]


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


def _prefix(name: str) -> str:
    head = name.partition("_")[0]
    return head if head in ("test", "tests", "it", "should") else "test"


def _renamed(parts: Sequence[str], names: Mapping[str, str]) -> list[str]:
    return [names.get(part, part) for part in parts]


def _text(node: NodeId) -> str:
    return node.at(node.path)


def _lines(picked: Sequence[Check]) -> frozenset[int]:
    return frozenset(line for one in picked for line in range(one.line, one.end_line + 1))


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one == other or (one[0] < other[1] and other[0] < one[1])


def _distinct(found: Iterable[Check]) -> tuple[Check, ...]:
    """No two checks may edit one place (nested functions are walked twice, blocks hold calls)."""
    taken: list[tuple[int, int]] = []
    kept: list[Check] = []
    for one in found:
        places = [(edit.start, edit.end) for edit in one.edits]
        if not any(_meet(place, other) for place in places for other in taken):
            taken += places
            kept.append(one)
    return tuple(kept)
