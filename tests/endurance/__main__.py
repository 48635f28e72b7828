"""Makes faults happen and counts: `python -m tests.endurance [--only FAULT] [--quick]`.

Exit code 0: every fault was survived and nothing was lost. `docker-daemon` restarts the engine of
this machine and is tried only when named.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tests.endurance.faults import BY_NAME_ONLY, FAULTS, Figures

PAGE = Path(__file__).resolve().parents[2] / "docs" / "endurance.md"
BEGIN, END = "<!-- figures begin: python -m tests.endurance -->", "<!-- figures end -->"


def measured(name: str, *, quick: bool) -> Figures:
    every, began = {**FAULTS, **BY_NAME_ONLY}, time.monotonic()
    try:
        found = every[name](quick)
    except OSError as error:
        found = Figures(name, skipped=str(error))
    found.seconds = round(time.monotonic() - began, 1)
    return found


def line(found: Figures) -> str:
    if found.skipped:
        return f"| {found.what} | — | — | — | not tried: {found.skipped} |"
    notes = "; ".join(found.notes[:3])
    return f"| {found.what} | {found.tried} | {found.survived} | {found.lost} | {notes} |"


def table(figures: list[Figures]) -> str:
    tried, survived, lost = (
        sum(getattr(found, name) for found in figures) for name in ("tried", "survived", "lost")
    )
    return "\n".join(
        (
            "| fault | tried | survived | lost | |",
            "|---|---|---|---|---|",
            *map(line, figures),
            f"| **together** | **{tried}** | **{survived}** | **{lost}** | |",
        )
    )


def write(text: str) -> None:
    """Between the two marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.endurance", description=__doc__)
    choices = sorted({**FAULTS, **BY_NAME_ONLY})
    parser.add_argument("--only", action="append", choices=choices, help="repeatable")
    parser.add_argument("--quick", action="store_true", help="a sample of each")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    given = parser.parse_args(argv)
    figures = []
    for name in given.only or FAULTS:
        found = measured(name, quick=given.quick)
        figures.append(found)
        print(f"{name}: {line(found)} {found.seconds:g} s", file=sys.stderr, flush=True)
    print(table(figures))
    if given.write:
        write(table(figures))
    tried, lost = sum(f.tried for f in figures), sum(f.lost for f in figures)
    survived = sum(f.survived for f in figures)
    if given.json:
        given.json.write_text(json.dumps([asdict(f) for f in figures], indent=1) + "\n")
    return 0 if survived == tried and not lost else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
