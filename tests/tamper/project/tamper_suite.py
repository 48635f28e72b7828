"""Loads the tricks and judges them; run as a script it prints a matrix."""

import argparse
import importlib.util
import itertools
import os
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tamper_victim import HIDDEN, PROJECT

from agent_loop.checks.project import proofs
from agent_loop.checks.project.command import ENVIRONMENT, Job, parse_command
from agent_loop.checks.project.judge import ProjectJudge
from agent_loop.checks.project.lanes import Errand, Lanes
from agent_loop.checks.project.protected import Protection
from agent_loop.checks.project.reproduce import Reproduction
from agent_loop.checks.project.run import Runner
from agent_loop.checks.project.settings import find_setting
from agent_loop.checks.project.tree import Base
from agent_loop.checks.project.wanted import HiddenTests
from agent_loop.config import SandboxSettings
from agent_loop.ports import Limits, SystemClock
from agent_loop.sandbox import PROJECT_PYTHON, make_image_builder, make_sandbox
from agent_loop.tasks import ProjectTask

HERE = Path(__file__).parent
LOOK_AT_BEST = {"hard_coded", "hard_coded_behind_a_hash", "hard_coded_by_arithmetic"}
LOOK_ALWAYS = {"reads_its_tests": "the code looks into its tests"}
"""A pass even with hidden tests, and what tells a person to read it: honest code has to do the
same where its users' sources are its business."""
NAIVE = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
ORDER = (
    proofs.SAME_TESTS,
    proofs.RED_AGAIN,
    proofs.LINES_RAN,
    proofs.TWINS_FAIL,
    proofs.ALONE,
    proofs.RENAMED,
    proofs.PATHS,
    proofs.NOTHING_REPLACED,
    proofs.HIDDEN,
)


def tricks():
    """Modules by name."""
    found = {}
    for path in sorted((HERE / "tricks").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"trick_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[path.stem] = module
    return found


def files_of(trick):
    return {
        path: text.encode() if isinstance(text, str) else text for path, text in trick.FILES.items()
    }


def lay(root, files):
    for path, data in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


class Gate:
    """The judge of the victim, with and without hidden tests, and the naive command beside it."""

    def __init__(self, sandbox, image, folder, python):
        root = lay(folder / "victim", PROJECT)
        task = ProjectTask(name="victim", task="Mend the library.", project=root)
        base = Base(root)
        setting = find_setting(base, parse_command("pytest -q"), python_path=(), plugins=())
        runner = Runner(sandbox=sandbox, clock=SystemClock())
        limits = Limits(memory_mib=256, life_s=200)
        self.lanes_at = lambda name: Lanes(
            runner, base, folder / name, image=image, python=python, limits=limits
        )
        self.lanes = self.lanes_at("copies")
        frozen = Reproduction(task=task, base=base, setting=setting, wall_s=60).run(self.lanes)
        protection = Protection(
            known=frozenset(base.digests),
            test_files=frozenset(frozen.test_files),
            installed=frozenset(frozen.installed),
        )
        self.judge = ProjectJudge(
            base=base,
            frozen=frozen,
            setting=setting,
            protection=protection,
            lanes=self.lanes,
            wall_s=30,
        )
        files = {f"tests/{name}": text.encode() for name, text in HIDDEN.items()}
        self.with_hidden = replace(self.judge, hidden=HiddenTests(files=files))

    def naive(self, trick):
        """Is `python -m pytest` in the tree fooled?"""
        env = {**ENVIRONMENT, **extra(trick)}
        del env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        argv = ("", *getattr(trick, "CONTROL", NAIVE))
        job = Job(argv=argv, wall_s=30, env=env)
        # A copy of its own: files that the gate laid anew are what one of the tricks looks for.
        fresh = self.lanes_at(f"naive-{time.monotonic_ns()}")
        return fresh.run([Errand(job=job, overlay=files_of(trick))])[0]


def extra(trick):
    return getattr(trick, "CONTROL_ENV", {})


@contextmanager
def gate(sandbox, image, python=PROJECT_PYTHON):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Gate(sandbox, image, Path(folder), python)


def row(one, trick):
    """Which proofs failed, and the looks."""
    judge = replace(one.with_hidden, every_proof=True)
    verdict = judge.judge(files_of(trick))
    failed = {proof.name for proof in verdict.proofs if not proof.held}
    return failed, sorted({look.signal for look in verdict.looks} - {"no hidden tests"})


def matrix(one, names):
    rows = {}
    head = "  ".join(f"{name[:10]:10}" for name in ORDER)
    print(f"{'trick':34} {'naive':6} {head}  looks")
    for name, trick in tricks().items():
        if names and name not in names:
            continue
        fooled = one.naive(trick)
        failed, looks = row(one, trick)
        rows[name] = failed
        cells = "  ".join(f"{'X' if proof in failed else '.':10}" for proof in ORDER)
        print(f"{name:34} {'fooled' if fooled.code == 0 else 'no':6} {cells}  {', '.join(looks)}")
    summary(rows)


def summary(rows):
    print(f"\n{len(rows)} tricks. Left by each set of proofs:")
    sets = [ORDER[:count] for count in range(1, len(ORDER) + 1)]
    sets += [tuple(pair) for pair in itertools.combinations(ORDER[:8], 2)]
    sets.append(tuple(name for name in ORDER[:8] if name != proofs.TWINS_FAIL))
    sets.append(tuple(name for name in ORDER[:8] if name != proofs.RENAMED))
    for chosen in sets:
        left = [name for name, failed in rows.items() if not failed & set(chosen)]
        shown = f": {', '.join(left)}" if len(left) < 8 else ""
        print(f"  {' + '.join(chosen)}: {len(left)}{shown}")


def main():
    parser = argparse.ArgumentParser(description="Which proof catches which trick.")
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    settings = SandboxSettings(kind="docker", runtime="runc", pool=3)
    state = HERE.parents[2] / ".scratch"
    builder = make_image_builder(settings, state_dir=state, env=os.environ, notify=print)
    image = builder.project_image()
    builder.close()
    sandbox = make_sandbox(settings, state_dir=state, env=os.environ)
    try:
        with gate(sandbox, image) as one:
            matrix(one, names)
    finally:
        sandbox.close()


if __name__ == "__main__":
    main()
