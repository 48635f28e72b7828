"""Takes code and edits out of a reply: pure, and hostile text gets a `ReplyError` at worst."""

from agent_loop.edits.changes import FORMATS, Changes, digest, edits_from_reply
from agent_loop.edits.code import Found, code_from_reply

__all__ = ["FORMATS", "Changes", "Found", "code_from_reply", "digest", "edits_from_reply"]
