"""Replies from the trace of a recorded run: no model, the same words in the same order."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_loop.errors import ModelUnavailable
from agent_loop.models.provider import Attempt, Collected, Spent
from agent_loop.ports import Cancel, Fingerprint, Json, Message, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One recorded ask with the reply it got."""

    role: str
    where: str
    """`node worker, lap 2`."""
    messages: tuple[tuple[str, str], ...]
    reply: Mapping[str, Json]


class Recording:
    """The exchanges of one run in order; every role of a replay takes from the same one."""

    def __init__(self, thread: str, exchanges: Sequence[Exchange], *, answered: int = 0) -> None:
        """`answered` replies were taken before, by a replay that now goes on."""
        self.thread = thread
        self._exchanges = exchanges
        self._next = answered
        self._lock = threading.Lock()

    def take(self, role: Role) -> Exchange:
        """The next exchange, which must be of `role`.

        Raises:
            ModelUnavailable: the run asks otherwise than the recorded one did; says where.
        """
        with self._lock:
            number = self._next + 1
            if number > len(self._exchanges):
                raise ModelUnavailable(
                    f"replay:{self.thread}: the record holds {len(self._exchanges)} replies and "
                    f"{role} asks for number {number}. The run went another way than the record."
                )
            exchange = self._exchanges[self._next]
            if exchange.role != role:
                raise ModelUnavailable(
                    f"replay:{self.thread}: reply {number} of the record is {exchange.role}'s "
                    f"({exchange.where}), but {role} asks now. The run went another way."
                )
            self._next = number
            return exchange


def read_recording(trace: Path, thread: str, *, answered: int = 0) -> Recording:
    """The exchanges in a `trace.jsonl`; a torn last line is passed over.

    Raises:
        ModelUnavailable: no such trace, or no reply in it.
    """
    try:
        with trace.open(encoding="utf-8", errors="replace") as lines:
            exchanges = _exchanges(lines)
    except OSError as error:
        raise ModelUnavailable(
            f"replay:{thread}: no trace at {trace} ({error.strerror}). "
            "Type: loop.py --list, to see the runs there are."
        ) from error
    if not exchanges:
        raise ModelUnavailable(f"replay:{thread}: {trace} holds no model reply.")
    return Recording(thread, exchanges, answered=answered)


def _exchanges(lines: Iterable[str]) -> list[Exchange]:
    found: list[Exchange] = []
    asked: Mapping[str, Json] = {}
    for line in lines:
        event = _event(line)
        if event.get("kind") == "model_asked":
            asked = event
        elif event.get("kind") == "model_replied" and asked:
            exchange = _exchange(asked, event)
            # Killed between reply and checkpoint, a node asks the same once more.
            if found and (found[-1].where, found[-1].messages) == (
                exchange.where,
                exchange.messages,
            ):
                found.pop()
            found.append(exchange)
            asked = {}
    return found


def _event(line: str) -> Mapping[str, Json]:
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _exchange(asked: Mapping[str, Json], replied: Mapping[str, Json]) -> Exchange:
    messages = asked.get("messages")
    pairs = [m for m in messages if isinstance(m, Mapping)] if isinstance(messages, list) else []
    return Exchange(
        role=str(asked.get("role", "")),
        where=f"node {asked.get('node')}, lap {asked.get('lap')}",
        messages=tuple((str(m.get("role")), str(m.get("content"))) for m in pairs),
        reply=replied,
    )


class ReplayProvider:
    """One role's view of a recording."""

    def __init__(self, recording: Recording, role: Role) -> None:
        self.answered = f"replay:{recording.thread}"
        self._recording = recording
        self._role = role

    def preflight(self) -> None:
        """The trace was read when this was made."""

    def once(
        self, messages: Sequence[Message], into: Collected, *, attempt: Attempt, cancel: Cancel
    ) -> Spent:
        exchange = self._recording.take(self._role)
        reply = exchange.reply
        into.think(str(reply.get("reasoning") or ""))
        into.add(str(reply.get("text") or ""))
        usage = reply.get("usage")
        counts = usage if isinstance(usage, Mapping) else {}
        same = tuple((m.role, m.content) for m in messages) == exchange.messages
        notes = () if same else (f"the prompt differs from the recorded one ({exchange.where})",)
        return Spent(
            finish="length" if reply.get("finish") == "length" else "stop",
            input_tokens=_count(counts, "input_tokens"),
            output_tokens=_count(counts, "output_tokens"),
            reused_tokens=_count(counts, "reused_tokens") or 0,
            context_cut=reply.get("context_cut") is True,
            notes=notes,
        )

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name=self.answered, answered=self.answered)

    def close(self) -> None:
        """Nothing is held."""


def _count(counts: Mapping[str, Json], key: str) -> int | None:
    value = counts.get(key)
    measured = counts.get("calls") != counts.get("unmeasured_calls")
    return value if measured and isinstance(value, int) else None
