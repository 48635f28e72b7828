"""Writes a bug report from failing tests and what they said; never from the bug itself."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from agent_loop.benchgen.examples import Example

SHOWN = 3
"""Examples in one report."""
_HELPER = re.compile(r"(?i)(?:assert|raises?$|check|expect)")
"""What a name of a test's tool looks like: it says that something fails, and is not what does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the solver of a task is told."""

    title: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.title}\n\n{self.body}"


def subject(found: Sequence[Example]) -> str:
    """The public name the report is about: the one that most failing checks have in common."""
    score: dict[str, float] = defaultdict(float)
    for one in found:
        words = set(re.split(r"[^a-z0-9]+|_", one.test.rpartition("::")[2].lower()))
        for rank, name in enumerate(one.apis[:6]):
            named = name.lower() in one.test.lower() or name.lower() in words
            points = 4 - min(rank, 3) + (6 if named else 0)
            helper = 0.1 if _HELPER.match(name) else 1.0
            score[name] += points * one.telling.get(name, 1.0) * helper
    best = sorted(score.items(), key=lambda pair: (-pair[1], pair[0]))
    return best[0][0] if best else ""


_OPENINGS = {
    "gives": (
        "`{api}` does not return what it should.",
        "The result of `{api}` is wrong in the case below.",
        "I get an unexpected value from `{api}`.",
    ),
    "raises": (
        "Using `{api}` ends in an exception that should not be there.",
        "`{api}` fails where it used to work.",
    ),
    "does not raise": (
        "`{api}` accepts what it should refuse.",
        "An error that callers of `{api}` count on is not raised.",
    ),
}


def write_report(
    found: Sequence[Example], package: str, pick: int, *, plain: bool = False
) -> Report:
    """Title, opening and up to `SHOWN` examples.

    Args:
        found: the failing checks, at least one.
        package: what the library is called, for a report that no name fits.
        pick: chooses among phrasings.
        plain: a title without values and messages.
    """
    names = _subjects(found)
    shown = _chosen(found, names)
    said = shown[0].symptom if plain else shown[0].exactly
    if names:
        title = f"`{names[0]}` {said}"
        phrases = next(texts for start, texts in _OPENINGS.items() if said.startswith(start))
        opening = phrases[pick % len(phrases)].format(api=names[0])
    else:
        title = f"{package} {said}"
        opening = f"Something in {package} does not behave as documented."
    if names[1:]:
        opening += f" {_listed(names[1:])} suffer{'s' * (len(names) == 2)} as well."
    parts = [opening, *map(_shown, shown)]
    if len(found) > len(shown):
        more = len(found) - len(shown)
        parts.append(f"{more} more check{'s' * (more > 1)} fail{'s' * (more == 1)} similarly.")
    parts.append("Find the cause and mend it; what works now has to go on working.")
    return Report(title=title, body="\n\n".join(parts))


def _subjects(found: Sequence[Example]) -> list[str]:
    """The name most checks have in common, then that of the checks which do not call it."""
    names: list[str] = []
    left = list(found)
    while left and len(names) < SHOWN and (name := subject(left)):
        names.append(name)
        left = [one for one in left if name not in one.apis]
    return names


def _chosen(found: Sequence[Example], names: Sequence[str]) -> list[Example]:
    """One for each name first; those that show nothing to run only where there is no other."""
    clear = sorted(found, key=lambda one: not one.statement)
    first = [next(one for one in clear if name in one.apis) for name in names]
    chosen = list({id(one): one for one in [*first, *clear]}.values())[:SHOWN]
    telling = [one for one in chosen if one.statement or one.message]
    return [one for one in telling if one.statement] or telling or chosen[:1]


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"`{one}`" for one in names)


def _shown(one: Example) -> str:
    parts = []
    silent = one.symptom.startswith("does not raise")
    if one.statement:
        holds = "hold" if "assert" in one.statement.lower() else "work"
        if silent:
            holds = one.symptom.removeprefix("does not ")
        case = f" for the case `{one.case}`" if one.case else ""
        parts.append(f"This should {holds}{case}:\n\n```python\n{one.statement}\n```")
    if one.message and not (silent and one.statement):
        instead = "Instead" if one.statement else "A check says"
        parts.append(f"{instead}:\n\n```\n{one.message}\n```")
    elif one.statement:
        parts.append("It does not.")
    return "\n\n".join(parts)


def package_of(path: str) -> str:
    """The top-level name that a file of the library is imported by."""
    return path.removeprefix("src/").split("/")[0].removesuffix(".py")
