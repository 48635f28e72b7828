"""Several runs over few copies of the tree, each in a container of its own.

Runs that must fail and runs that must pass are told apart by nothing but the files under test:
a container that lives on would let an early run leave a note, or a process, for a later one.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from agent_loop.checks.project.command import TREE, Job, supervisor
from agent_loop.checks.project.records import Answer
from agent_loop.checks.project.run import Runner
from agent_loop.checks.project.tree import Base, Mounted
from agent_loop.errors import StoreFault
from agent_loop.ports import Box, Limits, Mount

LANES = 2
_FLAGS = ("-I", "-S", "-B", "-u")
"""Of the supervisor; pytest runs in a process of its own, with the image's packages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One run: what is laid over the base, and the command."""

    job: Job
    overlay: Mapping[str, bytes | None] = field(default_factory=dict)


class Lanes:
    """`LANES` copies of the base, and what runs on them."""

    def __init__(
        self, runner: Runner, base: Base, root: Path, *, image: str, python: str, limits: Limits
    ) -> None:
        self._runner = runner
        first = Mounted(base, root / "tree-0")
        others = [Mounted(base, root / f"tree-{n}", like=first) for n in range(1, LANES)]
        self._trees = [first, *others]
        self._boxes = [
            Box(
                program=supervisor(),
                limits=limits,
                mounts=(Mount(source=str(tree.root), target=TREE),),
                image=image,
                python=(python, *_FLAGS),
            )
            for tree in self._trees
        ]

    def warm(self, count: int) -> None:
        for box in self._boxes:
            self._runner.sandbox.warm(box, count)

    def run(self, errands: Sequence[Errand]) -> list[Answer]:
        """All of them, in any order, answers in theirs.

        Raises:
            FaultError: one could not be run.
        """
        free: SimpleQueue[int] = SimpleQueue()
        for number in range(LANES):
            free.put(number)

        def one(errand: Errand) -> Answer:
            lane = free.get()
            try:
                return self._one(lane, errand)
            finally:
                free.put(lane)

        with ThreadPoolExecutor(LANES) as pool:
            return list(pool.map(one, errands))

    def refuse_tampered(self, protected: Callable[[str], bool]) -> None:
        """Compare the protected files of every copy with the untouched project, by content.

        Raises:
            StoreFault: one differs: somebody else writes there, so nothing can be judged.
        """
        for tree in self._trees:
            if strange := tree.tampered(protected):
                raise StoreFault(f"{tree.root}: changed from outside while judging: {strange[0]}")

    def _one(self, lane: int, errand: Errand) -> Answer:
        self._trees[lane].show(errand.overlay)
        return self._runner.run(self._boxes[lane], errand.job)
