"""Writes docs/commands.md from the programs' own help: `python -m tests.release.commands`."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "commands.md"
HEAD = """# Commands

Every program's own help, as it prints it. Made by `python -m tests.release.commands`.
"""


def doors() -> list[str]:
    """Every module of the package that can be run, and the commands of one that has several."""
    found = sorted((ROOT / "agent_loop").glob("**/__main__.py"))
    names = [".".join(path.parent.relative_to(ROOT).parts) for path in found]
    at = names.index("agent_loop.benchgen") + 1
    names[at:at] = [f"agent_loop.benchgen {command}" for command in ("build", "verify")]
    return [*names, "agent_loop.fixtures"]


def help_of(door: str) -> str:
    """What it prints, 100 columns wide."""
    done = subprocess.run(
        [sys.executable, "-m", *door.split(), "--help"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
    )  # fmt: skip
    return done.stdout


def section(door: str, text: str) -> str:
    name = "loop.py" if door == "agent_loop" else f"python -m {door}"
    return f"\n## {name}\n\n```\n{text.rstrip()}\n```\n"


def main() -> int:
    PAGE.write_text(HEAD + "".join(section(door, help_of(door)) for door in doors()), "utf-8")
    print(f"{PAGE.relative_to(ROOT)}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
