"""The wanted tests of one candidate, and the copies of them that its proofs run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from agent_loop.checks.project.source.text import Source
from agent_loop.checks.project.twins import doctests
from agent_loop.checks.project.twins.copies import (
    CopiedTest,
    Copy,
    WantedFile,
    draw,
    helper_twins,
)
from agent_loop.checks.project.twins.place import NodeId, static_tests

Read = Callable[[str], bytes | None]


@dataclass(slots=True)
class Copies:
    """What must fail and what must pass, beside the wanted tests themselves."""

    twins: list[Copy] = field(default_factory=list)
    """With one check altered each: as many as one run should hold."""
    spare: list[Copy] = field(default_factory=list)
    """More of them, for tests that no other altered check turned red."""
    renamed_twins: list[Copy] = field(default_factory=list)
    in_place: list[Copy] = field(default_factory=list)
    renamed: list[Copy] = field(default_factory=list)
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
    copies = Copies()
    files: dict[tuple[str, bool], list[str]] = {}
    for one in ids:
        is_doctest = kinds.get(one) == "doctest" or not NodeId.parse(one).path.endswith(".py")
        files.setdefault((NodeId.parse(one).path, is_doctest), []).append(one)
    for (path, is_doctest), group in files.items():
        data = read(path)
        try:
            if data is None:
                copies.without += group
            elif is_doctest:
                _add_doctests(copies, path, data, group)
            else:
                _add_file(copies, WantedFile(path, data, group), read, helper_files)
        except (SyntaxError, ValueError):
            copies.without += group
    copies.twins, copies.spare = draw(copies.twins)
    return copies


def _add_doctests(copies: Copies, path: str, data: bytes, ids: list[str]) -> None:
    made = doctests.twins(path, data, ids)
    copies.twins += made
    have = {test.original for copy in made for test in copy.tests}
    copies.without += [one for one in ids if one not in have]
    copies.renamed.append(doctests.renamed(path, data, ids))


def _add_file(copies: Copies, file: WantedFile, read: Read, helper_files: Sequence[str]) -> None:
    for parts, group in file.groups.items():
        made = list(file.twins(parts))
        copies.twins += made
        if not made:
            _add_fallback(
                copies, file, parts, [one.at(one.path) for one in group], read, helper_files
            )
    copies.renamed.append(file.renamed())
    for copy, places in (
        (file.in_place(), copies.in_place),
        (file.renamed_twins(), copies.renamed_twins),
    ):
        if copy is not None:
            places.append(copy)


def _add_fallback(
    copies: Copies,
    file: WantedFile,
    parts: tuple[str, ...],
    ids: list[str],
    read: Read,
    helper_files: Sequence[str],
) -> None:
    """A test without a check of its own: its helpers' checks, else that nothing is raised."""
    near = file.imported()
    others = {
        one: data
        for one in helper_files
        if one != file.path and _is_near(one, near) and (data := read(one))
    }
    altered = helper_twins(others, file.needs(parts) or set(parts))
    if altered:
        copies.helpers |= altered
        copies.by_helpers += ids
        return
    copy = file.checkless(parts)
    if copy is None:
        copies.without += ids
    else:
        copies.twins.append(copy)
        copies.checkless += ids


def _is_near(path: str, imported: set[str]) -> bool:
    """May the test file use what stands in this one?"""
    place = PurePosixPath(path)
    return place.stem == "conftest" or bool({place.stem, place.parent.name} & imported)


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
