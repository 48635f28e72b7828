from logstat.cli import main

LOG = """\
2026-05-01T00:00:00 ERROR b
2026-05-02T00:00:00 INFO c
2026-05-02T00:00:00 DEBUG a
2026-05-03T00:00:00 INFO b
2026-05-03T00:00:00 WARNING a
"""


def run(tmp_path, capsys, *arguments):
    path = tmp_path / "other.log"
    path.write_text(LOG, encoding="utf-8")
    return main([str(path), *arguments]), capsys.readouterr().out.split()


def test_info_and_above(tmp_path, capsys):
    assert run(tmp_path, capsys, "--level", "info") == (0, "info 2 warning 1 error 1".split())


def test_top_and_since(tmp_path, capsys):
    assert run(tmp_path, capsys, "--top", "3") == (0, "2 a 2 b 1 c".split())
    assert run(tmp_path, capsys, "--since", "2026-05-03") == (0, "info 1 warning 1".split())


def test_nothing_left(tmp_path, capsys):
    assert run(tmp_path, capsys, "--level", "error", "--since", "2026-05-02")[0] == 1
