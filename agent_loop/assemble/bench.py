"""What one run is judged with, and the nodes and files that only its kind of task has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent_loop.graph.parts import Step, Work, Worked
from agent_loop.ports import Check, Json


def _nothing(_: Mapping[str, Json]) -> None:
    """Most kinds of task leave no files of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The check of a run, and what goes with it."""

    check: Check
    first: Step | None = None
    before_worker: Step | None = None
    episode: Callable[[Work], Worked] | None = None
    """The worker with tools, where there is one."""
    sandbox: Callable[[], Mapping[str, Json]] = dict
    """`Sandbox.describe`; empty where no code is run."""
    finish: Callable[[Mapping[str, Json]], None] = _nothing
    """Gets the record of a run that ended: writes the files that people read."""
