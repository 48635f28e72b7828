"""What is said before a run: can this experiment answer?"""

from collections.abc import Iterable

from agent_loop.evals.rules import Condition, Rule
from agent_loop.evals.words import share
from agent_loop.stats.planning import (
    Sensitivity,
    chance_within,
    pairs_needed,
    power,
    sensitivity,
)

ASSUMED = 0.5
"""Pass rate assumed where nothing is known: the one with the most noise."""
_SIZES = (0.3, 0.2, 0.1, 0.05)
_LARGE = 0.25
_HUGE = 0.4


def before(
    *, tasks: int, attempts: int, baseline: float | None = None, rule: Rule | None = None
) -> str:
    """The lines to print before a run of `tasks` x `attempts` for each variant.

    Args:
        tasks: tasks of the run.
        attempts: attempts at each.
        baseline: pass rate of the control; `None`: not known, 50 % is assumed.
        rule: the experiment's rule, whose odds are then told.
    """
    rate = ASSUMED if baseline is None else baseline
    found = sensitivity(tasks=tasks, attempts=attempts, baseline=rate)
    source = "assumed" if baseline is None else "of the control"
    lines = [
        f"Can this experiment answer? {_verdict(found)}",
        f"  {tasks} tasks x {attempts} attempts = {found.pairs} pairs for each variant; "
        f"pass rate {share(rate)} ({source}); exact McNemar, p <= {found.alpha:g}",
        f"  found {share(found.power)} of the time: {_smallest(found)}",
        *_smaller(found),
        *_odds(rule, found),
    ]
    return "\n".join(lines)


def _verdict(found: Sensitivity) -> str:
    smallest = min((s for s in (found.gain, found.loss) if s is not None), default=None)
    if smallest is None:
        return (
            f"No: not even the largest difference there can be is found {share(found.power)} of "
            "the time. Add tasks or attempts."
        )
    if smallest > _HUGE:
        return "Only whether one variant nearly always passes and the other hardly ever."
    if smallest > _LARGE:
        return "Only for large differences; what is smaller will look like nothing."
    return f"Yes, for true differences of {100 * smallest:.0f} points and more."


def _smallest(found: Sensitivity) -> str:
    ends = [
        f"{word} of {100 * size:.0f} points or more" if size is not None else f"no {word[2:]}"
        for word, size in (("a rise", found.gain), ("a fall", found.loss))
    ]
    return ", ".join(ends)


def _smaller(found: Sensitivity) -> Iterable[str]:
    rate = found.baseline
    for size in _SIZES:
        way = size if rate + size <= 1 else -size
        if not 0 <= rate + way <= 1:
            continue
        chance = power(found.pairs, rate, way)
        needed = pairs_needed(rate, way)
        enough = f"; would need {_about(needed)} pairs" if chance < found.power else ""
        yield (
            f"  a true difference of {100 * size:>2.0f} points is found {share(chance)} of the time"
            + enough
        )


def _about(pairs: int | None) -> str:
    return "more than 4,096" if pairs is None else f"about {pairs:,}"


def _odds(rule: Rule | None, found: Sensitivity) -> Iterable[str]:
    if rule is None:
        return
    yield f"  rule: {rule.words}"
    for condition in rule.adopt_if:
        if condition.measure == "passes" and not condition.percent and found.pairs:
            yield from _pass_odds(condition, found)


def _pass_odds(condition: Condition, found: Sensitivity) -> Iterable[str]:
    below = _most_below(condition)
    if below is None:
        return
    for size in (0.0, -0.1, -0.2):
        if found.baseline + size < 0:
            continue
        chance = chance_within(found.pairs, found.baseline, size, most_below=below)
        truth = "as good" if size == 0 else f"{-100 * size:.0f} points worse"
        yield f"    '{condition.words}' holds {share(chance)} of the time if the variant is {truth}"


def _most_below(condition: Condition) -> float | None:
    """Passes the variant may be short of the control; `None`: the condition is another one."""
    if condition.direction == "lower" and condition.at_most is not None:
        return condition.at_most
    if condition.direction == "higher" and condition.at_least is not None:
        return -condition.at_least
    return None
