class MinStack:
    def __init__(self):
        self._items = []

    def push(self, x):
        self._items.append(x)

    def pop(self):
        return self._items.pop()

    def peek(self):
        return self._items[-1]

    def minimum(self):
        if not self._items:
            raise IndexError("empty")
        return min(self._items)

    def __len__(self):
        return len(self._items)
