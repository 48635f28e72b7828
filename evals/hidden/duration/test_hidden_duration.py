import pytest

from duration import parse, show


@pytest.mark.parametrize("seconds", [1, 59, 60, 3599, 86400, 93784, 10**7])
def test_back_and_forth(seconds):
    assert parse(show(seconds)) == seconds


@pytest.mark.parametrize("text", ["1h30", "m5", "1s1m", "1.5h"])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError):
        parse(text)


def test_spaces_around_are_ignored():
    assert parse("  2m5s ") == 125
