"""A project of ten thousand files: its first check, and a later check after one more edit.

The first check holds all that stands before it: the copy, the image's start, the red run.
"""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from agent_loop.assemble.project import ProjectDesk
from agent_loop.config import Config, state_dir
from agent_loop.ports import Reply, SystemClock, Usage
from agent_loop.sandbox import make_image_builder, make_sandbox
from agent_loop.tasks import ProjectTask
from benchmarks.row import Row

FILES = 10_000
LATER = 5
"""Checks after the first one; their median counts."""
THINKING_S = 2.0
"""A worker's reply takes at least this long; not counted, and not given to the first check."""
BUGGY = """\
def total(values):
    return sum(values[1:])


def mean(values):
    return total(values) / len(values)
"""
TESTS = """\
from app.money import mean, total


def test_total():
    assert total([1, 2, 3]) == 6


def test_mean():
    assert mean([2, 4]) == 3
"""


def make_project(root: Path) -> None:
    """`FILES` modules of twenty functions, and one small package with its tests."""
    for n in range(FILES):
        place = root / f"pkg{n % 100}" / f"mod{n}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        body = (f"def f{n}_{k}(x):\n    return x + {k}\n\n\n" for k in range(20))
        place.write_text("".join(body), encoding="utf-8")
    for name, text in {
        "app/__init__.py": "",
        "app/money.py": BUGGY,
        "tests/test_money.py": TESTS,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    # Files this young are compared by content; a real project is older.
    time.sleep(2.1)


def fix(n: int) -> Reply:
    """The right fix, worded otherwise each time: nothing is judged twice."""
    new = f"    start = {n}\n    return sum(values) + start - {n}\n"
    text = (
        f"app/money.py\n<<<<<<< SEARCH\n    return sum(values[1:])\n=======\n{new}>>>>>>> REPLACE\n"
    )
    return Reply(text=text, usage=Usage(), answered="benchmark")


def measure(folder: Path) -> dict[str, float]:
    """Seconds by name, and the peak memory in MiB."""
    source, runs = folder / "project", folder / "run"
    make_project(source)
    runs.mkdir()
    config, clock = Config(), SystemClock()
    settings = config.sandbox_settings
    sandbox = make_sandbox(settings, state_dir=state_dir(), notify=lambda text: None)
    task = ProjectTask(
        name="large", task="Mend total().", project=source, source=None, source_hash="0" * 64
    )
    found: dict[str, float] = {}
    try:
        sandbox.probe()
        begun = time.perf_counter()
        desk = ProjectDesk(
            task,
            runs,
            sandbox=sandbox,
            builder=lambda: make_image_builder(settings, state_dir=state_dir(), env=os.environ),
            config=config,
            clock=clock,
        )
        desk.check.reproduce()
        found["copy and red run, s"] = time.perf_counter() - begun
        judged = []
        for n in range(1 + LATER):
            # As the loop does: the next check's containers start while the worker thinks.
            desk.check.prepare()
            if n:
                time.sleep(THINKING_S)
            candidate = desk.check.parse(fix(n))
            start = time.perf_counter()
            verdict = desk.check.judge(candidate)
            judged.append(time.perf_counter() - start)
            if not verdict.passed:
                raise RuntimeError(f"the right fix did not pass: {verdict.reason}")
            if not n:
                found["first check with all before it, s"] = time.perf_counter() - begun
        desk.check.close()
    finally:
        sandbox.close()
    found["later check, median, s"] = sorted(judged[1:])[LATER // 2]
    found["quickest later check, s"], found["slowest later check, s"] = (
        min(judged[1:]),
        max(judged[1:]),
    )
    found["first judge, s"] = judged[0]
    found["peak memory, MiB"] = _peak_mib()
    return {name: round(value, 3) for name, value in found.items()}


def project_check_row() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder))
    return Row(
        what=f"project check, {FILES:,} files, one file changed",
        against="first check of the same, its copy and red run included",
        goal=0.2,
        ours=found["later check, median, s"],
        theirs=found["first check with all before it, s"],
        unit="s",
        spread=f"{found['quickest later check, s']:.3g}-{found['slowest later check, s']:.3g}, "
        "all later ones",
        more=dict(found),
    )


def _peak_mib() -> float:
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as here:
        print(json.dumps(measure(Path(here)), indent=2))
