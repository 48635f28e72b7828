"""Replies from the trace of a recorded run: no model, the same words in the same order."""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_loop.errors import ModelUnavailable
from agent_loop.models.provider import Attempt, Collected, Spent
from agent_loop.ports import BadCall, Cancel, Fingerprint, Json, Message, Role, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One recorded ask with the reply it got."""

    role: str
    where: str
    """`node worker, lap 2`."""
    messages: tuple[tuple[str, str], ...]
    reply: Mapping[str, Json]
    tools: bool = False
    """Tools were offered."""


class Recording:
    """The exchanges of one run in order; every role of a replay takes from the same one."""

    def __init__(self, thread: str, exchanges: Sequence[Exchange], *, answered: int = 0) -> None:
        """`answered` replies were taken before, by a replay that now goes on."""
        self.thread = thread
        self._exchanges = exchanges
        self._next = answered
        self._lock = threading.Lock()
        self.native_tools = any(exchange.tools for exchange in exchanges)
        """The recorded model took tools: what was called natively can be said again."""

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
    said: tuple[tuple[str, str], ...] = ()
    for line in lines:
        event = _event(line)
        if event.get("kind") == "node_started" and event.get("again") is True:
            _take_back(found, _where(event))
        elif event.get("kind") == "model_asked":
            asked, said = event, _messages(event, said)
        elif event.get("kind") == "model_replied" and asked:
            exchange = _exchange(asked, said, event)
            # Killed between reply and checkpoint, a node asks the same once more.
            if found and (found[-1].where, found[-1].messages) == (
                exchange.where,
                exchange.messages,
            ):
                found.pop()
            found.append(exchange)
            asked = {}
    return found


def _take_back(found: list[Exchange], where: str) -> None:
    """A node that a kill cut off is done again from its start, with every reply of its episode."""
    while found and (found[-1].where == where or found[-1].where.startswith(f"{where}, ")):
        found.pop()


def _messages(
    asked: Mapping[str, Json], before: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """The whole prompt: an episode's event holds only what the ask before did not have."""
    messages, kept = asked.get("messages"), asked.get("kept")
    new = [m for m in messages if isinstance(m, Mapping)] if isinstance(messages, list) else []
    head = before[:kept] if isinstance(kept, int) and kept > 0 else ()
    return head + tuple((str(m.get("role")), str(m.get("content"))) for m in new)


def _event(line: str) -> Mapping[str, Json]:
    try:
        event = json.loads(line)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _where(event: Mapping[str, Json]) -> str:
    sample = f", sample {event['sample']}" if "sample" in event else ""
    return f"node {event.get('node')}, lap {event.get('lap')}{sample}"


def _exchange(
    asked: Mapping[str, Json], said: tuple[tuple[str, str], ...], replied: Mapping[str, Json]
) -> Exchange:
    return Exchange(
        role=str(asked.get("role", "")),
        where=_where(asked),
        messages=said,
        reply=replied,
        tools=bool(asked.get("tools")),
    )


class ReplayProvider:
    """One role's view of a recording."""

    def __init__(self, recording: Recording, role: Role) -> None:
        self.answered = f"replay:{recording.thread}"
        self._recording = recording
        self._role = role

    @property
    def native_tools(self) -> bool:
        return self._recording.native_tools

    def preflight(self) -> None:
        """The trace was read when this was made."""

    def once(
        self,
        messages: Sequence[Message],
        into: Collected,
        *,
        attempt: Attempt,
        cancel: Cancel,
        tools: Sequence[ToolSpec] = (),
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
            tool_calls=tuple(_calls(reply.get("tool_calls"))),
            bad_calls=tuple(_bad_calls(reply.get("bad_calls"))),
            raw=reply.get("raw"),
            refused=reply.get("refused") is True,
        )

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name=self.answered, answered=self.answered)

    def close(self) -> None:
        """Nothing is held."""


def _calls(value: Json) -> Iterator[ToolCall]:
    for one in _maps(value):
        arguments = one.get("arguments")
        if isinstance(arguments, Mapping):
            yield ToolCall(id=str(one.get("id")), name=str(one.get("name")), arguments=arguments)


def _bad_calls(value: Json) -> Iterator[BadCall]:
    for one in _maps(value):
        yield BadCall(**{key: str(one.get(key) or "") for key in ("id", "name", "text", "problem")})


def _maps(value: Json) -> list[Mapping[str, Json]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _count(counts: Mapping[str, Json], key: str) -> int | None:
    value = counts.get(key)
    measured = counts.get("calls") != counts.get("unmeasured_calls")
    return value if measured and isinstance(value, int) else None
