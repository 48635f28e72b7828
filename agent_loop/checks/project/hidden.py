"""Tests that no model sees: copied into the tree for the check only."""

from pathlib import PurePosixPath

from agent_loop.checks.project.frozen import Frozen
from agent_loop.checks.project.tree import Base, walk
from agent_loop.checks.project.twins.copies import fresh_path
from agent_loop.checks.project.twins.place import NodeId
from agent_loop.checks.project.wanted import HiddenTests
from agent_loop.errors import TaskFileError
from agent_loop.tasks import ProjectTask


def hidden_tests(task: ProjectTask, base: Base, frozen: Frozen) -> HiddenTests | None:
    """Placed beside the first wanted test, so that the same conftest and helpers are theirs.

    Raises:
        TaskFileError: the folder holds no tests.
    """
    if task.hidden_tests is None:
        return None
    folder = _folder(frozen)
    files: dict[str, bytes] = {}
    for path in walk(task.hidden_tests):
        name = path.relative_to(task.hidden_tests).as_posix()
        place = str(PurePosixPath(folder) / name)
        if place in base and path.suffix == ".py" and not name.endswith("__init__.py"):
            place = fresh_path(place)
        if place not in base:
            files[place] = path.read_bytes()
    hidden = HiddenTests(files=files)
    if not hidden.modules:
        raise TaskFileError(
            str(task.source or task.name),
            f"hidden_tests: {task.hidden_tests} holds no tests",
            "Give a folder with files that hold test functions",
        )
    return hidden


def _folder(frozen: Frozen) -> str:
    wanted = [one for one in frozen.all_wanted if frozen.kinds.get(one) != "doctest"]
    return str(PurePosixPath(NodeId.parse(wanted[0]).path).parent) if wanted else "."
