"""Reads the trick files: `tricks/NAME.txt`, text on purpose, so that nothing can import one.

A file has parts between lines of `---`: a header (`what`, `fools`, `on`), the code, and for a
trick that needs its own task the tests. `$NAME` is what the task wants, `$WRONG` an honest but
wrong solution.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.tamper.code.tasks import FOUR, Tried

FOLDER = Path(__file__).parent / "tricks"


@dataclass(frozen=True, kw_only=True)
class Trick:
    name: str
    what: str
    fools: str
    """The naive command that takes it for a pass."""
    on: tuple[str, ...]
    """Tasks on which it does."""
    code: str
    own: Tried | None = None

    @property
    def tasks(self) -> tuple[Tried, ...]:
        return (self.own,) if self.own else FOUR

    def solution(self, task: Tried) -> str:
        return self.code.replace("$NAME", task.names[0]).replace("$WRONG", task.wrong)


@cache
def all_tricks() -> tuple[Trick, ...]:
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.txt")))


def _read(path: Path) -> Trick:
    header, *parts = path.read_text().split("\n---\n")
    words = dict(line.split(": ", 1) for line in header.strip().split("\n"))
    own = None
    if len(parts) > 1:
        own = Tried(
            name="own", names=tuple(words.get("names", "f").split()), right="",
            wrong=words.get("wrong", "def f(*a): return None"),
            tests=tuple(parts[1].strip().split("\n--\n")),
            helpers=parts[2] if len(parts) > 2 else "",
        )  # fmt: skip
    on = ("own",) if own else tuple(words["on"].split())
    return Trick(
        name=path.stem, what=words["what"], fools=words["fools"], on=on, code=parts[0], own=own
    )
