from columns import table
from columns.widths import widths


def test_an_empty_row_is_an_empty_line():
    assert table([["a", "b"], [], ["c", "d"]]) == "a  b\n\nc  d"
    assert widths([[], []]) == []


def test_short_rows_and_flush_columns():
    assert table([["x", "1", "z"], ["yy"], ["w", "22"]], right=(1,)) == "x    1  z\nyy\nw   22"
