import pytest

from duration import parse, show


@pytest.mark.parametrize(("text", "seconds"), [("45s", 45), ("2m", 120), ("90", 90), ("1d", 86400)])
def test_one_unit(text, seconds):
    assert parse(text) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("1h30m", 5400), ("1d2h3m4s", 93784), ("2m5s", 125)]
)
def test_several_units_add_up(text, seconds):
    assert parse(text) == seconds


@pytest.mark.parametrize("text", ["", "abc", "5x", "1h-30m", "h", "1h 30m"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError):
        parse(text)


@pytest.mark.parametrize("text", ["30m1h", "1h1h", "5s2d"])
def test_units_out_of_order_are_refused(text):
    with pytest.raises(ValueError):
        parse(text)


def test_show():
    assert show(5400) == "1h30m"
    assert show(0) == "0s"
