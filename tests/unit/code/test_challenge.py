"""Runs that must fail: liars and guessers do not get through, honest code does."""

import random

from agent_loop.checks.code.challenge import challenge
from agent_loop.checks.code.reading import Reading
from agent_loop.checks.code.twins import referee_twins, twins_of

REAL = "real"
TWINS = {0: [["a1", "a2"]], 1: [["b1"], ["c1"]]}


def test_honest_code_fails_a_twin_of_each_group() -> None:
    shown = challenge(lambda tests: tests in (REAL, "a1"), REAL, TWINS)
    assert (shown.passed, shown.count, shown.steady) == ((), 2, True)


def test_a_liar_passes_the_twins_too() -> None:
    assert challenge(lambda _tests: True, REAL, TWINS).passed == (0, 1)
    assert challenge(lambda tests: tests != "a1", REAL, TWINS).passed == (1,)


def test_a_guesser_is_found_out_by_the_rounds() -> None:
    rng, twins = random.Random(7), {0: [["twin"]]}
    shown = [challenge(lambda _tests: rng.random() < 0.5, REAL, twins) for _ in range(2000)]
    without_rounds = [one for one in shown if not one.passed]
    believed = [one for one in without_rounds if one.steady]
    assert len(without_rounds) > 900  # the control: half of them would be believed
    assert len(believed) < 60


def texts(test: str, make) -> list[str]:
    return [text for groups in make(Reading.of(test), test) for group in groups for text in group]


def test_a_twin_looks_like_any_test() -> None:
    assert texts("assert f(9) == 'IX'", twins_of) == ["assert f(9) == 'IXX'"]
    assert texts("assert 'XL' in f(44)", twins_of)[:2] == [
        "assert 'XLXLL' in f(44)",
        "assert 'XX' in f(44)",
    ]
    assert texts("assert abs(f(1) - 4.5) < 1e-9", twins_of) == ["assert abs(f(1) - 1778.0) < 1e-9"]


def test_a_negated_twin_looks_like_any_test_too() -> None:
    assert texts("assert f(1).ok", twins_of) == ["assert not f(1).ok"]
    assert texts("assert not f(1)", twins_of) == ["assert (f(1))"]
    assert texts("assert f(1) is None", twins_of) == ["assert f(1) is not None"]
    assert texts("assert f(1) or f(2)", twins_of) == ["assert not (f(1) or f(2))"]
    assert texts("assert (f(1) or\n f(2))", twins_of) == ["assert (not (f(1) or\n f(2)))"]


def test_what_is_less_must_not_be_more_as_well() -> None:
    assert texts("assert V(1) < V(2)", referee_twins) == ["assert V(2) < V(1)"]
    assert texts("assert V(1) + V(2) == V(3)", referee_twins) == ["assert V(1) + V(2) == V(4)"]
    assert texts("assert a == b", referee_twins) == []
