"""Makes docs/run.svg, a real run in its own words: `python -m tests.release.recording`.

The run is real (two containers for each check, scripted replies in place of a model, so that it
needs no server): what it prints is recorded and drawn by rich.
"""

import io
import os
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from agent_loop.cli.main import main as cli
from agent_loop.terminal.screen import Screen

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "run.svg"
WIDTH = 104
SCRIPT = "examples/replies/largest.yaml"  # relative: no folder of this machine in the picture


class Recorded(Screen):
    """A screen that keeps what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.people = Console(
            record=True, file=io.StringIO(), width=WIDTH, markup=False, emoji=False,
            highlight=False, color_system="truecolor", force_terminal=False,
        )  # fmt: skip


def record() -> str:
    """The picture as SVG text; works in the clone's folder."""
    screen = Recorded()
    screen.people.print(
        Text("$ ", style="dim").append("agent-loop examples/largest.yaml \\", "bold")
    )
    screen.people.print(Text("    --model all=scripted:examples/replies/largest.yaml", "bold"))
    with tempfile.TemporaryDirectory() as runs:
        argv = ["examples/largest.yaml", f"--model=all=scripted:{SCRIPT}",
                "--thread=largest-1", "--set", f"runs_dir={runs}"]  # fmt: skip
        code = cli(argv, os.environ, screen)
    if code:
        raise SystemExit(f"the run ended with {code}")
    drawn = screen.people.export_svg(title="agent-loop", theme=MONOKAI, unique_id="run")
    # Whoever looks at the picture fetches nothing: the reader's own monospace font does.
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


def main() -> int:
    os.chdir(ROOT)
    TARGET.write_text(record(), encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
