def build_order(needs):
    left = {name: set(before) for name, before in needs.items()}
    for before in needs.values():
        for name in before:
            left.setdefault(name, set())
    order = []
    while left:
        ready = [name for name, before in left.items() if not before]
        if not ready:
            raise ValueError("circle")
        name = min(ready)
        order.append(name)
        del left[name]
        for before in left.values():
            before.discard(name)
    return order
