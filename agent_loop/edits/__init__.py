"""Takes code and edits out of a reply: pure, and hostile text gets a `ReplyError` at worst."""

from agent_loop.edits.code import Found, code_from_reply

__all__ = ["Found", "code_from_reply"]
