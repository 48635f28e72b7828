"""The toolset `bash`: one tool."""

from collections.abc import Mapping
from typing import Any

from agent_loop.episode.tools.container import Ran
from agent_loop.episode.tools.shown import cut, decoded, marked
from agent_loop.episode.tools.specs import BASH, SUBMIT
from agent_loop.episode.tools.toolbox import Done, Tools
from agent_loop.ports import ToolSpec

SHELL = "/bin/bash"


class BashTools(Tools):
    """Anything a shell can do in the container."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return (BASH,)

    def do(self, name: str, given: Mapping[str, Any]) -> Done:
        command = given["command"]
        if command.strip() == SUBMIT:
            return Done(text="submitted", submitted=True)
        return said(self.run([self.shell, "-c", command]), self.most_chars)


def said(ran: Ran, most_chars: int) -> Done:
    """The output of a command and how it ended, for the model."""
    output, shorter = _output(ran, most_chars)
    ending = _ending(ran)
    text = f"{output.rstrip()}\n{ending}".lstrip("\n") if ending else output.rstrip()
    return Done(text=text or "[no output]", ok=ran.code == 0 and not ran.why, cut=shorter)


def _output(ran: Ran, most_chars: int) -> tuple[str, bool]:
    """At most so many characters, and whether anything is missing."""
    start, end = decoded(ran.start), decoded(ran.end)
    if ran.total <= len(ran.start) + len(ran.end):
        return cut(start + end, most_chars)
    half = most_chars // 2 - 20
    shown = start[:half], end[-half:]
    missing = ran.total - sum(len(part.encode()) for part in shown)
    return shown[0] + marked(missing, "bytes") + shown[1], True


def _ending(ran: Ran) -> str:
    if ran.why == "time":
        return f"[stopped after {ran.seconds:.0f} s: its time was over]"
    if ran.why == "output":
        return f"[stopped: more than {ran.total >> 20} MiB of output]"
    if ran.signal is not None:
        return f"[killed by signal {ran.signal}; perhaps the memory ran out]"
    return f"[exit code {ran.code}]" if ran.code else ""
