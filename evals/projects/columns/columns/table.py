"""Rows to text."""

from columns.widths import widths


def table(rows, gap=2, right=()):
    """The rows as lines, columns `gap` spaces apart; columns whose index is in `right` end flush.

    Rows that are too short are filled with empty cells. No line ends with a space.
    """
    rows = [[str(cell) for cell in row] for row in rows]
    wide = widths(rows)
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, wide)]
        lines.append((" " * gap).join(cells))
    return "\n".join(lines)
