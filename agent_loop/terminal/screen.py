"""Where the command line speaks: people on one stream, programs on the other."""

import io
import json
import sys
from collections.abc import Mapping
from typing import TextIO

from rich.console import Console
from rich.text import Text

from agent_loop.ports import Json
from agent_loop.terminal.safe import safe

PIPE_WIDTH = 200


def force_utf8(*streams: TextIO) -> None:
    """A legacy code page cannot kill the output: UTF-8, `?` for what even that cannot hold."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


class Screen:
    """Prints for people; with `--json` they read standard error, and programs standard output."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        force_utf8(sys.stdout, sys.stderr)
        self.as_json = as_json
        self.quiet = quiet
        self.people = _console(sys.stderr if as_json else sys.stdout)
        self._errors = _console(sys.stderr)

    @property
    def is_terminal(self) -> bool:
        """A live view makes sense."""
        return self.people.is_terminal and not self.people.is_dumb_terminal and not self.quiet

    def say(self, text: str, style: str = "") -> None:
        """A line about the run; silent with `--quiet`."""
        if not self.quiet:
            self.result(text, style)

    def result(self, text: str, style: str = "") -> None:
        """A line that `--quiet` keeps."""
        self.people.print(Text(safe(text), style=style), soft_wrap=True)

    def show(self, renderable: object) -> None:
        """A table; its cells are safe already."""
        if not self.quiet:
            self.people.print(renderable)

    def error(self, text: str) -> None:
        """A complaint, on standard error."""
        self._errors.print(Text(safe(text), style="red"), soft_wrap=True)

    def machine(self, record: Mapping[str, Json]) -> None:
        """One JSON object on one line, strict and ASCII."""
        line = json.dumps(record, allow_nan=False)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _console(stream: TextIO) -> Console:
    # No markup, emoji codes or guessed highlights: all of it could come from a model.
    # A pipe has no width: thread names in a table must not be cut there.
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, markup=False, emoji=False, highlight=False, width=width)
