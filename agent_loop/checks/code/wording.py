"""What a verdict says to the worker and to the owner."""

from collections.abc import Mapping
from typing import Any

from agent_loop.checks.code.sheet import Sheet

FEEDBACK_CHARS = 16_000
HIDDEN_FAILED = (
    "All shown tests hold, but a hidden test failed. Hidden tests are not shown: make the code "
    "right for every input the task describes."
)


def reason_for(outcome: Mapping[str, Any], sheet: Sheet) -> str:
    """One line."""
    kind = outcome["kind"]
    if not kind:
        return f"{len(outcome['ran'])} of {len(sheet.asserts)} asserts held"
    if kind == "assert":
        return f"{sheet.ids[outcome['failed']['number']]} failed"
    if kind == "raised":
        return f"raised {outcome['reason'][:200]}"
    if kind == "vacuous":
        return "not every assert ran"
    return f"refused: {outcome['reason'][:300]}"


def feedback_for(outcome: Mapping[str, Any], sheet: Sheet, code: str) -> str:
    """Expression, got, expected, calls; or the exception with the solution's lines."""
    lines = [_failed(outcome, sheet)] if outcome["failed"] else [_told(outcome, sheet)]
    lines += _trace(outcome["trace"], code)
    return "\n".join(lines)[:FEEDBACK_CHARS]


def _failed(outcome: Mapping[str, Any], sheet: Sheet) -> str:
    failed = outcome["failed"]
    lines = [f"{sheet.ids[failed['number']]} failed: assert {failed['text'][:2000]}"]
    lines.append(f"  got: {failed['got']}")
    if "expected" in failed:
        lines.append(f"  expected: {failed['expected']}")
    if failed["message"]:
        lines.append(f"  message: {failed['message']}")
    lines += [f"  call: {call}" for call in failed["calls"]]
    return "\n".join(lines)


def _told(outcome: Mapping[str, Any], sheet: Sheet) -> str:
    if not outcome["kind"]:
        return f"All {len(outcome['ran'])} asserts held."
    if outcome["kind"] == "raised":
        where = f"{sheet.place(outcome['line'])}: " if outcome["line"] else "Loading the code: "
        line = sheet.text.splitlines()[outcome["line"] - 1].strip() if outcome["line"] else ""
        return f"{where}raised {outcome['reason']}" + (f"\n  in: {line[:2000]}" if line else "")
    if outcome["kind"] == "vacuous":
        return f"Not every test was reached: {outcome['reason']}."
    return f"The code was refused: {outcome['reason']}."


def _trace(trace: object, code: str) -> list[str]:
    source = code.splitlines()
    shown = []
    for entry in trace if isinstance(trace, list) else []:
        line, function = _entry(entry)
        if 0 < line <= len(source):
            shown.append(f"  line {line}, in {function}: {source[line - 1].strip()[:200]}")
    return shown[-4:]


def _entry(entry: object) -> tuple[int, str]:
    """These come from the solution: anything may stand there."""
    if isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is int:
        return entry[0], str(entry[1])[:80]
    return 0, ""
