import pytest

from stock import OutOfStock, Shelf


def test_unknown_items():
    shelf = Shelf()
    with pytest.raises(OutOfStock):
        shelf.take("nut", 1)
    assert shelf.there("nut") == 0
    with pytest.raises(ValueError):
        shelf.release("nut", 1)
    with pytest.raises(ValueError):
        shelf.ship("nut", 1)


def test_shipping_too_many_changes_nothing():
    shelf = Shelf()
    shelf.add("bolt", 5)
    shelf.reserve("bolt", 2)
    with pytest.raises(ValueError):
        shelf.ship("bolt", 3)
    assert (shelf.there("bolt"), shelf.free("bolt")) == (5, 3)
