"""`--graph`: the state machine as Mermaid text or as an SVG file, drawn offline."""

from collections.abc import Sequence
from pathlib import Path

from agent_loop import tasks
from agent_loop.errors import UserError
from agent_loop.graph.picture import picture
from agent_loop.paths import atomic_write
from agent_loop.terminal.screen import Screen

TO_SCREEN = Path("-")


def draw(target: Path, given: Sequence[Path], screen: Screen) -> int:
    """The graph of the task's kind; without a task, of code tasks.

    Raises:
        UserError: the file's name says no form, or it cannot be written.
        TaskFileError: the task cannot be read.
    """
    drawn = picture(tasks.load(given[0]).kind if given else "code")
    if target == TO_SCREEN:
        screen.result(drawn.mermaid.rstrip())
        return 0
    forms = {".svg": drawn.svg, ".mmd": drawn.mermaid, ".md": f"```mermaid\n{drawn.mermaid}```\n"}
    text = forms.get(target.suffix.lower())
    if text is None:
        raise UserError(
            f"--graph {target}: the name says no form. End it in .svg, .mmd or .md; "
            "a task file stands before: loop.py TASK.yaml --graph FILE.svg"
        )
    try:
        atomic_write(target, text)
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror}).") from None
    screen.result(f"{target}: written", "green")
    return 0
