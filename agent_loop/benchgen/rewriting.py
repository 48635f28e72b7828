"""A model may write the prose of a report; the check for leaks is the same, and facts stay."""

import re
from collections.abc import Callable

from agent_loop.benchgen.leaks import Secrets, leaks
from agent_loop.benchgen.wording import Report
from agent_loop.errors import AgentLoopError
from agent_loop.ports import Message, Model

PROMPT = """Rewrite this bug report so that it reads as a user of the library would write it.
Keep every code block exactly as it is. Do not guess at the cause. Answer with the report alone,
its title on the first line.

{report}
"""
_BLOCK = re.compile(r"```[\s\S]*?```")
_MOST_CHARS = 8000


def rewritten(report: Report, secrets: Secrets, model: Model, say: Callable[[str], None]) -> Report:
    """The model's text where it may be used, else the report as it was."""
    try:
        reply = model.ask([Message(role="user", content=PROMPT.format(report=report.text))])
    except AgentLoopError as problem:
        say(f"a report was not rewritten: {problem}")
        return report
    title, _, body = reply.text.strip().partition("\n")
    new = Report(title=title.strip("# ").strip(), body=body.strip())
    why = problem_of(new, report, secrets)
    if why:
        say(f"a rewritten report was not used: {why}")
        return report
    return new


def problem_of(new: Report, old: Report, secrets: Secrets) -> str:
    """Why a rewritten report cannot be used; empty where it can."""
    if not new.title or len(new.title) > 120 or not new.body or len(new.text) > _MOST_CHARS:
        return "no title, no text, or too long"
    lost = [one for one in _BLOCK.findall(old.body) if one not in new.body]
    if lost or len(_BLOCK.findall(new.body)) != len(_BLOCK.findall(old.body)):
        return "its examples are not the report's"
    found = leaks(new.text, secrets)
    return found[0] if found else ""
