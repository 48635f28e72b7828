"""How wide things are."""


def widths(rows):
    """The width of every column: its longest cell. Rows may have different lengths."""
    return [max(len(cell) for cell in column) for column in zip(*rows)]
