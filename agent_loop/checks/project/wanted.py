"""The wanted tests of one candidate, and the copies of them that its proofs run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_loop.checks.project.source.text import Source
from agent_loop.checks.project.twins import doctests
from agent_loop.checks.project.twins.copies import (
    CopiedTest,
    Copy,
    WantedFile,
    draw,
)
from agent_loop.checks.project.twins.nearby import (
    Helpers,
    alter_inherited,
    alter_used,
    raise_at_ends,
)
from agent_loop.checks.project.twins.place import NodeId, static_tests
from agent_loop.checks.project.twins.rename import draw_names

Read = Callable[[str], bytes | None]


@dataclass(slots=True)
class Copies:
    """What must fail and what must pass, beside the wanted tests themselves."""

    twins: list[Copy] = field(default_factory=list)
    """With one check altered each: as many as one run should hold."""
    more: list[list[Copy]] = field(default_factory=list)
    """What further runs hold: a check without a twin is one where any answer passes."""
    spare: list[Copy] = field(default_factory=list)
    """Past all that: for tests that no other altered check turned red."""
    renamed_twins: list[Copy] = field(default_factory=list)
    in_place: list[Copy] = field(default_factory=list)
    renamed: list[Copy] = field(default_factory=list)
    renamed_helpers: dict[str, bytes] = field(default_factory=dict)
    """Files from which wanted tests are inherited, with the names of the renamed copies."""
    helpers: dict[str, bytes] = field(default_factory=dict)
    """Altered files of helpers, for tests that hold no check themselves."""
    by_helpers: list[str] = field(default_factory=list)
    """Ids that must fail with them."""
    checkless: list[str] = field(default_factory=list)
    """Ids of tests that check nothing but that nothing is raised."""
    without: list[str] = field(default_factory=list)
    """Ids that no twin can be made of."""

    @property
    def fresh_twins(self) -> list[Copy]:
        """All that lie in fresh files and are run."""
        return [*self.twins, *self.renamed_twins]


def make_copies(
    ids: Sequence[str], kinds: Mapping[str, str], read: Read, helper_files: Sequence[str]
) -> Copies:
    """Twins and renamed copies of every wanted test.

    Args:
        ids: the wanted ids as they really ran.
        kinds: of each id: function, unittest, doctest, other.
        read: content of a file of the candidate's tree.
        helper_files: Python files under the tests that may hold helpers.
    """
    return _Maker(read, helper_files).make(ids, kinds)


class _Maker:
    """Collects the copies of all files."""

    def __init__(self, read: Read, helper_files: Sequence[str]) -> None:
        self._read = read
        self._copies = Copies()
        self._helpers = Helpers(helper_files, read)
        self._names: dict[str, str] = {}
        """New names of the tests and their classes, the same in every file."""
        self._foreign: set[str] = set()

    def make(self, ids: Sequence[str], kinds: Mapping[str, str]) -> Copies:
        copies = self._copies
        files: dict[tuple[str, bool], list[str]] = {}
        for one in ids:
            path = NodeId.parse(one).path
            is_doctest = kinds.get(one) == "doctest" or not path.endswith(".py")
            files.setdefault((path, is_doctest), []).append(one)
        for (path, is_doctest), group in files.items():
            data = self._read(path)
            try:
                if data is None:
                    copies.without += group
                elif is_doctest:
                    self._add_doctests(path, data, group)
                else:
                    self._add_file(WantedFile(path, data, group))
            except (SyntaxError, ValueError):
                copies.without += group
        runs, copies.spare = draw(copies.twins)
        copies.twins, copies.more = runs[0], runs[1:]
        copies.helpers = self._helpers.altered()
        foreign = {old: new for old, new in self._names.items() if old in self._foreign}
        copies.renamed_helpers = self._helpers.renamed(foreign) if foreign else {}
        return copies

    def _add_doctests(self, path: str, data: bytes, ids: list[str]) -> None:
        made = doctests.twins(path, data, ids)
        self._copies.twins += made
        have = {test.original for copy in made for test in copy.tests}
        self._copies.without += [one for one in ids if one not in have]
        self._copies.renamed.append(doctests.renamed(path, data, ids))

    def _add_file(self, file: WantedFile) -> None:
        for parts, group in file.groups.items():
            made = list(file.twins(parts))
            self._copies.twins += made
            if not made:
                self._add_fallback(file, parts, [one.at(one.path) for one in group])
        draw_names(file.groups, self._names)
        self._foreign |= file.foreign()
        self._copies.renamed.append(file.renamed(self._names))
        for copy, places in (
            (file.in_place(), self._copies.in_place),
            (file.renamed_twins(), self._copies.renamed_twins),
        ):
            if copy is not None:
                places.append(copy)

    def _add_fallback(self, file: WantedFile, parts: tuple[str, ...], ids: list[str]) -> None:
        """A test without a check of its own: its helpers' checks, else that nothing is raised."""
        near = self._helpers.near(file.path, file.imported())
        inherited = file.lacks(parts)
        by_helpers = (
            alter_inherited(near, parts[-1]) if inherited else alter_used(near, file.needs(parts))
        )
        if not by_helpers and inherited and raise_at_ends(near, parts[-1]):
            by_helpers = True
            self._copies.checkless += ids
        if by_helpers:
            self._copies.by_helpers += ids
            return
        copy = file.checkless(parts)
        if copy is None:
            self._copies.without += ids
        else:
            self._copies.twins.append(copy)
            self._copies.checkless += ids


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenTests:
    """Tests that no model sees, and where they lie during a check."""

    files: Mapping[str, bytes]

    @property
    def modules(self) -> tuple[str, ...]:
        """Files that hold tests."""
        return tuple(path for path, data in self.files.items() if _test_names(path, data))

    def names(self) -> dict[str, list[str]]:
        """Ids of the test functions by file, parameters unknown."""
        return {path: _test_names(path, self.files[path]) for path in self.modules}


def _test_names(path: str, data: bytes) -> list[str]:
    if not path.endswith(".py"):
        return []
    try:
        tree = Source.decode(data).tree()
    except SyntaxError:
        return []
    return ["::".join((path, *parts)) for parts in static_tests(tree)]


def untouched(paths: Iterable[str], read: Read) -> dict[str, bytes]:
    """Test files as they are, to be laid anew: so a file's age does not tell an altered one."""
    return {path: data for path in sorted(set(paths)) if (data := read(path)) is not None}


def by_path(copies: Sequence[Copy]) -> dict[str, bytes]:
    return {one.path: one.data for one in copies}


def copied_tests(copies: Sequence[Copy]) -> list[CopiedTest]:
    return [test for copy in copies for test in copy.tests]
