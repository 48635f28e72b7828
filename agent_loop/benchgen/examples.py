"""What failing tests say, as data: what was claimed, what came instead, and how to say it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_loop.benchgen.places import Place

_MESSAGE_LINES = 12
_LINE_CHARS = 160
_TITLE_CHARS = 70
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_RAISED = re.compile(
    r"^(?:[A-Za-z_][\w.]*\.)?([A-Z]\w*(?:Error|Exception|Exit|Warning|Interrupt|Iteration))\b"
)
_NOT_RAISED = re.compile(r"DID NOT RAISE .*?([A-Z]\w+)|^AssertionError: ([A-Z]\w+) not raised")
_VERDICT = re.compile(
    r"^(?:(?:AssertionError: )?assert (.{1,60}) (?:==|is) (.{1,60})|"
    r"AssertionError: (.{1,60}) != (.{1,60}))$"
)
_SAYS_NOTHING = re.compile(r"^(?:AssertionError: ?)?(?:assert (?:False|None|not True))?$")
_ADVICE = re.compile(r"^ *(?:Use -v+ to get more diff|\.\.\.Full output truncated.*)$")
_MODULE = re.compile(r"<module '([\w.]+)' from '[^']*'>")
_CASE = re.compile(r"\[([^`\n]{1,60})\]$")
_ITSELF = re.compile(r"^[ +]*where (?:<[\w ]+ ([\w.]+) at 0x…>|[\w.]+) = [\w.]+$")
_FUNCTION = re.compile(r"<(?:function|bound method|built-in \w+) ([\w.]+)[^<>]* at 0x…>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One failing check, as its user would see it."""

    test: str
    statement: str
    claim: str
    """The asserted expression, where it has names and stands on one line."""
    asks_left: bool
    """It compares what the library gives, on its left, with something else."""
    message: str
    """Empty where it says no more than that the statement does not hold."""
    apis: tuple[str, ...]
    """Names of the library that the statement calls, else those the test calls."""
    telling: Mapping[str, float]
    """How few of the file's tests call each of them: a helper of many tests is no subject."""

    @property
    def case(self) -> str:
        """The parameters of the test, as its id has them."""
        found = _CASE.search(self.test)
        return found[1] if found else ""

    @property
    def symptom(self) -> str:
        if found := _NOT_RAISED.search(self.message):
            return f"does not raise `{found[1] or found[2]}`"
        first = self.message.split("\n")[0]
        raised = _RAISED.match(first)
        if raised and raised[1] != "AssertionError":
            return f"raises `{raised[1]}`"
        return "gives a wrong result"

    @property
    def exactly(self) -> str:
        """The symptom with its words or values, where they are short and ours to say."""
        first = self.message.split("\n")[0]
        if self.symptom.startswith("raises"):
            says = first.partition(": ")[2]
            fits = 0 < len(says) <= _TITLE_CHARS and "<locals>" not in says and "test_" not in says
            return f"{self.symptom}: {says}" if fits else self.symptom
        if self.symptom != "gives a wrong result":
            return self.symptom
        verdict = _VERDICT.match(first)
        values = [one for one in verdict.groups() if one] if verdict else []
        if values and self.asks_left and len("".join(values)) <= _TITLE_CHARS:
            return f"gives `{values[0]}` instead of `{values[1]}`"
        if self.case:
            return f"{self.symptom} for `{self.case}`"
        fits = 0 < len(self.claim) <= _TITLE_CHARS
        return f"{self.symptom}: `{self.claim}` should hold" if fits else self.symptom


def examples(
    failures: Mapping[str, Mapping[str, Any]], read: Callable[[str], bytes], packages: Sequence[str]
) -> list[Example]:
    """The failing checks in the order of the tests, alike ones once."""
    found: dict[tuple[str, str], Example] = {}
    for name, failure in failures.items():
        path = name.partition("::")[0]
        place = Place.of(read(path), name, int(failure["line"]), packages)
        example = Example(
            test=name,
            statement=place.statement,
            claim=place.claim,
            asks_left=place.asks_left,
            message=cleaned(str(failure["message"])),
            apis=place.apis,
            telling=place.telling,
        )
        found.setdefault((example.claim or example.statement, example.symptom), example)
    return list(found.values())


def cleaned(message: str) -> str:
    """Without addresses, and short."""
    lines = [_ADDRESS.sub("0x…", line.rstrip()) for line in message.split("\n")]
    lines = [_MODULE.sub(r"\1", line) for line in lines]
    lines = [line for line in lines if not _ADVICE.match(line)]
    lines = [_FUNCTION.sub(r"\1", line) for line in lines if not _ITSELF.match(line)]
    kept = [line[:_LINE_CHARS] + ("…" if len(line) > _LINE_CHARS else "") for line in lines]
    more = ["…"] if len(kept) > _MESSAGE_LINES else []
    text = "\n".join([*kept[:_MESSAGE_LINES], *more]).strip()
    return "" if _SAYS_NOTHING.match(text) else text
