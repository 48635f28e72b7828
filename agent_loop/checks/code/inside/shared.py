"""Solution and asserts in one process, for tests that cannot be judged apart.

Nothing here can be trusted once the solution has run: the host believes it only as far as runs
that must fail do fail.
"""

from __future__ import annotations

import linecache
import os
import sys
import types

from agent_loop.checks.code.inside.asserts import Bench, Names, standard_modules
from agent_loop.checks.code.inside.marks import HELPERS_FILE, Script
from agent_loop.checks.code.inside.wire import (
    CHUNK_BYTES,
    Frames,
    pack,
    private_pipe,
    write_all,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOLUTION_FILE = "<solution>"


class Pipe:
    """Frames to and from the host."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._frames = Frames()

    def hear(self) -> dict[str, Any]:
        while (message := self._frames.take()) is None:
            data = os.read(self._reads, CHUNK_BYTES)
            if not data:
                os._exit(0)
            self._frames.feed(data)
        return message

    def say(self, message: dict[str, Any]) -> None:
        write_all(self._writes, pack(message))


def _load(bench: Bench, module: types.ModuleType, job: dict[str, Any]) -> None:
    """Run the task's helpers and the solution in the solution's module."""
    source = job["solution"]
    lines = source.splitlines(keepends=True)
    linecache.cache[SOLUTION_FILE] = (len(source), None, lines, SOLUTION_FILE)
    try:
        exec(compile(job["helpers"], HELPERS_FILE, "exec"), module.__dict__)  # noqa: S102 - the task's
        exec(compile(source, SOLUTION_FILE, "exec"), module.__dict__)  # noqa: S102 - what we are for
    except BaseException as problem:
        bench.note_raised(problem)


def main() -> None:
    """One solution, one set of tests."""
    pipe = Pipe(*private_pipe())
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    job = pipe.hear()
    names = Names(frozenset(), lambda name: getattr(module, name))
    bench = Bench(names, [], solution_file=SOLUTION_FILE)
    _load(bench, module, job)
    if bench.outcome.kind:
        pipe.say(bench.outcome.as_json())
        return
    pipe.say({"loaded": True})
    job = pipe.hear()
    names.wanted = frozenset(job["wanted"])
    names.update(standard_modules(job["modules"]))
    outcome = bench.run(Script(job["helpers"], job["tests"], names.wanted))
    pipe.say({**outcome.as_json(), "mark": job["mark"]})
