# ruff: noqa: E501
"""Research runs from end to end: laps, faults, kills, frozen searches, the command line."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_loop.assemble.research import PAPERS, ResearchDesk, shared_dir
from agent_loop.cli.main import main
from agent_loop.errors import SearchUnavailable, TaskFileError
from agent_loop.ports import SystemClock
from agent_loop.procs import start
from agent_loop.research import frozen
from agent_loop.research.pace import Pace
from agent_loop.store import RunStore, read_trace
from agent_loop.tasks import ResearchTask
from tests.fakes.arxiv_server import Answer, FakeArxiv, entry, feed
from tests.fakes.research_run import THREAD, run

ROOT = Path(__file__).resolve().parents[2]
FEED = Answer(
    feed(
        entry(
            "2401.00001v2",
            "We study experts in depth. Balancing their load remains open in all cases.",
        )
    )
)


def test_a_wrong_lap_then_a_right_one_and_its_files(tmp_path):
    fake = FakeArxiv(FEED)
    with fake.serving() as url:
        result = run(tmp_path, url)
    assert result.outcome == "passed"
    assert len(fake.asked) == 1
    laps = result.record["laps"]
    assert [lap["passed"] for lap in laps] == [False, True]
    assert "the number '90%'" in laps[0]["result"]
    folder = tmp_path / "runs" / THREAD
    assert "“Balancing their load remains open in all cases.”" in (folder / "answer.md").read_text()
    assert (
        "<mark>Balancing their load remains open in all cases.</mark>"
        in (folder / "answer.html").read_text()
    )
    assert "eprint = {2401.00001v2}" in (folder / "answer.bib").read_text()
    assert frozen.load(folder / PAPERS).query == "all:open"
    certificate = json.loads((folder / "certificate.json").read_text())
    assert certificate["isolation"] == "citations"


def test_a_fault_of_arxiv_costs_no_lap_and_is_resumable(tmp_path):
    fake = FakeArxiv(Answer(b"<html>log in</html>", type="text/html"))
    with fake.serving() as url:
        broken = run(tmp_path, url)
        assert broken.outcome == "error"
        assert "text/html (a proxy, a login page?)" in broken.reason
        assert broken.record["laps"] == []
        assert broken.record["rejections"] == 0
        fake.answers = [FEED]
        mended = run(tmp_path, url)
    assert mended.outcome == "passed"
    asked = [
        e["role"]
        for e in read_trace(tmp_path / "runs" / THREAD / "trace.jsonl")
        if e["kind"] == "model_asked"
    ]
    assert asked.count("lead") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.parametrize(("dies", "worker_calls"), [("cache", 2), ("papers", 2), ("check", 2)])
def test_a_kill_in_search_or_check_goes_on_without_a_second_request(tmp_path, dies, worker_calls):
    fake = FakeArxiv(FEED)
    with fake.serving() as url:
        with start(
            [sys.executable, "-m", "tests.fakes.research_run", str(tmp_path), url, dies], cwd=ROOT
        ) as child:
            assert child.wait(60) == -9
        assert len(fake.asked) == 1
        assert run(tmp_path, url).outcome == "passed"
    assert len(fake.asked) == 1
    events = read_trace(tmp_path / "runs" / THREAD / "trace.jsonl")
    asked = [e["role"] for e in events if e["kind"] == "model_asked"]
    assert (asked.count("lead"), asked.count("worker")) == (1, worker_calls)


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_kill_before_the_answer_came_asks_once_more(tmp_path):
    """The control: what never arrived has to be asked for again."""
    fake = FakeArxiv(Answer(FEED.body, stall_s=30), FEED)
    with fake.serving() as url:
        with start(
            [sys.executable, "-m", "tests.fakes.research_run", str(tmp_path), url], cwd=ROOT
        ) as child:
            while not fake.asked:
                assert child.poll() is None
            child.kill()
        assert run(tmp_path, url).outcome == "passed"
    assert len(fake.asked) == 2


def desk(tmp_path, **more):
    task = ResearchTask(name="r", task="?", query="all:open", **more)

    def never():
        raise AssertionError("a frozen search asks nobody")

    return ResearchDesk(task, tmp_path / "run", client=never, clock=SystemClock())


def kept(tmp_path):
    fake = FakeArxiv(FEED)
    with fake.serving() as url:
        run(tmp_path / "first", url)
    return tmp_path / "first" / "runs" / THREAD / PAPERS


def test_a_frozen_search_asks_nobody_and_may_be_cut(tmp_path):
    made = desk(tmp_path, papers=kept(tmp_path), max_papers=1)
    assert len(made.papers().papers) == 1
    assert "[S2] Balancing their load" in made.step.run({})["material"]


def test_a_bad_frozen_search_is_refused_before_anything_is_asked(tmp_path):
    path = kept(tmp_path)
    path.write_text(path.read_text().replace("remains open", "is solved"))
    with pytest.raises(TaskFileError, match="its hash differs"):
        desk(tmp_path, papers=path)


def test_papers_of_a_run_that_were_changed_are_a_fault(tmp_path):
    path = kept(tmp_path)
    made = desk(tmp_path, papers=path)
    made.papers()
    own = tmp_path / "run" / PAPERS
    own.write_text(own.read_text().replace("remains open", "is solved"))
    with pytest.raises(SearchUnavailable, match="its hash differs"):
        made.papers()


# --- the command line ------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "replies.yaml").write_text(
        "lead: [plan]\nworker: ['Judges choose the first. [S13]', 'It is so. [S13]']\nreviewer: [APPROVED, APPROVED]\n"
    )
    return tmp_path


def loop(*argv):
    return main([str(arg) for arg in argv], {})


MODELS = ("--model", "all=scripted:replies.yaml")


def test_a_task_with_frozen_papers_runs_verifies_and_replays_offline(place, capsys):
    task = ROOT / "tasks" / "judge_bias.yaml"
    assert loop(task, "--thread", "one", *MODELS) == 0
    assert loop("--verify", "one") == 0
    assert loop("--replay", "one", "--thread", "two") == 0
    one, two = (RunStore(place / "runs").read_record(name) for name in ("one", "two"))
    assert one["answer"] == two["answer"]
    assert "isolation: citations" in capsys.readouterr().out


def test_other_papers_under_a_pass_are_noticed(place, capsys):
    assert loop(ROOT / "tasks" / "judge_bias.yaml", "--thread", "one", *MODELS) == 0
    path = place / "runs" / "one" / PAPERS
    search = frozen.load(path)
    forged = replace(search.papers[0], abstract="Anything at all was proven by us here.")
    frozen.save(path, replace(search, papers=(forged, *search.papers[1:])))
    capsys.readouterr()
    assert loop("--verify", "one") == 1
    assert "or other papers were read" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ssm_moe", "judge_bias", "faithful_quotes"])
def test_the_tasks_that_come_with_it_can_be_read(name):
    from agent_loop import tasks

    task = tasks.load(ROOT / "tasks" / f"{name}.yaml")
    assert task.kind == "research"
    if task.papers:
        assert frozen.load(task.papers, query=task.query).papers


def test_a_server_elsewhere_is_refused_before_a_model_is_asked(place, capsys):
    (place / "t.yaml").write_text(
        "type: research\ntask: x\nquery: 'all:x'\nbase_url: 'https://example.org'\n"
    )
    assert loop("t.yaml", "--thread", "one", *MODELS) == 2
    assert "is no server of arXiv" in capsys.readouterr().err
    assert not (place / "runs" / "one" / "trace.jsonl").exists()


def test_all_searches_of_a_user_share_one_folder(tmp_path):
    assert shared_dir({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, tmp_path) == Path(
        "/x/agent-loop/arxiv"
    )
    assert shared_dir({"HOME": "/h", "XDG_CACHE_HOME": "here"}, tmp_path) == Path(
        "/h/.cache/agent-loop/arxiv"
    )
    assert shared_dir({}, tmp_path) == tmp_path / "arxiv"


def test_a_folder_that_cannot_be_made_is_a_fault(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(SearchUnavailable, match="XDG_CACHE_HOME"),
        Pace(tmp_path / "file" / "x", SystemClock()).turn(),
    ):
        pass


def test_freezing_needs_a_research_task(place, capsys):
    (place / "t.yaml").write_text("task: x\ntests: ['assert f() == 1']\n")
    assert loop("t.yaml", "--freeze", "p.json") == 2
    assert "--freeze is for research tasks" in capsys.readouterr().err
    assert loop("--freeze", "p.json") == 2


def test_frozen_by_the_command_and_used_by_a_task(place, capsys):
    fake = FakeArxiv(FEED)
    with fake.serving() as url:
        task = f"type: research\ntask: x\nquery: 'all:{place.name}'\n"
        (place / "t.yaml").write_text(f"{task}base_url: '{url}'\n")
        assert loop("t.yaml", "--freeze", "p.json") == 0
        (place / "u.yaml").write_text(f"{task}papers: p.json\n")
    (place / "replies.yaml").write_text(
        "lead: [plan]\nworker: ['Open. [S2]']\nreviewer: [APPROVED]\n"
    )
    assert loop("u.yaml", "--thread", "one", *MODELS) == 0
    assert len(fake.asked) == 1
