"""A trace read again: every model call with its whole prompt, and what came of its calls."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agent_loop.errors import ThreadError
from agent_loop.ports import Json
from agent_loop.store import RunStore, read_trace

Event = Mapping[str, Json]


@dataclass(slots=True, kw_only=True)
class Turn:
    """One model call: what was new in its prompt, what it said, what its tool calls gave."""

    asked: Event
    new: list[Event]
    """Messages that the call before in the same history did not have."""
    afresh: bool
    """A history begins here."""
    replied: Event = field(default_factory=dict)
    steps: list[Event] = field(default_factory=list)
    """Its `episode_step` events."""

    @property
    def place(self) -> str:
        """`worker, lap 2, sample 1, step 3`."""
        parts = [text_of(self.asked, "node")]
        for key in ("lap", "sample", "step"):
            if self.asked.get(key):
                parts.append(f"{key} {self.asked[key]}")
        return ", ".join(parts)


@dataclass(slots=True, kw_only=True)
class Story:
    """One run."""

    thread: str
    record: Event
    events: list[Event]
    """Everything, in order; a node that a kill cut off included."""
    told: list[Turn | Event]
    """What counts, in order: turns, and the events between them."""

    @property
    def turns(self) -> list[Turn]:
        return [one for one in self.told if isinstance(one, Turn)]


def read_story(store: RunStore, thread: str) -> Story:
    """A recorded run.

    Raises:
        ThreadError: unknown, or it has no trace.
    """
    record = store.read_record(thread)
    events = list(read_trace(store.trace_path(thread)))
    if not events:
        raise ThreadError(f"thread '{thread}' has no trace to export. See --show {thread}.")
    return Story(thread=thread, record=record, events=events, told=list(_told(_kept(events))))


def _kept(events: Iterable[Event]) -> list[Event]:
    """Without what a kill cut off: that node was done again from its start."""
    kept: list[Event] = []
    began: dict[tuple[Json, Json], int] = {}
    for event in events:
        key = (event.get("node"), event.get("lap"))
        if event.get("kind") == "node_started":
            if event.get("again") is True and key in began:
                del kept[began[key] :]
            began[key] = len(kept)
        kept.append(event)
    return kept


def _told(events: Iterable[Event]) -> Iterator[Turn | Event]:
    turn: Turn | None = None
    for event in events:
        match event.get("kind"):
            case "model_asked":
                if turn is not None:
                    yield turn
                kept = event.get("kept")
                turn = Turn(asked=event, new=maps(event.get("messages")), afresh=not kept)
            case "model_replied" if turn is not None:
                turn.replied = event
            case "episode_step" if turn is not None:
                turn.steps.append(event)
            case _:
                if turn is not None:
                    yield turn
                    turn = None
                yield event
    if turn is not None:
        yield turn


def maps(value: Json) -> list[Event]:
    """The mappings of a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def text_of(event: Event, key: str) -> str:
    """A field as text; empty where it is missing."""
    value = event.get(key)
    return "" if value is None else str(value)


def number_of(event: Event, key: str) -> float:
    """A field as a number; 0 where it is none."""
    value = event.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def counted(turn: Turn) -> Event | None:
    """The usage of a call; `None` where its server gave no counts: unknown is not zero."""
    usage = turn.replied.get("usage")
    if not isinstance(usage, Mapping) or usage.get("unmeasured_calls"):
        return None
    return usage
