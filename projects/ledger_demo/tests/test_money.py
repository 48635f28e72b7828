import pytest

from ledger import Money


@pytest.mark.parametrize(("text", "cents"), [("12.34", 1234), ("7", 700), ("0.5", 50), ("-3.00", -300)])
def test_parse(text, cents):
    assert Money.parse(text) == Money(cents)


@pytest.mark.parametrize(("text", "cents"), [("-0.50", -50), ("-12.34", -1234)])
def test_parse_negative_amounts_with_cents(text, cents):
    assert Money.parse(text) == Money(cents)


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "1.234", "1,5"])
def test_parse_refuses(text):
    with pytest.raises(ValueError):
        Money.parse(text)


def test_text_of_positive_amounts():
    assert str(Money(1234)) == "12.34"
    assert str(Money(5)) == "0.05"


def test_text_of_negative_amounts():
    assert str(Money(-50)) == "-0.50"
    assert str(Money(-1234)) == "-12.34"


def test_split_adds_up():
    assert Money(100).split(3) == [Money(34), Money(33), Money(33)]
