"""What is sent to the model: a list that only grows at its end, or a fresh one."""

from collections.abc import Sequence
from dataclasses import replace

from agent_loop.ports import Message, Reply, ToolSpec

CHARS_PER_TOKEN = 3
"""Few enough for code and English in every tokenizer seen."""
FULL_PART = 0.8
"""Of the context: the rest is for one more answer to "sum up", and for counting badly."""
SUM_UP = (
    "\n\n[The context is nearly full. Call no tool now. Write a summary for yourself, from which "
    "you will go on without anything above: the task as you understand it, what you found out "
    "(files, lines, the cause), what you changed, what is left to do, what did not work.]"
)
_AFRESH = """Your own summary of what you did so far (the earlier messages are gone; the working \
copy is as you left it):

{summary}

The last things you did:
{actions}

Go on from there."""
_MAX_ACTIONS = 12
_NOTHING_SAID = "(no answer)"


class History:
    """One append-only list of messages. Nothing in it is ever changed or taken out."""

    def __init__(self, opening: Sequence[Message], tools: Sequence[ToolSpec], tokens: int) -> None:
        """`tokens`: what a prompt may hold, the description of the tools included."""
        self._opening = tuple(opening)
        described = sum(len(t.name + t.description + str(t.parameters)) for t in tools)
        self._room_chars = int(tokens * CHARS_PER_TOKEN * FULL_PART) - described
        self._lists: list[tuple[Message, ...]] = [self._opening]
        self.summing_up = False
        """The newest message asks for a summary; the next reply is one."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is sent next."""
        return self._lists[-1]

    @property
    def lists(self) -> tuple[tuple[Message, ...], ...]:
        """Every list there was, the newest last."""
        return tuple(self._lists)

    def say(self, reply: Reply) -> None:
        """The model's turn, as the provider gave it."""
        # Some servers refuse a turn that holds nothing.
        text = reply.text or ("" if reply.tool_calls or reply.bad_calls else _NOTHING_SAID)
        self._add(
            Message(role="assistant", content=text, tool_calls=reply.tool_calls, raw=reply.raw)
        )

    def answer(self, answers: Sequence[Message]) -> None:
        """What came of the model's turn; asks for a summary where the context is nearly full."""
        *before, last = answers
        chars = sum(len(m.content) for m in (*self.messages, *answers))
        # A list that is nothing but its opening and one turn cannot be made shorter.
        if chars > self._room_chars and len(self.messages) > len(self._opening) + 1:
            last = replace(last, content=last.content + SUM_UP)
            self.summing_up = True
        self._add(*before, last)

    def start_afresh(self, summary: str, actions: Sequence[str]) -> None:
        """A new list: the opening, then the summary. The old one stays as it was."""
        done = "\n".join(f"- {one[:200]}" for one in actions[-_MAX_ACTIONS:]) or "- nothing"
        told = _AFRESH.format(summary=summary.strip() or "(you wrote none)", actions=done)
        *before, last = self._opening
        self._lists.append((*before, replace(last, content=f"{last.content}\n\n{told}")))
        self.summing_up = False

    def _add(self, *messages: Message) -> None:
        self._lists[-1] = (*self._lists[-1], *messages)
