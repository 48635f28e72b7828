from columns import table
from columns.widths import widths


def test_columns_are_aligned():
    assert table([["a", "bbb"], ["cc", "d"]]).splitlines()[0] == "a   bbb"


def test_no_line_ends_with_a_space():
    assert table([["a", "bbb"], ["cc", "d"]]) == "a   bbb\ncc  d"


def test_short_rows_are_filled():
    assert widths([["a"], ["bb", "ccc"]]) == [2, 3]
    assert table([["a"], ["bb", "ccc"]]) == "a\nbb  ccc"


def test_numbers_can_end_flush():
    assert table([["n", "7"], ["total", "120"]], right=(1,)) == "n        7\ntotal  120"


def test_gap():
    assert table([["a", "b"]], gap=1) == "a b"


def test_no_rows():
    assert table([]) == ""
