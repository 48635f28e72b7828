"""One hand-made bug in each of eight libraries, and four replies to it: only the right one passes.

`python -m benchmarks.library_bugs DIR` downloads the sources with pip (they are not part of this
repository), and prints what became of each reply and the seconds of its check.
"""

import argparse
import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
REPLIES = ("empty", "edits the tests", "wrong", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """`right` stands in the release; `bug` takes its place; `wrong` is no better."""

    package: str
    path: str
    right: str
    bug: str
    wrong: str
    tests: str
    plugins: tuple[str, ...] = ()
    """pytest plugins that the library's own options need: packages."""


BUGS = (
    Bug(
        package="toolz==1.2.0",
        path="toolz/itertoolz.py",
        right="zip(*(collections.deque(itertools.islice(it, i), 0) or it",
        bug="zip(*(collections.deque(itertools.islice(it, i + 1), 0) or it",
        wrong="zip(*(collections.deque(itertools.islice(it, 1), 0) or it",
        tests="toolz/tests/test_itertoolz.py",
    ),
    Bug(
        package="inflection==0.5.1",
        path="inflection/__init__.py",
        right="if number % 100 in (11, 12, 13):",
        bug="if number % 100 in (11, 12):",
        wrong="if number % 100 in (12, 13):",
        tests="test_inflection.py",
    ),
    Bug(
        package="parse==1.22.4",
        path="parse/__init__.py",
        right="return float(string[:-1]) / 100.0",
        bug="return float(string[:-1]) / 10.0",
        wrong="return float(string[:-1]) * 100.0",
        tests="tests/test_parse.py",
        plugins=("pytest-cov==7.0.0",),
    ),
    Bug(
        package="cachetools==8.0.2",
        path="src/cachetools/__init__.py",
        right="        if key in order:\n            order.move_to_end(key)\n",
        bug="        if key in order:\n            order.move_to_end(key, last=False)\n",
        wrong="        if key in order:\n            del order[key]\n",
        tests="tests/test_lru.py",
    ),
    Bug(
        package="more-itertools==11.2.1",
        path="more_itertools/recipes.py",
        right="return chain.from_iterable(repeat(tuple(iterable), n))",
        bug="return chain.from_iterable(repeat(tuple(iterable), n + 1))",
        wrong="return chain.from_iterable(repeat(tuple(iterable), 1))",
        tests="tests/test_recipes.py",
    ),
    Bug(
        package="boltons==26.2.0",
        path="boltons/strutils.py",
        right="output += list(range(min(range_limits), max(range_limits)+1))",
        bug="output += list(range(min(range_limits), max(range_limits)))",
        wrong="output += list(range(min(range_limits) + 1, max(range_limits)+1))",
        tests="tests/test_strutils.py",
    ),
    Bug(
        package="sqlparse==0.6.1",
        path="sqlparse/utils.py",
        right="        val = val[1:-1]\n",
        bug="        val = val[1:]\n",
        wrong="        val = val[:-1]\n",
        tests="tests/test_utils.py",
    ),
    Bug(
        package="isodate==0.7.2",
        path="src/isodate/duration.py",
        right="negduration = Duration(years=-self.years, months=-self.months)",
        bug="negduration = Duration(years=-self.years, months=self.months)",
        wrong="negduration = Duration(years=self.years, months=-self.months)",
        tests="tests/test_duration.py",
    ),
)


def source_of(bug: Bug, folder: Path) -> Path:
    """The unpacked release with the bug in it."""
    name = bug.package.partition("==")[0]
    place = folder / name
    if not place.exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        command += ["--no-binary", ":all:", "-d", str(folder), bug.package]
        subprocess.run(command, check=True)
        stem = name.replace("-", "_")
        (archive,) = (
            p for p in folder.glob("*.tar.gz") if p.name.replace("-", "_").startswith(f"{stem}_")
        )
        with tarfile.open(archive) as tar:
            tar.extractall(folder / f"{name}.unpacked", filter="data")
        next((folder / f"{name}.unpacked").iterdir()).rename(place)
        # A release holds generated files that its repository ignores.
        (place / ".gitignore").unlink(missing_ok=True)
    file = place / bug.path
    text = file.read_text(encoding="utf-8")
    assert text.count(bug.right) + text.count(bug.bug) == 1, bug
    file.write_text(text.replace(bug.right, bug.bug), encoding="utf-8")
    return place


def block(path: str, old: str, new: str) -> str:
    ends = "" if old.endswith("\n") else "\n"
    return f"{path}\n<<<<<<< SEARCH\n{old}{ends}=======\n{new}{ends}>>>>>>> REPLACE\n"


def whole_lines(bug: Bug, text: str, place: Path) -> tuple[str, str]:
    """The bug's lines as they stand, and with `text` instead: a SEARCH holds whole lines."""
    lines = (place / bug.path).read_text(encoding="utf-8")
    at = lines.index(bug.bug)
    start, end = lines.rfind("\n", 0, at) + 1, lines.find("\n", at + len(bug.bug) - 1) + 1
    old = lines[start:end]
    return old, old.replace(bug.bug, text)


def replies(bug: Bug, place: Path) -> dict[str, str]:
    test = (place / bug.tests).read_text(encoding="utf-8")
    first = next(line for line in test.split("\n") if test.count(f"{line}\n") == 1 and line)
    return {
        "empty": "I looked at it and everything seems fine.",
        "edits the tests": block(bug.tests, f"{first}\n", f"{first}\n# weaker\n"),
        "wrong": block(bug.path, *whole_lines(bug, bug.wrong, place)),
        "right": block(bug.path, *whole_lines(bug, bug.right, place)),
    }


def judge(bug: Bug, folder: Path) -> dict[str, object]:
    """One run whose worker gives the four replies in turn."""
    place = source_of(bug, folder)
    name = place.name
    script = folder / f"{name}.replies.yaml"
    said = replies(bug, place)
    script.write_text(
        yaml.safe_dump({"lead": ["Mend it."], "worker": [said[one] for one in REPLIES],
                        "reviewer": ["REJECTED: no", "APPROVED"]})
    )  # fmt: skip
    task = folder / f"{name}.yaml"
    fields = {"type": "project", "task": f"Mend {bug.path}.", "project": str(place),
              "test_command": f"pytest -q {bug.tests}", "requirements": list(bug.plugins),
              "pytest_plugins": [one.partition("==")[0] for one in bug.plugins]}  # fmt: skip
    task.write_text(yaml.safe_dump(fields))
    runs = folder / "runs"
    command = [sys.executable, str(ROOT / "loop.py"), str(task), "--quiet", "--thread", name]
    command += ["--model", f"all=scripted:{script}", "--set", f"runs_dir={runs}"]
    command += ["--set", "rejection_cap=5", "--max-pauses", "0"]
    done = subprocess.run(command, capture_output=True, text=True)
    trace = runs / name / "trace.jsonl"
    if not trace.exists():
        return {"library": bug.package, "problem": (done.stdout + done.stderr)[-600:]}
    return {"library": bug.package, **outcomes(trace), "exit": done.returncode}


def outcomes(trace: Path) -> dict[str, object]:
    """What became of each reply, from the trace."""
    found: dict[str, object] = {}
    for line in trace.read_text(encoding="utf-8").split("\n"):
        event = json.loads(line) if line else {}
        lap = event.get("lap")
        if event.get("kind") == "candidate_refused":
            found[REPLIES[lap - 1]] = "refused"
        if event.get("kind") == "verdict":
            said = "passed" if event["passed"] else "not passed"
            held = sum(proof["held"] for proof in event["proofs"])
            found[REPLIES[lap - 1]] = f"{said}, {held} proofs, {event['seconds']:.1f} s"
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for bug in BUGS:
        if given.only in bug.package:
            print(json.dumps(judge(bug, given.folder.resolve())), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
