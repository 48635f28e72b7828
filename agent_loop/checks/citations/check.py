"""`ports.Check` for research tasks: reads an answer out of a reply, and judges it."""

import hashlib
import html
import re
from collections.abc import Callable
from typing import Literal

from agent_loop.checks.citations.blocks import visible
from agent_loop.checks.citations.gate import MAX_ANSWER_CHARS, judge
from agent_loop.checks.citations.verdict import verdict_of
from agent_loop.errors import ReplyError
from agent_loop.ports import Candidate, Clock, Reply, Verdict
from agent_loop.research import Search
from agent_loop.research.sentences import expand, numbered

_WHOLE_FENCE = re.compile(r"\A\s*(`{3,}|~{3,})[^\n`]*\n(.*?)\n\s*\1\s*\Z", re.DOTALL)
_REFERENCES = re.compile(
    r"^\s{0,3}(?:#{1,6}\s*)?(?:\*\*|__)?(?:references|bibliography|works cited|sources)"
    r"(?:\*\*|__)?\s*:?\s*(?:\*\*|__)?\s*$",
    re.IGNORECASE | re.MULTILINE,
)


class CitationCheck:
    """The citation gate over what one search found."""

    def __init__(
        self,
        papers: Callable[[], Search],
        *,
        question: str = "",
        numbers: Literal["check", "ignore"] = "check",
        clock: Clock,
    ) -> None:
        """`papers` gives the search of the run; it raises a FaultError where there is none yet."""
        self._papers = papers
        self._question = question
        self._numbers: Literal["check", "ignore"] = numbers
        self._clock = clock

    def parse(self, reply: Reply) -> Candidate:
        """The answer, its sentence numbers written out, a list of references left out.

        Raises:
            ReplyError: nothing usable; the message is the worker's feedback.
        """
        if reply.finish == "length":
            raise ReplyError("The answer was cut off at its length limit. Write a shorter one.")
        answer, notes = _unwrapped(reply.text)
        if not answer:
            raise ReplyError("The reply holds no answer. Write a few sentences with quotes.")
        expanded = expand(answer, numbered(self._papers(), self._question))
        if expanded.problems:
            raise ReplyError(visible("\n".join(expanded.problems)))
        if expanded.count:
            notes.append(f"{expanded.count} sentence numbers were written out as quotes")
        text = expanded.text.strip()
        if len(text) > MAX_ANSWER_CHARS:
            raise ReplyError(
                f"The answer has {len(text):,} characters with its quotes. "
                f"Write at most {MAX_ANSWER_CHARS:,}: cite fewer sentences."
            )
        digest = hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()
        return Candidate(answer=text, digest=digest, notes=tuple(notes))

    def judge(self, candidate: Candidate) -> Verdict:
        """Judge the answer; no model, no container, no network.

        Raises:
            FaultError: the papers of the run cannot be read.
        """
        start = self._clock.monotonic()
        found = judge(candidate.answer, self._papers(), check_numbers=self._numbers)
        return verdict_of(found, numbers=self._numbers, seconds=self._clock.monotonic() - start)

    def prepare(self) -> None:
        """Nothing to start ahead."""

    def close(self) -> None:
        """Nothing to give back."""


def _unwrapped(text: str) -> tuple[str, list[str]]:
    """The answer without what models put around one, and what was taken away."""
    notes: list[str] = []
    answer = text.removeprefix("\ufeff").strip()
    fence = _WHOLE_FENCE.match(answer)
    if fence and fence[1] not in fence[2]:
        answer = fence[2].strip()
        notes.append("the fence around the whole answer was taken off")
    references = _REFERENCES.search(answer)
    if references and references.start() > 0:
        answer = answer[: references.start()].rstrip()
        notes.append("a list of references was left out: the program writes its own")
    return html.unescape(answer), notes
