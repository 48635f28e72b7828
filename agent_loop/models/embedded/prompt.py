"""Messages to tokens, so that no text can become a turn of its own.

Content never meets a parser of control tokens: they are put in by id, around it.
"""

from collections.abc import Sequence

from agent_loop.errors import ModelUnavailable
from agent_loop.models.embedded.runtime import Runtime
from agent_loop.ports import Message

ROLES = ("system", "user", "assistant")


def chat_ids(runtime: Runtime, messages: Sequence[Message]) -> list[int]:
    """The prompt as ChatML tokens, the assistant's turn opened at its end.

    Raises:
        ModelUnavailable: the weights do not speak ChatML.
        ValueError: a role outside `ROLES`; role text would not be protected.
    """
    try:
        start, end = runtime.control_id("<|im_start|>"), runtime.control_id("<|im_end|>")
    except KeyError as error:
        raise ModelUnavailable("embedded: these weights do not speak ChatML.") from error
    ids: list[int] = []
    for message in messages:
        if message.role not in ROLES:
            raise ValueError(f"role {message.role!r} is none of {', '.join(ROLES)}")
        ids += [start, *runtime.tokenize(f"{message.role}\n{message.content}"), end]
        ids += runtime.tokenize("\n")
    return [*ids, start, *runtime.tokenize("assistant\n")]
