"""Measures rows of the speed table: `python -m benchmarks [--only ROW] [--json FILE] [--write]`.

Every figure stands against something else measured in the same run, in turns, so that both meet
the same machine. Rows that need what this machine lacks say so instead of a figure.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from benchmarks.code_check import humaneval_row, one_check_row
from benchmarks.copying import copying_row
from benchmarks.dashboard_load import list_row
from benchmarks.edit_tokens import edit_tokens_row
from benchmarks.episode_step import episode_step_row
from benchmarks.eval_harness import eval_harness_row
from benchmarks.loop import bytes_row, loop_row, pruned_row
from benchmarks.model_swaps import model_swaps_row
from benchmarks.mutants import mutants_row
from benchmarks.prefix import prefix_row
from benchmarks.project_check import project_check_row
from benchmarks.row import Row
from benchmarks.show import table, write_page

ROWS: dict[str, Callable[[], Row]] = {
    "code-check": one_check_row,
    "humaneval": humaneval_row,
    "eval-harness": eval_harness_row,
    "episode-step": episode_step_row,
    "loop": loop_row,
    "prefix": prefix_row,
    "model-swaps": model_swaps_row,
    "edit-tokens": edit_tokens_row,
    "project-check": project_check_row,
    "copying": copying_row,
    "checkpoint-bytes": bytes_row,
    "pruned-bytes": pruned_row,
    "dashboard-list": list_row,
    "mutants": mutants_row,
}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def machine() -> dict[str, object]:
    """What it was measured on, and how busy that was."""
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory, GiB": _memory_gib(),
        "python": platform.python_version(),
        "load at the start": [round(value, 2) for value in os.getloadavg()],
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30))


def measured(name: str) -> Row:
    """One row; whatever goes wrong in it is its own."""
    began = time.perf_counter()
    try:
        row = ROWS[name]()
    except Exception as error:  # the other rows are measured all the same
        row = Row(what=name, against="", goal=0.0, missing=f"{type(error).__name__}: {error}")
    row = replace(row, seconds=round(time.perf_counter() - began, 1))
    said = row.missing or f"{row.ours:g} against {row.theirs:g} {row.unit}"
    print(f"{name}: {said} ({row.seconds:g} s)", file=sys.stderr, flush=True)
    return row


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(ROWS), help="repeatable")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}, with a plot")
    parser.add_argument("--list", action="store_true", help="only name the rows")
    given = parser.parse_args(argv)
    if given.list:
        print("\n".join(ROWS))
        return 0
    began = machine()
    rows = [measured(name) for name in given.only or ROWS]
    if given.json:
        figures = {"machine": began, "rows": [asdict(row) for row in rows]}
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(" · ".join(f"{key}: {value}" for key, value in began.items()))
    print(table(rows))
    if given.write:
        write_page(PAGE, began, rows)
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
