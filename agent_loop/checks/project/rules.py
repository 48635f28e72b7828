"""Proof 7: which files of a patch touch what decides."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from agent_loop.checks.project.frozen import Frozen
from agent_loop.checks.project.protected import TEST_NAMES, Protection
from agent_loop.checks.project.tree import Base
from agent_loop.checks.project.twins.doctests import examples_of
from agent_loop.checks.project.twins.place import NodeId

_FOLDERS = ("tests", "test", "__tests__")


def broken_rules(
    files: Mapping[str, bytes | None], base: Base, frozen: Frozen, protection: Protection
) -> list[str]:
    """One line for each file that may not change."""
    found = [
        f"{path}: {why}" for path in files if (why := protection.why(path) or _odd(path, base))
    ]
    for one in frozen.all_wanted:
        node = NodeId.parse(one)
        if frozen.kinds.get(one) == "doctest" and node.path in files:
            before = examples_of(node.path, base.read(node.path) or b"", node.parts[-1])
            after = examples_of(node.path, files[node.path] or b"", node.parts[-1])
            if before != after:
                found.append(f"{node.path}: the examples of the wanted doctest were changed")
    return list(dict.fromkeys(found))


def _odd(path: str, base: Base) -> str | None:
    """A path that is no plain path inside the project."""
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts or str(place) != path or "\\" in path:
        return "not a plain path inside the project"
    if any(str(parent) in base.links for parent in (place, *place.parents)):
        return "it lies behind a symbolic link"
    return None


class TestFiles:
    """Tells the files of the tests, helpers and conftest included, from all others."""

    __test__ = False

    def __init__(self, frozen: Frozen) -> None:
        self._frozen = frozenset(frozen.test_files)
        self._known: dict[str, bool] = {}

    def __call__(self, path: str) -> bool:
        # Asked of every file of the project several times in a check.
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._looked_at(path)
        return known

    def _looked_at(self, path: str) -> bool:
        place = PurePosixPath(path)
        in_folder = any(part in _FOLDERS for part in place.parts[:-1])
        return in_folder or place.name == "conftest.py" or path in self._frozen


def new_tests(files: Mapping[str, bytes | None], base: Base) -> tuple[str, ...]:
    """Test files that a patch adds, where the task lets it: they have to run beside the others."""
    return tuple(
        path
        for path, data in files.items()
        if data is not None
        and path not in base
        and path.endswith(".py")
        and TEST_NAMES.fullmatch(PurePosixPath(path).name)
    )
