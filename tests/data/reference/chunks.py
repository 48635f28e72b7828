import itertools


def chunks(items, size):
    if size < 1:
        raise ValueError(size)
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk
