"""`--export-run`: a run as a page, or as a trajectory of another project's form."""

import json
import sys
from pathlib import Path

from agent_loop.cli.drawing import TO_SCREEN
from agent_loop.errors import UserError
from agent_loop.paths import atomic_write
from agent_loop.store import RunStore
from agent_loop.terminal.screen import Screen
from agent_loop.trajectories import atif, page, read_story, traj

FORMATS = ("html", "traj", "atif")
_NAMES = {"html": "run.html", "traj": "{thread}.traj.json", "atif": "{thread}.atif.json"}


def export_run(store: RunStore, thread: str, form: str, target: Path | None, screen: Screen) -> int:
    """Write it beside the run, to `target`, or to standard output (`-`).

    Raises:
        ThreadError: unknown, or without a trace.
        UserError: the file cannot be written.
    """
    story = read_story(store, thread)
    if form == "html":
        text = page(story)
    else:
        made = traj(story) if form == "traj" else atif(story)
        text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
    raw = text.encode("utf-8", "replace")
    if target == TO_SCREEN:
        sys.stdout.buffer.write(raw)
        return 0
    path = target or store.folder(thread) / _NAMES[form].format(thread=thread)
    try:
        atomic_write(path, raw)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}). Say --out FILE.") from error
    screen.result(f"{thread}: exported to {path}")
    return 0
