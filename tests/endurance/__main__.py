"""Makes faults happen and counts: `python -m tests.endurance [--only FAULT] [--quick]`.

Exit code 0: every fault was survived and nothing was lost. `docker-daemon` restarts the engine of
this machine and is tried only when named. `--json FILE` keeps the figures fault by fault: what is
in it already stays unless it is tried again, so the whole suite can be gone through in parts.
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


def kept(path: Path | None) -> dict[str, Figures]:
    """The figures of earlier parts, by fault."""
    if path is None or not path.exists():
        return {}
    return {name: Figures(**fields) for name, fields in json.loads(path.read_text()).items()}


def keep(path: Path, figures: dict[str, Figures]) -> None:
    path.write_text(json.dumps({k: asdict(f) for k, f in figures.items()}, indent=1) + "\n")


def measured(name: str, *, quick: bool) -> Figures:
    every, began = {**FAULTS, **BY_NAME_ONLY}, time.monotonic()
    try:
        found = every[name](quick)
    except OSError as error:
        found = Figures(name, skipped=str(error))
    found.seconds = round(time.monotonic() - began, 1)
    if quick and not found.skipped:
        found.notes.insert(0, "`--quick`")
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
    parser.add_argument("--json", type=Path, help="add the figures to this file")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    given = parser.parse_args(argv)
    figures = kept(given.json)
    for name in given.only or FAULTS:
        found = figures[name] = measured(name, quick=given.quick)
        print(f"{name}: {line(found)} {found.seconds:g} s", file=sys.stderr, flush=True)
        if given.json:
            keep(given.json, figures)
    rows = [figures[name] for name in (*FAULTS, *BY_NAME_ONLY) if name in figures]
    print(table(rows))
    if given.write:
        write(table(rows))
    tried, lost = sum(f.tried for f in rows), sum(f.lost for f in rows)
    return 0 if sum(f.survived for f in rows) == tried and not lost else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
