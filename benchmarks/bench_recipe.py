"""Builds the tasks of a recipe: `python -m benchmarks.bench_recipe bench/recipe.yaml DIR`."""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from agent_loop.benchgen.main import main as benchgen
from agent_loop.benchgen.output import PROJECTS
from agent_loop.fixtures import REFERENCES

ALL = "all"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.bench_recipe", description=__doc__)
    parser.add_argument("recipe", type=Path)
    parser.add_argument(
        "folder",
        type=Path,
        help=f"one folder per library is made in it, and `{ALL}` with all tasks",
    )
    parser.add_argument("--jobs", default="2")
    given = parser.parse_args(argv)
    given.folder.mkdir(parents=True, exist_ok=True)
    worst = 0
    made = []
    for entry in yaml.safe_load(given.recipe.read_text(encoding="utf-8"))["libraries"]:
        name = str(entry["source"]).removeprefix("pypi:").partition("==")[0]
        words = ["build", entry["source"], "--out", str(given.folder / name)]
        words += ["--count", str(entry["count"]), "--seed", str(entry["seed"])]
        worst = max(worst, benchgen([*words, "--jobs", given.jobs], os.environ))
        made.append(given.folder / name)
    joined(made, given.folder / ALL)
    return worst


def joined(folders: Sequence[Path], suite: Path) -> int:
    """One suite out of the tasks of several; their names differ. Returns how many there are."""
    shutil.rmtree(suite, ignore_errors=True)
    suite.mkdir(parents=True)
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            shutil.copy2(path, suite / path.name)
        for inner in (PROJECTS, REFERENCES):
            if (folder / inner).is_dir():
                shutil.copytree(folder / inner, suite / inner, symlinks=True, dirs_exist_ok=True)
    return len(list(suite.glob("*.yaml")))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
