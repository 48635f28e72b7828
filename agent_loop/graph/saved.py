"""One saved step of a thread, read from the database and checked: nothing in it is believed."""

from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import Interrupt

from agent_loop.errors import StoreFault, ThreadError
from agent_loop.graph import stepids
from agent_loop.graph.database import Saver, fault_of
from agent_loop.graph.saver import store_fault
from agent_loop.graph.state import State, checked
from agent_loop.ports import FINAL, OwnerCall
from agent_loop.store import RunStore

_BRANCH = "branch:to:"
_FIELDS = frozenset(State.__annotations__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the database says about a thread."""

    state: State
    next: str
    call: OwnerCall | None


def config_of(thread: str, checkpoint_id: str = "") -> RunnableConfig:
    """The newest step of a thread, or the one of that id."""
    at = {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **at}}


def look_at(checkpoints: Saver, thread: str) -> Look | None:
    """The newest step of a thread, checked; `None` where there is none.

    Raises:
        StoreFault: the database cannot be read, or this program did not write what it holds.
    """
    try:
        found = checkpoints.get_tuple(config_of(thread))
    except (ValueError, TypeError) as error:
        raise store_fault("checkpoints", error) from error
    except Exception as error:
        if fault := fault_of(error):
            raise fault from error
        raise
    if found is None:
        return None
    stepids.go_on_after(found.checkpoint.get("id"))
    return look_of(thread, found)


def look_of(thread: str, found: CheckpointTuple) -> Look | None:
    """One saved step, checked; `None` for a run that has not taken in its first state.

    Raises:
        StoreFault: this program did not write it.
    """
    values = _channels(found.checkpoint)
    following = [name.removeprefix(_BRANCH) for name in values if name.startswith(_BRANCH)]
    if "__start__" in values:
        # Written, but not yet taken in: as good as nothing.
        return None
    writes = found.pending_writes or []
    # Writes of a node that ended just before a kill: taken in without running it again.
    values = values | {channel: value for _, channel, value in writes if channel in _FIELDS}
    state = checked({name: value for name, value in values.items() if name in _FIELDS})
    pauses = [value for _, channel, value in writes if channel == "__interrupt__"]
    call = _call(thread, pauses[-1], state) if pauses else None
    return Look(state=state, next=following[0] if following else "", call=call)


def ended_before(store: RunStore, thread: str) -> str:
    """How the record says a thread ended for good; empty where it can go on, or has none.

    Only a thread without steps needs it: pruning may have taken them.
    """
    try:
        outcome = store.read_record(thread).get("outcome")
    except ThreadError:
        return ""
    return outcome if isinstance(outcome, str) and outcome in FINAL else ""


def _channels(checkpoint: object) -> dict[str, Any]:
    values = checkpoint.get("channel_values") if isinstance(checkpoint, dict) else None
    if not isinstance(values, dict):
        raise StoreFault("checkpoints.sqlite: a saved step holds no state. Start the task again.")
    return values


def _call(thread: str, written: object, state: State) -> OwnerCall:
    found = written[0] if isinstance(written, list) and written else None
    value = found.value if isinstance(found, Interrupt) else None
    if not isinstance(found, Interrupt) or not isinstance(value, dict):
        raise StoreFault("checkpoints.sqlite: the saved owner call is none of ours.")
    return OwnerCall(
        thread=thread,
        nonce=found.id,
        question=str(value.get("question")),
        tests_passed=value.get("tests_passed") is True,
        rejections=int(value.get("rejections") or 0),
        answer=state["answer"],
    )
