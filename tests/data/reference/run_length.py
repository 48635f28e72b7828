import itertools


def encode(text):
    return [(char, len(list(run))) for char, run in itertools.groupby(text)]


def decode(pairs):
    return "".join(char * count for char, count in pairs)
