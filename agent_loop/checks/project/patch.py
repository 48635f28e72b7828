"""One candidate's files, taken apart for the proofs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent_loop.checks.project.source.changes import SourceChange, compare
from agent_loop.checks.project.source.data import more_than_data
from agent_loop.checks.project.source.looks import Patched
from agent_loop.checks.project.source.sabotage import Marker, sabotage
from agent_loop.checks.project.source.shape import Key
from agent_loop.checks.project.source.text import Source
from agent_loop.checks.project.tree import Base


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What a candidate changes."""

    files: Mapping[str, bytes | None]
    """New contents by path."""
    python: tuple[Patched, ...]
    """Its Python sources that are no tests."""
    deleted: tuple[SourceChange, ...] = ()
    """Python sources that are gone."""
    others: tuple[str, ...] = ()
    """Files that are no Python."""

    @property
    def changes_code(self) -> bool:
        """False for comments and docstrings only."""
        return bool(self.others or self.deleted or any(one.change.any for one in self.python))

    @property
    def functions(self) -> tuple[tuple[str, Key], ...]:
        return tuple((one.path, key) for one in self.python for key in one.change.functions)

    @property
    def more_than_data(self) -> tuple[str, ...]:
        """Places of new import-time code that does something."""
        return tuple(
            f"{one.path}:{getattr(item.node, 'lineno', 0)}"
            for one in self.python
            for item in more_than_data(one.change.added)
        )

    @property
    def lines(self) -> Mapping[str, frozenset[int]]:
        """Lines of which one must run, by path: inside functions where any changed."""
        inside = {one.path: one.change.lines for one in self.python if one.change.lines}
        if self.functions:
            return inside
        return {one.path: one.change.import_lines for one in self.python if one.change.import_lines}

    def sabotaged(
        self, marker: Marker, only: tuple[tuple[str, Key], ...] | None = None
    ) -> dict[str, bytes]:
        """The changed files with those functions raising.

        Raises:
            SyntaxError: one of them cannot be sabotaged.
        """
        picked = self.functions if only is None else only
        found: dict[str, bytes] = {}
        for one in self.python:
            keys = [key for path, key in picked if path == one.path]
            if keys:
                found[one.path] = sabotage(one.new, keys, marker).encode()
        return found


def take_apart(
    files: Mapping[str, bytes | None], base: Base, *, is_test: Callable[[str], bool]
) -> Patch:
    """Compare every file with the untouched project.

    Raises:
        SyntaxError: a Python file of the patch cannot be parsed.
    """
    python: list[Patched] = []
    deleted: list[SourceChange] = []
    others: list[str] = []
    for path, data in sorted(files.items()):
        old = _old(base, path)
        if not path.endswith(".py"):
            others.append(path)
        elif is_test(path):
            continue
        elif data is None:
            deleted.append(compare(old, None))
        else:
            new = Source.decode(data)
            python.append(Patched(path=path, old=old, new=new, change=compare(old, new)))
    return Patch(files=files, python=tuple(python), deleted=tuple(deleted), others=tuple(others))


def _old(base: Base, path: str) -> Source | None:
    data = base.read(path)
    try:
        return None if data is None else Source.decode(data)
    except SyntaxError:
        return None
