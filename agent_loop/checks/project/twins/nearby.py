"""Other files of the tests: what their helpers check, and the tests that classes inherit."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from agent_loop.checks.project.source.shape import Definition
from agent_loop.checks.project.source.text import Edit, Source, Spans
from agent_loop.checks.project.twins.alter import Alterer
from agent_loop.checks.project.twins.find import Check, checks, distinct
from agent_loop.checks.project.twins.place import identifiers, imported
from agent_loop.checks.project.twins.rename import rename_edits


class HelperFile:
    """One file, and what is to be altered in it."""

    def __init__(self, path: str, data: bytes) -> None:
        """Raises SyntaxError when the file cannot be parsed."""
        self.path = path
        self._source = Source.decode(data)
        self._tree = self._source.tree()
        self._alterer = Alterer(Spans(self._source.text))
        self._picked: list[Check] = []
        self._ends: dict[int, Edit] = {}

    def imported(self) -> set[str]:
        return imported(self._tree)

    def definitions(self, names: set[str]) -> list[Definition]:
        nodes = ast.walk(self._tree)
        return [one for one in nodes if isinstance(one, Definition) and one.name in names]

    def alter_checks(self, names: set[str]) -> bool:
        """Every check of the functions with these names; False: there is none."""
        lines = [line for one in self.definitions(names) for line in one.body]
        found = checks(lines, self._alterer)
        self._picked += found
        return bool(found)

    def raise_at_ends(self, names: set[str]) -> bool:
        """Of the functions with these names; False: there is none."""
        found = [self._alterer.raise_at_end(one) for one in self.definitions(names)]
        self._ends |= {edit.start: edit for edit in found}
        return bool(found)

    def altered(self) -> bytes | None:
        edits = [edit for one in distinct(self._picked) for edit in one.edits]
        return self._written([*edits, *self._ends.values()])

    def renamed(self, names: Mapping[str, str]) -> bytes | None:
        return self._written(rename_edits(self._tree, self._alterer, names))

    def _written(self, edits: Sequence[Edit]) -> bytes | None:
        if not edits:
            return None
        return self._source.with_text(self._alterer.spans.replace(edits)).encode()


class Helpers:
    """The files of the tests that wanted tests may use."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes | None]) -> None:
        self._paths = tuple(paths)
        self._read = read
        self._files: dict[str, HelperFile | None] = {}

    def near(self, path: str, names: set[str]) -> list[HelperFile]:
        """What the test file of this path may use: it imports `names`, and so on from there."""
        found: dict[str, HelperFile] = {}
        waiting = set(names)
        while waiting:
            fresh = [
                one
                for one in self._paths
                if one != path and one not in found and _is_near(one, waiting)
            ]
            opened = [file for file in map(self._open, fresh) if file is not None]
            found |= {file.path: file for file in opened}
            waiting = {name for file in opened for name in file.imported()}
        return list(found.values())

    def altered(self) -> dict[str, bytes]:
        """By path."""
        return self._written(HelperFile.altered)

    def renamed(self, names: Mapping[str, str]) -> dict[str, bytes]:
        """By path."""
        return self._written(lambda file: file.renamed(names))

    def _open(self, path: str) -> HelperFile | None:
        if path not in self._files:
            data = self._read(path)
            try:
                self._files[path] = HelperFile(path, data) if data is not None else None
            except SyntaxError:
                self._files[path] = None
        return self._files[path]

    def _written(self, how: Callable[[HelperFile], bytes | None]) -> dict[str, bytes]:
        made = {path: how(file) for path, file in self._files.items() if file is not None}
        return {path: data for path, data in made.items() if data is not None}


def alter_used(near: Sequence[HelperFile], names: set[str]) -> bool:
    """Every check of what a test uses by these names; False: there is none."""
    return any([file.alter_checks(names) for file in near])


def alter_inherited(near: Sequence[HelperFile], name: str) -> bool:
    """The checks of a test that a class has from another file, else those of what it uses."""
    places = [one for file in near for one in file.definitions({name})]
    used = {one for place in places for one in identifiers(place) if not one.startswith("test")}
    return alter_used(near, {name}) or alter_used(near, used)


def raise_at_ends(near: Sequence[HelperFile], name: str) -> bool:
    """For an inherited test that checks nothing."""
    return any([file.raise_at_ends({name}) for file in near])


def _is_near(path: str, names: set[str]) -> bool:
    """May a file that imports these names use what stands in this one?"""
    place = PurePosixPath(path)
    always = place.stem in ("conftest", "__init__")
    return always or bool({place.stem, place.parent.name} & names)
