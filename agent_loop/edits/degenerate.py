"""Text that a model got stuck in: one line or one phrase over and over."""

from agent_loop.errors import ReplyError

MAX_REPLY_CHARS = 2_000_000
_REPEATED_LINES = 40
_TAIL = 80


def refuse_degenerate(text: str) -> None:
    """Refuse what cannot be an answer, before anything parses it.

    Raises:
        ReplyError: empty, far too long, or the same line or phrase over and over.
    """
    if not text.strip():
        raise ReplyError("Your reply was empty. Answer in the asked format.")
    if len(text) > MAX_REPLY_CHARS:
        raise ReplyError(f"Your reply was longer than {MAX_REPLY_CHARS} characters. Send less.")
    repeated = _repeated_line(text) or _repeated_phrase(text)
    if repeated:
        raise ReplyError(f"Your reply repeats {repeated[:80]!r} over and over. Answer once.")


def _repeated_line(text: str) -> str:
    """A line that fills more than half of a text in one run."""
    lines = [line for line in text.split("\n") if line.strip()]
    run, last = 0, ""
    for line in lines:
        run = run + 1 if line == last else 1
        last = line
        if run >= _REPEATED_LINES and run * 2 > len(lines) and len(line.strip()) > 8:
            return line.strip()
    return ""


def _repeated_phrase(text: str) -> str:
    """A phrase that fills the last half of a text, at least twenty times."""
    text = text.rstrip()
    if len(text) < 1000:
        return ""
    at = text.rfind(text[-_TAIL:], max(0, len(text) - 600), len(text) - 1)
    if at < 0:
        return ""
    period = len(text) - _TAIL - at
    half = text[len(text) // 2 :]
    if len(half) < period * 20 or half[period:] != half[:-period]:
        return ""
    phrase = half[:period].strip()
    return phrase if len(set(phrase)) > 3 else ""
