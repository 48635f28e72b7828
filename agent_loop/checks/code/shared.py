"""Judging with solution and asserts in one process, for tests that cannot be taken apart.

Nothing inside one process can be believed on its own, so a pass needs runs that fail: for every
assert a twin with an altered constant, in a fresh container, must not pass. The tests are sent only
after the solution has been loaded, and the end mark comes with them.
"""

import json
import secrets
import struct
from collections.abc import Mapping
from typing import Any, Literal

from agent_loop.checks.code.challenge import challenge
from agent_loop.checks.code.inside.marks import wrongly_skipped
from agent_loop.checks.code.inside.wire import FRAME_BYTES, pack
from agent_loop.checks.code.part import Part
from agent_loop.checks.code.programs import shared_box
from agent_loop.checks.code.relay import Times, how_it_ended
from agent_loop.checks.code.separate import believed, refused, twins_failed
from agent_loop.checks.code.twins import twins_of
from agent_loop.errors import DeadlinePassed
from agent_loop.ports import Clock, Limits, Proof, Sandbox, Session

_KINDS = ("", "assert", "raised", "refused", "vacuous")


class Shared:
    """Runs a part in one container, then its twins."""

    isolation: Literal["shared"] = "shared"

    def __init__(self, sandbox: Sandbox, limits: Limits, times: Times, clock: Clock) -> None:
        self._sandbox = sandbox
        self._times = times
        self._clock = clock
        self._box = shared_box(limits)

    def prepare(self, count: int) -> None:
        self._sandbox.warm(self._box, count)

    def run(self, part: Part, code: str) -> tuple[Mapping[str, Any], tuple[Proof, ...]]:
        """How the asserts ended, and the proofs this kind of judging gives.

        Raises:
            SandboxUnavailable: nothing was judged.
        """
        outcome = self._once(part, code, part.sheet.text)
        shared = Proof(name="isolation", held=True, detail="shared: one process, weaker")
        mark = Proof(name="end mark", held="mark" in outcome, detail="sent after the solution ran")
        if outcome["kind"]:
            return outcome, (shared, mark)
        all_twins = enumerate(twins_of(part.reading, part.sheet.text))
        twins = {n: groups for n, groups in all_twins if groups and n in outcome["ran"]}
        shown = challenge(
            lambda tests: not self._once(part, code, tests)["kind"], part.sheet.text, twins
        )
        return believed(outcome, shown, part), (shared, mark, twins_failed(shown))

    def _once(self, part: Part, code: str, tests: str) -> dict[str, Any]:
        with self._sandbox.open(self._box) as session:
            talk = _Talk(session, self._clock.monotonic() + self._times.total_s)
            try:
                return self._talk(talk, part, code, tests)
            except DeadlinePassed:
                return refused(f"the check took longer than {self._times.total_s:g} s in all")
            except (BrokenPipeError, EOFError):
                ended = session.end(deadline=self._clock.monotonic() + 2)
                return refused(how_it_ended(ended))

    def _talk(self, talk: "_Talk", part: Part, code: str, tests: str) -> dict[str, Any]:
        talk.say({"helpers": part.helpers, "solution": code})
        if (loaded := talk.hear()).get("loaded") is not True:
            return _believable(loaded, part)
        mark = secrets.token_hex(16)
        talk.say({**part.job, "tests": tests, "mark": mark})
        ended = talk.hear()
        if ended.get("mark") != mark:
            return refused("the end mark is missing: the solution ended the tests early")
        return {**_believable(ended, part), "mark": True}


class _Talk:
    """Frames to and from one container that may be hostile."""

    def __init__(self, session: Session, deadline: float) -> None:
        self._session = session
        self._deadline = deadline
        self._buffer = bytearray()

    def say(self, message: dict[str, Any]) -> None:
        self._session.send(pack(message), deadline=self._deadline)

    def hear(self) -> dict[str, Any]:
        size = struct.unpack(">I", self._take(4))[0]
        if size > FRAME_BYTES:
            return {}
        try:
            message = json.loads(self._take(size))
        except (ValueError, RecursionError):
            return {}
        return message if isinstance(message, dict) else {}

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            data = self._session.receive(deadline=self._deadline)
            if not data:
                raise EOFError
            self._buffer += data
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken


def _believable(said: dict[str, Any], part: Part) -> dict[str, Any]:
    """An outcome out of what a container says that the solution may have taken over."""
    kind = said.get("kind")
    if kind not in _KINDS:
        return refused("the solution wrote over the outcome of its own check")
    marks = part.sheet.asserts
    ran = sorted({n for n in _items(said.get("ran")) if type(n) is int and 0 <= n < len(marks)})
    if not kind and wrongly_skipped(marks, set(ran)):
        return refused("not every assert ran")
    line = said.get("line")
    return {
        "kind": kind,
        "reason": str(said.get("reason", ""))[:400],
        "ran": ran,
        "failed": _failed(said.get("failed"), len(marks)),
        "trace": _items(said.get("trace")),
        "line": line if type(line) is int and 0 <= line <= part.sheet.text.count("\n") + 1 else 0,
    }


def _items(value: object) -> list[Any]:
    return value[:10_000] if isinstance(value, list) else []


def _failed(said: object, count: int) -> dict[str, Any] | None:
    if not isinstance(said, dict):
        return None
    number = said.get("number")
    if type(number) is not int or not 0 <= number < count:
        return None
    words = ("text", "got", "expected", "message")
    shown: dict[str, Any] = {key: str(said[key])[:2000] for key in words if key in said}
    calls = [str(call)[:1000] for call in _items(said.get("calls"))[:3]]
    return {"text": "", "got": "", "message": "", **shown, "number": number, "calls": calls}
