"""What is on the shelf, and what is promised to somebody."""


class OutOfStock(Exception):
    """There is not enough of an item."""


class Shelf:
    """Counts items by name. Reserved items are there, but not free."""

    def __init__(self):
        self._there = {}
        self._reserved = {}

    def add(self, item, count):
        if count <= 0:
            raise ValueError("count must be positive")
        self._there[item] = self._there.get(item, 0) + count

    def there(self, item):
        return self._there.get(item, 0)

    def free(self, item):
        """How many can still be reserved or taken."""
        return self._there.get(item, 0)

    def reserve(self, item, count):
        """Promise `count` of an item; OutOfStock when fewer are free."""
        if count > self.there(item):
            raise OutOfStock(item)
        self._reserved[item] = self._reserved.get(item, 0) + count

    def release(self, item, count):
        """Take a promise back; ValueError when fewer are reserved."""
        self._reserved[item] -= count

    def take(self, item, count):
        """Take free items away; OutOfStock when fewer are free, and nothing changes."""
        self._there[item] = self._there.get(item, 0) - count
        if self._there[item] < 0:
            raise OutOfStock(item)

    def ship(self, item, count):
        """Take reserved items away; ValueError when fewer are reserved."""
        self.release(item, count)
        self._there[item] -= count
