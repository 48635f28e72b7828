"""Where a run stands now: who drives it, what it does, whether it waits for its owner.

A record is written when a run begins and when it ends; in between only its lock and trace tell.
"""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_loop.ports import Json
from agent_loop.store import lock_holder
from agent_loop.viewer.events import kind_of, parsed
from agent_loop.viewer.lines import Extent
from agent_loop.viewer.places import LOCK, MAILBOX, Places
from agent_loop.viewer.traces import KEPT, Traces

LOOK_BACK = 2_000
"""Lines from the end in which the newest node and pause are looked for."""
_MAILBOX_BYTES = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """An owner call that is open."""

    nonce: str
    question: str
    tests_passed: bool | None
    rejections: int | None
    seq: int
    reply_waiting: bool
    driver: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What the newest lines of a trace say."""

    node: str = ""
    lap: int = 0
    since: str = ""
    paused: Mapping[str, Json] | None = None
    paused_at: int = 0


class Standings:
    """Looks at runs as they are now. Any thread may ask."""

    def __init__(self, places: Places, traces: Traces) -> None:
        self._places = places
        self._root = str(places.root)
        self._traces = traces
        self._known: dict[str, tuple[tuple[str, int], Doing]] = {}

    def driver(self, thread: str) -> str | None:
        """Who drives it, in words; `None` for nobody."""
        # Plain text and `os`: a list asks for thousands.
        folder = f"{self._root}{os.sep}{thread}"
        path = f"{folder}{os.sep}{LOCK}"
        try:
            about = os.lstat(path)
            # A driver signs its lock and empties it when it goes: most files tell by their size.
            if not about.st_size or not stat.S_ISREG(about.st_mode):
                return None
            if not stat.S_ISDIR(os.lstat(folder).st_mode):
                return None
        except OSError:
            return None
        return lock_holder(Path(path))

    def doing(self, thread: str) -> Doing:
        """From the trace's newest lines."""
        extent = self._traces.extent(thread)
        mark = (extent.generation, extent.lines)
        known = self._known.get(thread)
        if known is not None and known[0] == mark:
            return known[1]
        found = _doing(self._traces, thread, extent)
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[thread] = (mark, found)
        return found

    def pause(self, thread: str, driver: str | None) -> Pause | None:
        """The open owner call, if there is one."""
        doing = self.doing(thread)
        if doing.paused is None:
            return None
        nonce = str(doing.paused.get("nonce") or "")
        passed, rejections = doing.paused.get("tests_passed"), doing.paused.get("rejections")
        return Pause(
            nonce=nonce,
            question=str(doing.paused.get("question") or "")[:4_000],
            tests_passed=passed if isinstance(passed, bool) else None,
            rejections=rejections if type(rejections) is int else None,
            seq=doing.paused_at,
            reply_waiting=self.reply_waits(thread, nonce),
            driver=driver,
        )

    def reply_waits(self, thread: str, nonce: str) -> bool:
        """Whether an answer to this pause lies there unused; one to an older pause does not."""
        raw = self._places.read(thread, MAILBOX, _MAILBOX_BYTES)
        if raw is None:
            return False
        try:
            fields = json.loads(raw)
        except (ValueError, RecursionError):
            return False
        return isinstance(fields, dict) and fields.get("nonce") == nonce


def _doing(traces: Traces, thread: str, extent: Extent) -> Doing:
    """Backwards: the first line that says something decides."""
    moved = False
    paused: Mapping[str, Json] | None = None
    paused_at = 0
    for line in traces.back(thread, extent, LOOK_BACK):
        kind = kind_of(line.raw)
        if kind == "node_started":
            fields = parsed(line.raw) or {}
            lap = fields.get("lap")
            return Doing(
                node=str(fields.get("node") or "")[:100],
                lap=lap if type(lap) is int else 0,
                since=str(fields.get("at") or "")[:40],
                paused=paused,
                paused_at=paused_at,
            )
        if kind == "paused" and not moved and paused is None:
            paused, paused_at = parsed(line.raw), line.seq
        # After these the run has its answer, or does something else.
        moved = moved or kind in ("owner_replied", "node_finished", "verdict", "model_asked")
    return Doing(paused=paused, paused_at=paused_at)
