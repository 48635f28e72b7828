"""Sees that an episode goes round in a circle."""

import json

from agent_loop.ports import Json, ToolCall

NUDGE = 3
"""The same once more is told."""
END = 5
"""The same once more ends the episode."""
LONGEST_CIRCLE = 3
"""A, B, A, B and A, B, C, A, B, C are circles too."""
NO_ACTION = "no action"


class Repeats:
    """The actions of an episode in order, and how often the newest of them came in a row."""

    def __init__(self) -> None:
        self._actions: list[str] = []

    def saw(self, action: str) -> int:
        """How many times over the newest action, or circle of actions, stands at the end."""
        self._actions.append(action)
        return max(self._times(size) for size in range(1, LONGEST_CIRCLE + 1))

    def _times(self, size: int) -> int:
        circle, times = self._actions[-size:], 0
        for end in range(len(self._actions), size - 1, -size):
            if self._actions[end - size : end] != circle:
                break
            times += 1
        return times


def action_of(call: ToolCall) -> str:
    """The same text for the same action, whatever the order of its arguments."""
    return f"{call.name} {_canonical(call.arguments)}"


def _canonical(arguments: Json) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=str)
