import pytest

from stock import OutOfStock, Shelf


@pytest.fixture
def shelf():
    made = Shelf()
    made.add("bolt", 10)
    return made


def test_adding(shelf):
    shelf.add("bolt", 5)
    assert shelf.there("bolt") == 15
    assert shelf.there("nut") == 0


def test_reserved_items_are_not_free(shelf):
    shelf.reserve("bolt", 4)
    assert shelf.there("bolt") == 10
    assert shelf.free("bolt") == 6


def test_nobody_is_promised_what_others_were(shelf):
    shelf.reserve("bolt", 7)
    with pytest.raises(OutOfStock):
        shelf.reserve("bolt", 4)
    assert shelf.free("bolt") == 3


def test_taking_leaves_reserved_items(shelf):
    shelf.reserve("bolt", 8)
    with pytest.raises(OutOfStock):
        shelf.take("bolt", 3)
    assert shelf.there("bolt") == 10
    shelf.take("bolt", 2)
    assert shelf.there("bolt") == 8


def test_releasing_more_than_was_reserved_is_refused(shelf):
    shelf.reserve("bolt", 2)
    with pytest.raises(ValueError):
        shelf.release("bolt", 3)
    assert shelf.free("bolt") == 8


def test_shipping(shelf):
    shelf.reserve("bolt", 3)
    shelf.ship("bolt", 2)
    assert shelf.there("bolt") == 8
    assert shelf.free("bolt") == 7
