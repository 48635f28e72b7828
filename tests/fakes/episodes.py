"""An episode in a few words: a scripted model over tools that are a dict."""

import json
import threading

from agent_loop.episode import EpisodeLimits, Setting, run_episode
from agent_loop.models import Line, ScriptedModel
from agent_loop.ports import Message, ToolCall
from tests.fakes.clock import FakeClock
from tests.fakes.toolbox import MemoryToolbox

OPENING = (
    Message(role="system", content="You mend a project."),
    Message(role="user", content="Mend f()."),
)
FILES = {"a.py": b"def f():\n    return 1\n"}


class Heard:
    """Events, in order."""

    def __init__(self):
        self.events = []

    def emit(self, kind, fields):
        self.events.append((kind, dict(fields)))

    def of(self, kind):
        return [fields for name, fields in self.events if name == kind]


def does(name, _text="", **arguments):
    """A line that calls one tool natively."""
    return Line(text=_text, tool_calls=(ToolCall(id="", name=name, arguments=arguments),))


def says(name, **arguments):
    """A line that calls one tool in the text protocol."""
    return f"I go on.\n\n```tool {name}\n{json.dumps(arguments)}\n```\n"


def episode(
    *lines,
    box=None,
    clock=None,
    protocol="auto",
    cancel=None,
    opening=OPENING,
    model=None,
    **limits,
):
    """(episode, toolbox, model, events) of an episode over these lines."""
    clock = clock or FakeClock()
    box = box or MemoryToolbox(FILES, clock=clock)
    model = model or ScriptedModel("scripted:test", lines, clock=clock, retries=2)
    heard = Heard()
    limits = {"context_tokens": 50_000, **limits}
    setting = Setting(
        model=model,
        toolbox=box,
        opening=opening,
        limits=EpisodeLimits(**limits),
        protocol=protocol,
        clock=clock,
        events=heard,
        cancel=cancel or threading.Event(),
        head={"node": "worker", "role": "worker", "lap": 1},
    )
    return run_episode(setting), box, model, heard
