"""Copying and showing a project of ten thousand files: first time, second time, peak memory.

The first copy of the same run is what the others are measured against; `shutil.copytree` of the
same tree stands beside it.
"""

import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent_loop.context import Cache, Question, show
from agent_loop.workspace import Tree, changes_patch, copy_project
from benchmarks.row import Row

FILES = 10_000


def make_project(root: Path) -> None:
    for n in range(FILES):
        place = root / f"pkg{n % 100}" / f"mod{n}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            "".join(f"def f{n}_{k}(x):\n    return x + {k}\n\n\n" for k in range(20)),
            encoding="utf-8",
        )
    (root / ".gitignore").write_text("*.log\nbuild/\n*.egg-info\n/dist\n", encoding="utf-8")
    # Files this young are compared by content; a real project is older.
    time.sleep(2.1)


def copying_row() -> Row:
    found = measure()
    later = "third copy, one file changed"
    return Row(
        what=f"copy of a project of {FILES:,} files, one file changed",
        against="its first copy",
        goal=0.5,
        unit="s",
        ours=found[later],
        theirs=found["first copy"],
        more={name: value for name, value in found.items() if name not in (later, "first copy")},
    )


def measure() -> dict[str, float]:
    """Seconds by name, and the peak memory in MiB."""
    rows: dict[str, float] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        begun = time.perf_counter()
        work()
        rows[name] = round(time.perf_counter() - begun, 3)

    with tempfile.TemporaryDirectory() as folder:
        source, copy = Path(folder) / "project", Path(folder) / "runs" / "copy"
        make_project(source)
        timed("shutil.copytree", lambda: shutil.copytree(source, Path(folder) / "plain"))
        timed("first copy", lambda: copy_project(source, copy))
        timed("second copy, nothing changed", lambda: copy_project(source, copy))
        (source / "pkg1" / "mod1.py").write_text("x = 1\n", encoding="utf-8")
        timed("third copy, one file changed", lambda: copy_project(source, copy))
        rows["peak memory of copying, MiB"] = _peak_mib()
        timed("digest of the tree", lambda: Tree(copy).digest())
        (copy / "pkg2" / "mod2.py").write_text("y = 1\n", encoding="utf-8")
        timed("patch of one change", lambda: changes_patch(Tree(source), Tree(copy)))
        cache, question = Cache(), Question(task="f303_4 in pkg3/mod303.py is wrong")
        timed("context", lambda: show(Tree(copy), question, budget=24_000, cache=cache))
        timed("context again", lambda: show(Tree(copy), question, budget=24_000, cache=cache))
        rows["peak memory of all, MiB"] = _peak_mib()
    return rows


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
