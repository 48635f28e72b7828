"""A run as one text: what an export says, apart from how it is written down."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agent_loop.ports import Json
from agent_loop.viewer.events import Line, parsed
from agent_loop.viewer.jsontext import Preview
from agent_loop.viewer.traces import Traces

FULL_BYTES = 50 << 20
"""A trace beyond this is exported with shortened texts; the export says so."""
SHORT_CHARS = 2_000
_FULL_CHARS = 64 << 20
_BATCH = 50
_TITLES = {
    "run_started": "Started",
    "node_started": "Node begins",
    "node_finished": "Node ended",
    "model_asked": "Model asked",
    "model_replied": "Model replied",
    "candidate": "Candidate",
    "candidate_refused": "Reply could not be used",
    "repeated": "Judged before",
    "verdict": "Verdict",
    "review": "Review",
    "paused": "Owner asked",
    "owner_replied": "Owner replied",
    "fault": "Fault",
    "run_ended": "Ended",
}
_FACTS = (
    "outcome", "reason", "task", "kind", "look", "started", "ended", "spent_s", "rejections",
    "escalated", "owner_calls", "format_failures", "context_cuts", "task_hash", "config_hash",
)  # fmt: skip
_TEXTS = ("plan", "answer", "test_output", "review")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One piece of an export."""

    kind: Literal["title", "section", "event", "facts", "text", "note"]
    title: str = ""
    text: str = ""
    facts: tuple[tuple[str, str], ...] = ()


def blocks(
    thread: str, record: Mapping[str, Any] | None, patch: str, traces: Traces, *, short: bool
) -> Iterator[Block]:
    """The run from its result to its last event."""
    extent = traces.extent(thread)
    short = short or extent.bytes > FULL_BYTES
    yield Block(kind="title", title=f"Run {thread}")
    if short:
        yield Block(
            kind="note",
            text=f"Texts are shortened to {SHORT_CHARS} characters: the trace has "
            f"{extent.bytes} bytes. Whole texts stand in the run's trace.jsonl.",
        )
    yield from _result(record or {}, _FULL_CHARS)
    if patch:
        yield Block(kind="text", title="Patch", text=patch)
    yield Block(kind="section", title=f"Events ({extent.lines})")
    chars = SHORT_CHARS if short else _FULL_CHARS
    for first in range(1, extent.lines + 1, _BATCH):
        for line in traces.read(thread, first, min(extent.lines, first + _BATCH - 1)):
            yield from _event(line, chars)
    if extent.torn:
        yield Block(kind="note", text="The trace ends in the middle of a line.")


def _result(record: Mapping[str, Any], chars: int) -> Iterator[Block]:
    yield Block(kind="section", title="Result")
    facts = [(name, _word(record[name])) for name in _FACTS if name in record]
    yield Block(kind="facts", facts=tuple(facts))
    verdict = record.get("verdict")
    if isinstance(verdict, dict):
        yield Block(kind="section", title="Proofs")
        yield Block(kind="facts", facts=tuple(_proofs(verdict)))
    for name in _TEXTS:
        text = record.get(name)
        if isinstance(text, str) and text:
            yield Block(kind="text", title=name.replace("_", " ").capitalize(), text=text[:chars])
    tokens = record.get("tokens")
    if isinstance(tokens, dict):
        yield Block(kind="section", title="Tokens")
        rows = [(str(node)[:100], _word(used)) for node, used in tokens.items()]
        yield Block(kind="facts", facts=tuple(rows[:50]))


def _proofs(verdict: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield (
        "verdict",
        f"{'passed' if verdict.get('passed') is True else 'not passed'}: "
        + _word(verdict.get("reason")),
    )
    for key, held in (("proofs", "held"), ("looks", "")):
        entries = verdict.get(key)
        for entry in entries[:200] if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                name = _word(entry.get("name") or entry.get("signal"))
                mark = ("held: " if entry.get("held") is True else "MISSED: ") if held else "look: "
                yield name, mark + _word(entry.get("detail"))


def _event(line: Line, chars: int) -> Iterator[Block]:
    fields = parsed(line.raw)
    if fields is None:
        text = line.raw[: 4 * chars].decode("utf-8", "replace")[:chars]
        yield Block(kind="event", title=f"{line.seq}. A line that is no event")
        yield Block(kind="text", title="line", text=text)
        return
    kind = str(fields["kind"])
    small = Preview(chars=chars, items=10_000, nodes=200_000).of(dict(fields))
    fields = small if isinstance(small, dict) else {}
    where = " ".join(_word(fields[key]) for key in ("node", "role", "lap") if key in fields)
    name = _TITLES.get(kind, kind)[:60]
    yield Block(kind="event", title=f"{line.seq}. {name} {where}".strip())
    facts, texts = [], []
    for key, value in fields.items():
        if key in ("v", "n", "thread", "kind", "node", "role", "lap", "messages", "config"):
            continue
        if isinstance(value, str) and (len(value) > 80 or "\n" in value):
            texts.append(Block(kind="text", title=key[:80], text=value))
        else:
            facts.append((key[:80], _word(value)))
    yield Block(kind="facts", facts=tuple(facts))
    yield from _messages(fields.get("messages"))
    yield from texts


def _messages(messages: Json) -> Iterator[Block]:
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            text = message.get("content")
            yield Block(kind="text", title=_word(message.get("role")), text=str(text))


def _word(value: Json) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_word(item)}" for key, item in value.items())[:2_000]
    if isinstance(value, list):
        return ", ".join(_word(item) for item in value)[:2_000]
    return " ".join(str("" if value is None else value)[:2_000].split())
