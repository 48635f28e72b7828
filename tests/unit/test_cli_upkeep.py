"""`--fork` and `--prune` at the command line: what they say, what they refuse."""

import json
from pathlib import Path

import pytest

from agent_loop.cli.main import main
from agent_loop.cli.options import read
from agent_loop.errors import UserError
from agent_loop.graph import drive
from agent_loop.store import RunStore
from tests.fakes.runs import RIGHT, job, parts, wrong

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = RunStore(tmp_path / "runs")
    made = parts([wrong(1), wrong(2), RIGHT])
    assert drive.start("old", job(), made, store).outcome == "passed"
    return store


@pytest.mark.parametrize(
    "argv",
    [
        ["--fork", "old"], ["--fork", "old@"], ["--fork", "old@x"], ["--fork", "@3"],
        ["--fork", "a/b@3"], ["--fork", "old@99999999999"], ["--fork", "old@1", "--list"],
        ["--guidance", "x"], ["--yes"], ["--keep-mib", "3"], ["--prune", "--keep-mib", "-1"],
        ["--prune", "--show", "old"], ["--fork", "old@1", "t.yaml"], ["--fork", "old@1", "--cap"],
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(argv):
    with pytest.raises((UserError, SystemExit)) as refused:
        read(argv)
    assert getattr(refused.value, "exit_code", None) == 2 or refused.value.code == 2


def test_an_unknown_step_lists_those_there_are(there, capsys):
    assert main(["--fork", "old@77"], {}) == 2
    said = capsys.readouterr().err
    assert "before worker in lap 1" in said
    assert "Traceback" not in said


def test_the_end_of_a_run_needs_a_word(there, capsys):
    last = max(int(p.split(":")[0]) for p in steps_of(there))
    assert main(["--fork", f"old@{last}"], {}) == 2
    assert "--guidance" in capsys.readouterr().err


def steps_of(store):
    from agent_loop.graph.fork import steps

    return [past.words for past in steps(store, "old")]


def test_prune_says_first_and_does_it_when_told(there, capsys):
    assert main(["--prune"], {}) == 0
    said = capsys.readouterr().out
    assert "Nothing was changed" in said
    assert "old" in said
    assert main(["--prune", "--yes"], {}) == 0
    assert "before" in capsys.readouterr().out
    assert main(["--prune", "--json"], {}) == 0
    fields = json.loads(capsys.readouterr().out)
    assert (fields["done"], fields["freed_bytes"]) == (False, 0)


def test_prune_without_a_database(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["--prune", "--yes"], {}) == 0
    assert "not there" in capsys.readouterr().out
    assert not (tmp_path / "runs").exists()


QUOTE = "“{quote}” [arXiv:{id}]"


def script(path, **roles):
    path.write_text(json.dumps(roles), encoding="utf-8")
    return f"--model=all=scripted:{path}"


def test_a_research_run_is_forked_from_the_command_line(tmp_path, monkeypatch, capsys):
    """With the real check, another worker, and the old run's papers: nothing is searched again."""
    monkeypatch.chdir(tmp_path)
    papers = json.loads((ROOT / "tasks/papers/judge_bias.json").read_text(encoding="utf-8"))
    paper = papers["search"]["papers"][0]
    words = " ".join(paper["abstract"].split()[:9])
    wrong_words = script(
        tmp_path / "wrong.json", lead=["1. quote"], reviewer=["REJECTED"] * 3,
        worker=[QUOTE.format(quote=f"{words} {n} never", id=paper["id"]) for n in ("a", "b", "c")],
    )  # fmt: skip
    task = str(ROOT / "tasks/judge_bias.yaml")
    assert main([task, "--thread", "old", "--max-pauses", "0", "--quiet", wrong_words], {}) == 1
    before = (tmp_path / "runs/old.json").read_bytes()
    assert main(["--fork", "old@99"], {}) == 2
    said = capsys.readouterr().err
    step = said.split(": before worker in lap 1")[0].split()[-1]
    right = script(
        tmp_path / "right.json", lead=["x"] * 9, reviewer=["x"] * 9 + ["APPROVED"],
        worker=["x"] + [QUOTE.format(quote=words, id=paper["id"])] * 3,
    )  # fmt: skip
    code = main(["--fork", f"old@{step}", "--thread", "new", "--quiet", right], {})
    said = capsys.readouterr()
    assert code == 0, said.out + said.err
    assert json.loads((tmp_path / "runs/new.json").read_text())["forked"] == f"old@{step}"
    assert (tmp_path / "runs/new/papers.json").exists()
    assert (tmp_path / "runs/old.json").read_bytes() == before
