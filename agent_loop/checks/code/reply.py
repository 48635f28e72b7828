"""From a model's reply to a candidate: nothing here costs a container."""

import ast
import hashlib

from agent_loop.edits import code_from_reply
from agent_loop.errors import ReplyError
from agent_loop.ports import Candidate, Reply
from agent_loop.syntax import parse

MAX_CODE_BYTES = 1 << 17
"""Parsing an f-string takes time by the square: one of this size takes 5 s, of 1 MiB minutes."""


def candidate_from(reply: Reply) -> Candidate:
    """The code a reply offers.

    Raises:
        ReplyError: cut at the token limit, no code, code that does not parse, or far too much.
    """
    if reply.finish == "length":
        raise ReplyError(
            "Your reply was cut off at the token limit, so it was not used. "
            "Answer with the code only, and shorter."
        )
    found = code_from_reply(reply.text)
    return Candidate(answer=found.code, digest=digest_of(found.code), notes=found.notes)


def digest_of(code: str) -> str:
    """SHA-256 over the syntax tree: comments, blank lines and layout do not matter.

    Raises:
        ReplyError: it does not parse; says the line, the message and the source line.
    """
    if len(code.encode("utf-8", "surrogatepass")) > MAX_CODE_BYTES:
        raise ReplyError(f"Your code is longer than {MAX_CODE_BYTES >> 10} KiB. Send less.")
    try:
        tree = ast.dump(parse(code))
    except SyntaxError as problem:
        raise ReplyError(_syntax(problem, code)) from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise ReplyError(f"Your code cannot be parsed: {type(problem).__name__}.") from None
    return hashlib.sha256(tree.encode("utf-8", "backslashreplace")).hexdigest()


def _syntax(problem: SyntaxError, code: str) -> str:
    lines = code.splitlines()
    line = problem.lineno or 0
    source = lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""
    return f"Your code does not parse: line {line}: {problem.msg}." + (
        f"\n    {source}" if source else ""
    )
