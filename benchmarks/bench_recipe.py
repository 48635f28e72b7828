"""Builds the tasks of a recipe: `python -m benchmarks.bench_recipe bench/recipe.yaml DIR`."""

import argparse
import os
import sys
from pathlib import Path

import yaml

from agent_loop.benchgen.main import main as benchgen


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.bench_recipe", description=__doc__)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("folder", type=Path, help="one folder per library is made in it")
    parser.add_argument("--jobs", default="2")
    given = parser.parse_args(argv)
    given.folder.mkdir(parents=True, exist_ok=True)
    worst = 0
    for entry in yaml.safe_load(given.recipe.read_text(encoding="utf-8"))["libraries"]:
        name = str(entry["source"]).removeprefix("pypi:").partition("==")[0]
        words = ["build", entry["source"], "--out", str(given.folder / name)]
        words += ["--count", str(entry["count"]), "--seed", str(entry["seed"])]
        worst = max(worst, benchgen([*words, "--jobs", given.jobs], os.environ))
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
