"""Where a run goes next. Pure: no model, no clock, no file."""

from typing import Literal

from agent_loop.graph.state import State

MAX_REPEATS = 2
"""Identical candidates in one turn before the turn ends early: the second was told, the third
would be the same again."""


def after_first(state: State) -> Literal["lead", "end"]:
    """`reproduce` may end a run: nothing to fix."""
    return "end" if state["outcome"] else "lead"


def after_review(state: State) -> Literal["worker", "escalate", "ask_owner", "end"]:
    """A model's APPROVED never gets here: `outcome` is `passed` only by the check's verdict."""
    if state["outcome"]:
        return "end"
    if not turn_over(state):
        return "worker"
    return "escalate" if may_escalate(state) else "ask_owner"


def after_owner(state: State) -> Literal["worker", "end"]:
    return "end" if state["outcome"] else "worker"


def turn_over(state: State) -> bool:
    """Whether the worker has had its laps: the cap, the same thing over again, or escalated."""
    return (
        state["rejections"] >= state["rejection_cap"]
        or state["repeats"] >= MAX_REPEATS
        or state["escalated"]
    )


def may_escalate(state: State) -> bool:
    """One attempt by the stronger model a turn, where one is configured."""
    return state["can_escalate"] and not state["escalated"]


def may_ask(state: State, max_pauses: int | None) -> bool:
    """Whether the owner may be asked once more."""
    return max_pauses is None or state["pauses"] < max_pauses
