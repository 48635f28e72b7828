"""Measures rows of the speed table: `python -m benchmarks [--only ROW] [--json FILE]`.

Every figure stands against something else measured in the same run, in turns, so that both meet
the same machine. Rows that need what this machine lacks say so instead of a figure.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.code_check import humaneval_row, one_check_row
from benchmarks.project_check import project_check_row
from benchmarks.row import Row

ROWS: dict[str, Callable[[], Row]] = {
    "code-check": one_check_row,
    "humaneval": humaneval_row,
    "project-check": project_check_row,
}


def machine() -> dict[str, object]:
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def table(rows: list[Row]) -> str:
    lines = ["| what | ours | against | ratio | goal | met |", "|---|---|---|---|---|---|"]
    for row in rows:
        if row.missing:
            lines.append(f"| {row.what} | — | — | — | {row.goal} | not measured: {row.missing} |")
            continue
        met = "yes" if row.ratio <= row.goal else "no"
        ours, theirs = f"{row.ours:g} {row.unit}", f"{row.theirs:g} {row.unit} ({row.against})"
        lines.append(f"| {row.what} | {ours} | {theirs} | {row.ratio:.3f} | {row.goal} | {met} |")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(ROWS), help="repeatable")
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args(argv)
    began = machine()
    rows = [ROWS[name]() for name in given.only or ROWS]
    if given.json:
        figures = {"machine": began, "rows": [asdict(row) for row in rows]}
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    print(" · ".join(f"{key}: {value}" for key, value in began.items()))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
