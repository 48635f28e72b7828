"""Mutants judged: ours in a container, cosmic-ray's on the bare machine.

Same module, same tests, same seconds each, in turns; what counts is processor time per mutant,
which other work on the machine changes little. Cosmic-ray comes from the package index into a
virtual environment of its own; it stops at the first failing test of a mutant, ours runs every
test that reaches the changed line, because the whole failing set is wanted.
"""

import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent_loop import procs
from agent_loop.assemble import Yard
from agent_loop.benchgen.build import single_bugs
from agent_loop.benchgen.ground import Given, Ground, prepare
from agent_loop.benchgen.origins import library_of
from agent_loop.benchgen.sieve import Sieve
from agent_loop.config import load
from benchmarks.row import Row, rounded

SOURCE = "pypi:toolz==1.2.0"
MODULE = "toolz/itertoolz.py"
TESTS = "toolz/tests/test_itertoolz.py"
PEER = ("cosmic-ray==8.7.0", "pytest==9.2.0")
TURN_S = 30.0
TURNS = 2
GOAL = 0.2


def mutants_row(work: Path | None = None) -> Row:
    row = {"what": "one mutant judged, toolz.itertoolz", "against": "cosmic-ray, no sandbox"}
    with tempfile.TemporaryDirectory(prefix="agent-loop-", dir=_readable()) as folder:
        place = work or Path(folder)
        place.chmod(0o755)
        try:
            peer = Peer(place)
        except (OSError, subprocess.SubprocessError) as error:
            return Row(**row, goal=GOAL, missing=f"cosmic-ray cannot be had: {error}")
        yard = Yard(config=load(None, os.environ), notify=_quiet, env=os.environ)
        try:
            return _measured(row, place, peer, yard)
        finally:
            yard.close()


def _measured(row: dict[str, str], place: Path, peer: "Peer", yard: Yard) -> Row:
    library = library_of(SOURCE, place, os.environ)
    ground = prepare(library, Given(test_command=f"pytest -q {TESTS}"), yard, place, _quiet)
    peer.prepare(library.root)
    sieve = Sieve(ground, yard, 1)
    try:
        sieve.learn()
        ours, theirs = _turns(ground, sieve, peer)
    finally:
        sieve.close()
    return Row(
        **row,
        goal=GOAL,
        ours=rounded(1000 * ours.cpu_s / max(ours.judged, 1)),
        theirs=rounded(1000 * theirs.cpu_s / max(theirs.judged, 1)),
        more={
            f"{name} {what}": rounded(value)
            for name, one in (("ours", ours), ("theirs", theirs))
            for what, value in (
                ("judged", one.judged),
                ("per minute of wall clock", 60 * one.judged / one.wall_s),
                ("per minute of processor time", 60 * one.judged / one.cpu_s),
            )
        },
    )


@dataclass(slots=True)
class Spent:
    """What one side did, and with what."""

    judged: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0


def _turns(ground: Ground, sieve: Sieve, peer: "Peer") -> tuple[Spent, Spent]:
    bugs = single_bugs(ground, [MODULE])
    random.Random(0).shuffle(bugs)
    ours, theirs = Spent(), Spent()
    for _ in range(TURNS):
        began, used = time.monotonic(), sieve.used_s()
        while bugs and time.monotonic() - began < TURN_S:
            # Uncovered ones cost nothing, so they do not count.
            ours.judged += sum(one.fate != "uncovered" for one in sieve.sift([bugs.pop()]))
        ours.wall_s += time.monotonic() - began
        ours.cpu_s += sieve.used_s() - used
        peer.turn(TURN_S, theirs)
    return ours, theirs


class Peer:
    """Cosmic-ray on a copy of the library."""

    def __init__(self, place: Path) -> None:
        self.place = place / "peer"
        self.python = self.place / "venv/bin/python"
        if not self.python.exists():
            run = [sys.executable, "-m", "venv", str(self.place / "venv")]
            subprocess.run(run, check=True, timeout=120)
            pip = [str(self.python), "-m", "pip", "install", "-q", *PEER]
            subprocess.run(pip, check=True, timeout=300)

    def prepare(self, library: Path) -> None:
        self.root = self.place / "toolz"
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(library, self.root)
        (self.root / "cr.toml").write_text(
            f'[cosmic-ray]\nmodule-path = "{MODULE}"\ntimeout = 20.0\nexcluded-modules = []\n'
            f'test-command = "{self.python} -m pytest -x -q {TESTS}"\n'
            '[cosmic-ray.distributor]\nname = "local"\n'
        )
        self._call("init", "cr.toml", "cr.sqlite")

    def turn(self, seconds: float, spent: Spent) -> None:
        """As many more as it judges in this time."""
        before, used, began = self.done(), _of_children(), time.monotonic()
        self._call("exec", "cr.toml", "cr.sqlite", timeout=seconds)
        spent.wall_s += time.monotonic() - began
        spent.cpu_s += _of_children() - used
        spent.judged += self.done() - before

    def done(self) -> int:
        with closing(sqlite3.connect(self.root / "cr.sqlite")) as database:
            (count,) = database.execute("select count(*) from work_results").fetchone()
            return int(count)

    def _call(self, *words: str, timeout: float = 120.0) -> None:
        """Its whole group ends with the time: an endless mutant would run on for ever."""
        program = str(self.python.with_name("cosmic-ray"))
        done = procs.run([program, *words], cwd=self.root, timeout_s=timeout)
        if done.code and not done.timed_out:
            raise RuntimeError(f"cosmic-ray {words[0]}: exit {done.code}: {done.err[-300:]!r}")


def _of_children() -> float:
    """Processor time of the processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _readable() -> Path:
    """Where a container may be given a folder from."""
    place = Path(__file__).resolve().parents[1] / ".scratch"
    place.mkdir(exist_ok=True)
    return place


def _quiet(_: str) -> None:
    """Nobody listens."""


if __name__ == "__main__":
    print(mutants_row(Path(sys.argv[1]).resolve() if sys.argv[1:] else None))
