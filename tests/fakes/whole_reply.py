"""A reply that comes in one piece, for the filter that takes pieces."""

from agent_loop.models.text import ReasoningFilter


def split_reasoning(text: str) -> tuple[str, str]:
    """(answer, reasoning) of a whole reply."""
    parts = ReasoningFilter()
    parts.feed(text)
    parts.finish()
    return parts.answer, parts.reasoning
