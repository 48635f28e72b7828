"""The tests of a task as one text, and how its lines are spoken of."""

import ast
from dataclasses import dataclass
from functools import cached_property

from agent_loop.checks.code.inside.marks import Assert, asserts_of
from agent_loop.syntax import parse


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Tests in order, joined: earlier ones set up names for later ones."""

    tests: tuple[str, ...]
    word: str = "test"
    """What one of them is called: `test` or `hidden test`."""
    before: "Sheet | None" = None
    """Tests that run first, in the same text, because these need names of theirs."""

    @cached_property
    def text(self) -> str:
        own = "\n".join(self.tests)
        return f"{self.before.text}\n{own}" if self.before else own

    @cached_property
    def tree(self) -> ast.Module:
        return parse(self.text)

    @cached_property
    def asserts(self) -> tuple[Assert, ...]:
        return tuple(mark for _, mark in asserts_of(self.tree))

    def place(self, line: int) -> str:
        """Line of the text -> `test 3`, or `test 3 line 2` where it has several lines."""
        if self.before:
            earlier = self.before.text.count("\n") + 1
            if line <= earlier:
                return self.before.place(line)
            line -= earlier
        for number, test in enumerate(self.tests, 1):
            lines = test.count("\n") + 1
            if line <= lines:
                return f"{self.word} {number}" + (f" line {line}" if lines > 1 else "")
            line -= lines
        return f"{self.word} {len(self.tests)}"

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """One name per assert; several on one line get a letter."""
        places = [self.place(mark.line) for mark in self.asserts]
        found: list[str] = []
        for number, place in enumerate(places):
            again = places[:number].count(place)
            found.append(place if places.count(place) == 1 else f"{place} {chr(97 + again % 26)}")
        return tuple(found)
