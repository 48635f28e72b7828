import pytest

from logstat.cli import main

LOG = """\
2026-01-01T09:00:00 INFO started
2026-01-01T09:30:00 DEBUG reading settings
2026-01-02T10:00:00 WARNING disk is nearly full
this line is none
2026-01-02T10:05:00 ERROR disk is full
2026-01-03T10:00:00 WARNING disk is nearly full
2026-01-03T11:00:00 INFO a late start
2026-01-03T12:00:00 INFO started
2026-01-03T13:00:00 INFO a late start
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "app.log"
    path.write_text(LOG, encoding="utf-8")
    return str(path)


def run(capsys, *arguments):
    code = main(list(arguments))
    return code, capsys.readouterr().out.splitlines()


def test_counts_by_level(capsys, log):
    code, rows = run(capsys, log)
    assert code == 0
    assert rows == ["debug        1", "info         4", "warning      2", "error        1"]


def test_level_means_this_one_and_above(capsys, log):
    assert run(capsys, log, "--level", "warning")[1] == ["warning      2", "error        1"]
    assert run(capsys, log, "--level", "error")[1] == ["error        1"]


def test_since_takes_in_the_day(capsys, log):
    assert run(capsys, log, "--since", "2026-01-03")[1] == ["info         3", "warning      1"]


def test_equally_frequent_messages_in_alphabetical_order(capsys, log):
    assert run(capsys, log, "--top", "2")[1] == ["     2  a late start", "     2  disk is nearly full"]


def test_no_line_left(capsys, log):
    assert run(capsys, log, "--since", "2027-01-01") == (1, [])


def test_a_missing_file(capsys, tmp_path):
    assert main([str(tmp_path / "none.log")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_bad_options():
    with pytest.raises(SystemExit) as raised:
        main(["x.log", "--level", "loud"])
    assert raised.value.code == 2
