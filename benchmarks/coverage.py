"""How honest the eval statistics are, by simulation: `python -m benchmarks.coverage [--quick]`.

Prints, for known truths, how often each interval holds the truth, how often each test finds a
difference where there is none, and how often it finds one that is there. No model, no container.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from statistics import fmean

import numpy as np

from agent_loop.stats import (
    anytime_p,
    can_still_decide,
    mcnemar_exact,
    mde,
    paired_bootstrap_by_task,
    sign_flip_p,
    wilson,
)


def wilson_coverage(rng: np.random.Generator, repeats: int) -> None:
    """Share of Wilson intervals that hold the true rate."""
    for n in (3, 10, 18, 60, 120):
        cells = []
        for rate in (0.05, 0.2, 0.5, 0.8):
            counts, times = np.unique(rng.binomial(n, rate, repeats), return_counts=True)
            held = 0
            for k, count in zip(counts, times, strict=True):
                found = wilson(int(k), n)
                held += int(count) * (found.low <= rate <= found.high)
            cells.append(f"{rate:.2f}: {100 * held / repeats:5.1f} %")
        print(f"  n = {n:3}   true rate " + "   ".join(cells))


def draw_pair(
    rng: np.random.Generator, tasks: int, attempts: int, effect: float, spread: float
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Two variants; tasks differ in hardness, and the effect differs from task to task."""
    base = rng.beta(2, 2, tasks)
    moved = np.clip(base + effect + rng.normal(0, spread, tasks), 0, 1)
    first = {str(t): list(map(float, rng.random(attempts) < base[t])) for t in range(tasks)}
    second = {str(t): list(map(float, rng.random(attempts) < moved[t])) for t in range(tasks)}
    return first, second


def bootstrap_coverage(rng: np.random.Generator, repeats: int) -> None:
    """The same for the difference over tasks; the truth is the mean over many drawn tasks."""
    for effect, spread in ((0.0, 0.0), (0.1, 0.15)):
        base = rng.beta(2, 2, 400_000)
        moved = np.clip(base + effect + rng.normal(0, spread, base.size), 0, 1)
        truth = float(np.mean(moved - base))
        for tasks, attempts in ((3, 3), (6, 3), (12, 10), (30, 3)):
            held = 0
            for _ in range(repeats):
                found = paired_bootstrap_by_task(*draw_pair(rng, tasks, attempts, effect, spread))
                held += found.low <= truth <= found.high
            print(
                f"  {tasks:2} tasks x {attempts:2}, effect {effect:+.2f} ± {spread:.2f}: "
                f"{100 * held / repeats:5.1f} %"
            )


def false_alarms(rng: np.random.Generator, repeats: int) -> None:
    """How often p <= 0.05 where there is nothing; McNemar over attempts, sign flips over tasks."""
    for name, spread in (("no effect on any task", 0.0), ("effects that cancel out", 0.25)):
        over_attempts = over_tasks = 0
        for _ in range(repeats):
            first, second = draw_pair(rng, 12, 10, 0.0, spread)
            pairs = [(a, b) for t in first for a, b in zip(first[t], second[t], strict=True)]
            lost = sum(a > b for a, b in pairs)
            won = sum(b > a for a, b in pairs)
            over_attempts += (mcnemar_exact(lost, won) or 1.0) <= 0.05
            differences = [float(np.mean(second[t]) - np.mean(first[t])) for t in first]
            over_tasks += (sign_flip_p(differences) or 1.0) <= 0.05
        print(
            f"  {name:24} McNemar over attempts {100 * over_attempts / repeats:5.1f} %   "
            f"sign flips over tasks {100 * over_tasks / repeats:5.1f} %"
        )


def promised_power(rng: np.random.Generator, repeats: int) -> None:
    """How often the smallest difference promised before a run is found when it is there."""
    for pairs, rate in ((36, 0.3), (120, 0.5), (300, 0.2)):
        size = mde(pairs, rate)
        first = rng.random((repeats, pairs)) < rate
        second = rng.random((repeats, pairs)) < rate + size
        lost, won = (first & ~second).sum(1), (second & ~first).sum(1)
        found = sum(
            (mcnemar_exact(int(b), int(c)) or 1.0) <= 0.05 for b, c in zip(lost, won, strict=True)
        )
        print(
            f"  {pairs:3} pairs from {100 * rate:.0f} %: smallest difference {100 * size:4.1f} "
            f"points, found {100 * found / repeats:5.1f} % (promised 80 %)"
        )


@cache
def p_of(test: str, b: int, c: int) -> float:
    p = mcnemar_exact(b, c) if test == "mcnemar" else anytime_p(b, c)
    return 1.0 if p is None else p


def one_look(test: str, lost: Sequence[bool], won: Sequence[bool]) -> tuple[str, int]:
    """How an eval ends that looks after every pair, and after how many."""
    b = c = 0
    for n, (is_lost, is_won) in enumerate(zip(lost, won, strict=True), 1):
        b, c = b + int(is_lost), c + int(is_won)
        if p_of(test, b, c) <= 0.05:
            return "found", n
        if test == "anytime" and not can_still_decide(b, c, len(lost) - n):
            return "given up", n
    return "", len(lost)


def looking(rng: np.random.Generator, repeats: int) -> None:
    """Stopping at the first p <= 0.05: errors where nothing is, pairs spent where something is."""
    for rate, changed in ((0.5, 0.5), (0.2, 0.2), (0.5, 0.7), (0.5, 0.8)):
        line = []
        for test in ("mcnemar", "anytime"):
            ends = []
            for _ in range(repeats):
                first, second = rng.random(120) < rate, rng.random(120) < changed
                ends.append(one_look(test, list(first & ~second), list(second & ~first)))
            words = [word for word, _ in ends]
            line.append(
                f"{test}: found {100 * words.count('found') / repeats:5.1f} %, "
                f"{fmean(n for _, n in ends):5.1f} pairs"
                + f", given up {100 * words.count('given up') / repeats:.0f} %"
                * (test == "anytime")
            )
        print(f"  {100 * rate:.0f} % against {100 * changed:.0f} %   " + "   ".join(line))


def main(argv: Sequence[str]) -> int:
    """All five; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the repeats")
    parser.add_argument("--seed", type=int, default=20_261_129)
    given = parser.parse_args(argv)
    rng, scale = np.random.default_rng(given.seed), 10 if given.quick else 1
    for title, part, repeats in (
        (
            "Wilson intervals: how often they hold the true rate (aim 95 %)",
            wilson_coverage,
            100_000,
        ),
        ("Bootstrap over tasks: how often it holds the true difference", bootstrap_coverage, 2_000),
        ("Tests where nothing is to be found (aim 5 % or less)", false_alarms, 2_000),
        ("Smallest difference: how often it is found", promised_power, 20_000),
        ("Looking after every one of 120 pairs", looking, 4_000),
    ):
        print(f"{title}; {repeats // scale:,} repeats")
        part(rng, repeats // scale)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
