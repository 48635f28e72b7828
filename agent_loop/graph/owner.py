"""The pause: what the owner is asked, and what the answer does."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import interrupt

from agent_loop.errors import StoreFault
from agent_loop.graph.state import State
from agent_loop.graph.verdicts import verdict_of
from agent_loop.prompts import bounded


def ask_owner(state: State) -> dict[str, Any]:
    """Pause until somebody answers.

    The node runs again from its top on every resume: the interrupt is its first statement and
    everything else is pure.
    """
    said = interrupt(question(state))
    return answered(state, said)


def question(state: State) -> dict[str, Any]:
    """What the owner is told at the pause."""
    verdict = verdict_of(state)
    passed = bool(verdict and verdict.passed)
    last = state["laps"][-1] if state["laps"] else None
    reason = last["problem"] if last and last["problem"] else verdict.reason if verdict else ""
    standing = (
        "The check passes, but the reviewer rejects the answer"
        if passed and not (last and last["problem"])
        else f"The check does not pass ({bounded(reason, 300)})"
    )
    same = f", {state['repeats']} of them the same answer again" if state["repeats"] else ""
    return {
        "question": f"{standing} after {state['rejections']} rejections{same}. "
        "Say 'stop', 'accept', or what the worker should do.",
        "tests_passed": passed,
        "rejections": state["rejections"],
    }


def answered(state: State, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the answer does to the state.

    Raises:
        StoreFault: the saved answer is none of ours.
    """
    kind = said.get("kind") if isinstance(said, dict) else None
    text = said.get("text") if isinstance(said, dict) else None
    if kind not in ("stop", "accept", "guidance") or not isinstance(text, str):
        raise StoreFault("checkpoints.sqlite: the saved answer of the owner is none.")
    update: dict[str, Any] = {"pauses": state["pauses"] + 1}
    if kind == "stop":
        return update | {"outcome": "stopped", "reason": "the owner stopped the run"}
    if kind == "accept":
        return update | {"outcome": "accepted", "reason": "the owner accepted the answer"}
    laps = list(state["laps"])
    if laps:
        laps[-1] = {**laps[-1], "guidance": bounded(text)}
    return update | {
        "laps": laps, "rejections": 0, "repeats": 0, "escalated": False, "seen": [],
    }  # fmt: skip
