"""The statistics against independent sources: published examples, statsmodels, other formulas."""

import itertools
import math

import numpy as np
import pytest
from scipy import special
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from agent_loop.stats import (
    anytime_p,
    bootstrap_mean,
    can_still_decide,
    holm,
    mcnemar_exact,
    mde,
    paired_bootstrap_by_task,
    pass_at_k,
    pass_hat_k,
    power,
    sensitivity,
    sign_flip_p,
    wilson,
)
from agent_loop.stats.planning import chance_within, pairs_needed

# Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
NEWCOMBE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("k", "n", "low", "high"), NEWCOMBE)
def test_wilson_is_newcombes_table(k, n, low, high):
    found = wilson(k, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    assert found.value == k / n


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (7, 18), (44, 120), (999, 1000)])
def test_wilson_is_statsmodels_wilson(k, n):
    found = wilson(k, n, confidence=0.9)
    assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, 0.1, "wilson"))


def test_eleven_against_two_is_p_0_022():
    assert round(mcnemar_exact(11, 2), 3) == 0.022
    assert mcnemar_exact(11, 2) == mcnemar_exact(2, 11) == 2 * (1 + 13 + 78) / 2**13


@pytest.mark.parametrize(("b", "c"), [(1, 0), (5, 5), (0, 6), (21, 35), (59, 121), (86, 150)])
def test_mcnemar_is_statsmodels_exact_test(b, c):
    table = [[40, b], [c, 30]]
    assert mcnemar_exact(b, c) == pytest.approx(mcnemar(table, exact=True).pvalue)


def test_without_a_discordant_pair_there_is_no_p_value():
    assert mcnemar_exact(0, 0) is None
    assert sign_flip_p([0.0, 0.0]) is None
    assert sign_flip_p([]) is None


def test_holm_is_the_textbook_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, None, 0.04]) == pytest.approx([0.02, None, 0.04])
    assert holm([None, None]) == [None, None]
    assert holm([]) == []


def test_sign_flips_are_fishers_count_of_darwins_maize():
    # Darwin's fifteen pairs in eighths of an inch; Fisher 1935, "The Design of Experiments",
    # section 21: 863 of 32,768 assignments in each tail, 5.267 % in both.
    maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sign_flip_p(maize) == pytest.approx(2 * 863 / 32768)


def test_one_task_proves_nothing_about_tasks():
    assert sign_flip_p([0.9]) == 1.0
    assert sign_flip_p([0.9] * 5) == 2 / 2**5


def humaneval_pass_at_k(n, c, k):
    """The numerically stable form printed in Chen et al. 2021, figure 3."""
    return 1.0 if n - c < k else 1.0 - float(np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def test_pass_at_k_is_the_humaneval_formula():
    for n, c, k in itertools.product((1, 2, 5, 10, 200), (0, 1, 3, 10, 150), (1, 2, 5, 100)):
        if c <= n and k <= n:
            assert pass_at_k(n, c, k) == pytest.approx(humaneval_pass_at_k(n, c, k)), (n, c, k)
    assert pass_at_k(2, 1, 3) is None
    assert pass_at_k(0, 0, 1) is None


def test_pass_hat_k_counts_the_draws_that_all_pass():
    for n, c, k in [(5, 3, 2), (4, 4, 4), (6, 2, 3), (7, 5, 3)]:
        draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
        assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))
        assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    with pytest.raises(ValueError, match="6 passes in 5"):
        pass_at_k(5, 6, 1)


def enumerated_power(n, p, q):
    """Exact power the long way: every split of n pairs, every test by statsmodels."""
    lost, won = p * (1 - q), q * (1 - p)
    found = 0.0
    for b in range(n + 1):
        for c in range(n - b + 1):
            if b + c and mcnemar([[1, b], [c, 1]], exact=True).pvalue <= 0.05:
                rest = n - b - c
                ways = math.factorial(n) // (
                    math.factorial(b) * math.factorial(c) * math.factorial(rest)
                )
                found += ways * lost**b * won**c * (1 - lost - won) ** rest
    return found


@pytest.mark.parametrize(("n", "p", "q"), [(12, 0.2, 0.8), (18, 0.5, 0.9), (25, 0.4, 0.1)])
def test_power_is_the_sum_over_every_outcome(n, p, q):
    assert power(n, p, q - p) == pytest.approx(enumerated_power(n, p, q))


def test_the_smallest_difference_has_the_power_it_promises():
    for pairs, rate in [(120, 0.5), (60, 0.3), (36, 0.1)]:
        for rise in (True, False):
            size = mde(pairs, rate, rise=rise)
            if size is None:
                continue
            way = size if rise else -size
            assert power(pairs, rate, way) >= 0.8
            assert power(pairs, rate, way * 0.98) < 0.8 + 0.02


def test_few_pairs_can_answer_nothing_and_say_so():
    assert mde(5, 0.5) is None  # the smallest p value of five pairs is 0.0625
    found = sensitivity(tasks=1, attempts=2, baseline=0.5)
    assert (found.gain, found.loss, found.best) == (None, None, 0.0)
    nothing = sensitivity(tasks=0, attempts=3, baseline=0.5)
    assert (nothing.gain, nothing.loss) == (None, None)
    assert pairs_needed(0.5, 0.001) is None
    assert power(pairs_needed(0.5, 0.2), 0.5, 0.2) >= 0.8
    with pytest.raises(ValueError, match="a rate of"):
        power(10, 0.9, 0.2)


def test_the_odds_of_a_rule_on_passes_are_those_of_two_binomials():
    n, p, q, below = 10, 0.6, 0.5, 2
    binom = scipy_stats.binom
    long_way = sum(
        binom.pmf(c, n, p) * binom.pmf(v, n, q)
        for c in range(n + 1)
        for v in range(n + 1)
        if c - v <= below
    )
    assert chance_within(n, p, q - p, most_below=below) == pytest.approx(long_way)


def test_bootstrap_of_nothing_one_value_and_equal_values():
    assert bootstrap_mean([]) is None
    one, same = bootstrap_mean([3.0]), bootstrap_mean([2.0] * 9)
    assert (one.low, one.value, one.high) == (3.0, 3.0, 3.0)
    assert (same.low, same.high) == (2.0, 2.0)


def test_bootstrap_of_many_values_is_near_the_t_interval():
    values = np.random.default_rng(7).normal(10, 2, 200)
    found = bootstrap_mean(list(values))
    wanted = scipy_stats.t.interval(0.95, 199, values.mean(), values.std(ddof=1) / math.sqrt(200))
    assert (found.low, found.high) == pytest.approx(wanted, rel=0.01)
    again = bootstrap_mean(list(values))
    assert found == again  # a report printed twice says the same


def test_tasks_are_drawn_not_attempts():
    # One task with a thousand attempts weighs as much as one with two.
    first = {"a": [0.0] * 1000, "b": [1.0, 1.0], "only here": [1.0]}
    second = {"a": [1.0] * 1000, "b": [1.0, 1.0], "empty": []}
    found = paired_bootstrap_by_task(first, second)
    assert found.value == 0.5
    assert (found.low, found.high) == (0.0, 1.0)
    assert paired_bootstrap_by_task({"a": []}, {"a": [1.0]}) is None


def test_the_p_value_for_any_time_is_the_beta_mixture():
    for b, c in [(0, 0), (1, 0), (11, 2), (40, 12), (500, 400)]:
        evidence = special.betaln(b + 0.5, c + 0.5) - special.betaln(0.5, 0.5)
        evidence += (b + c) * math.log(2)
        assert anytime_p(b, c) == pytest.approx(min(1.0, math.exp(-evidence)))
    assert anytime_p(11, 2) > mcnemar_exact(11, 2)  # the price of looking at any time
    with pytest.raises(ValueError, match="-1"):
        anytime_p(-1, 0)


def test_what_cannot_be_decided_any_more_is_known():
    assert not can_still_decide(0, 0, 6)
    assert can_still_decide(0, 0, 8)
    assert not can_still_decide(10, 10, 5)
    assert can_still_decide(11, 0, 0)


@pytest.mark.parametrize("peeks", ["anytime", "mcnemar"])
def test_looking_after_every_pair_is_safe_with_one_of_the_two(peeks):
    """The control: looking at McNemar's p after every pair finds what is not there."""
    rng = np.random.default_rng(3)
    lost = np.cumsum(rng.integers(0, 2, (400, 80)), axis=1)
    test = {"anytime": anytime_p, "mcnemar": lambda b, c: mcnemar_exact(b, c) or 1.0}[peeks]
    known = {}
    alarms = 0
    for row in lost:
        for n, b in enumerate(row, 1):
            key = (int(b), n - int(b))
            known[key] = known.get(key) or test(*key)
            if known[key] <= 0.05:
                alarms += 1
                break
    rate = alarms / len(lost)
    assert (rate <= 0.05) if peeks == "anytime" else (rate > 0.12)
