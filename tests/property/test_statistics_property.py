"""What must hold of the statistics for every input."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.evals.render_markdown import comparison_markdown, report_markdown
from agent_loop.stats import (
    anytime_p,
    bootstrap_mean,
    holm,
    mcnemar_exact,
    pass_at_k,
    pass_hat_k,
    sign_flip_p,
    wilson,
)
from agent_loop.stats.budget import Spending, success_by
from agent_loop.stats.compare import compare
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import as_json, parse_report
from tests.fakes.reports import outcomes

COUNTS = st.integers(0, 300)
SIGNS = st.dictionaries(
    st.text(min_size=1, max_size=12),
    st.text("PF- ", min_size=1, max_size=5),
    min_size=1,
    max_size=6,
)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate_and_stays_between_0_and_1(pair):
    k, n = pair
    found, turned = wilson(k, n), wilson(n - k, n)
    assert -1e-12 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1 + 1e-12
    assert abs(found.low - (1 - turned.high)) < 1e-9


@given(st.integers(0, 60), st.data())
def test_pass_at_k_grows_with_k_and_pass_hat_k_falls(n, data):
    c = data.draw(st.integers(0, n))
    at = [pass_at_k(n, c, k) for k in range(1, n + 1)]
    hat = [pass_hat_k(n, c, k) for k in range(1, n + 1)]
    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    assert all(low <= high for low, high in zip(hat, at, strict=True))


@given(COUNTS, COUNTS)
def test_p_values_are_even_handed_and_looking_costs_something(b, c):
    assert mcnemar_exact(b, c) == mcnemar_exact(c, b)
    assert anytime_p(b, c) == anytime_p(c, b)
    if b + c:
        assert 0 <= mcnemar_exact(b, c) <= min(1.0, anytime_p(b, c) + 1e-9) <= 1


@settings(max_examples=20, deadline=None)  # statsmodels collects garbage at every call
@given(st.lists(st.none() | st.floats(0, 1), max_size=12))
def test_holm_only_raises_and_keeps_the_order(ps):
    found = holm(ps)
    for before, after in zip(ps, found, strict=True):
        assert (before is None) == (after is None)
        assert before is None or before - 1e-12 <= after <= 1
    known = sorted((p, q) for p, q in zip(ps, found, strict=True) if p is not None)
    assert [q for _, q in known] == sorted(q for _, q in known)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), max_size=9))
def test_a_bootstrap_holds_the_mean_and_stays_among_the_values(values):
    found = bootstrap_mean(values)
    if not values:
        assert found is None
        return
    room = 1e-9 * (1 + max(map(abs, values)))
    assert min(values) - room <= found.low <= found.value + room
    assert found.value - room <= found.high <= max(values) + room


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([-0.5, 0.0, 0.25, 1.0]), max_size=8))
def test_flipping_all_signs_changes_no_p_value(differences):
    found = sign_flip_p(differences)
    assert found == sign_flip_p([-d for d in differences])
    assert found is None or 0 < found <= 1


@given(st.lists(st.tuples(st.none() | st.integers(1, 50), st.integers(1, 60)), max_size=40))
def test_a_curve_never_falls(rows):
    points = success_by([Spending(passed_at=p, used=max(p or 1, u)) for p, u in rows])
    counts = [point.passed for point in points]
    assert counts == sorted(counts)
    assert not rows or counts[-1] == sum(p is not None for p, _ in rows)


@settings(max_examples=15, deadline=None)
@given(SIGNS, SIGNS)
def test_every_pair_of_reports_can_be_written_read_compared_and_said(first, second):
    reports = [outcomes("first", first), outcomes("second", second)]
    for report in reports:
        read = parse_report(as_json(report).encode("utf-8", "replace"), where="x")
        assert len(read.attempts) == len(report.attempts)
        assert "nan %" not in report_markdown(report).lower()
    comparison = compare([arm_of(report) for report in reports])
    counts = comparison.pairs[0].counts
    judged = [sum(r.passed is not None for r in report.attempts) for report in reports]
    assert counts.pairs <= min(judged)
    assert comparison.pairs[0].left_out == sum(judged) - 2 * counts.pairs
    text = comparison_markdown(comparison)
    json.dumps(text)
    for arm in comparison.arms:
        assert (arm.rate is None) == (arm.judged == 0)
