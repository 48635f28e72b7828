"""The runner of evals: one row for each attempt, whatever stops it and however it goes on."""

import json
import random
import signal
import sys
import threading
import time

import pytest
import yaml

from agent_loop.assemble.stopping import Stopper
from agent_loop.errors import ReportError, SandboxUnavailable, ThreadError, UserError
from agent_loop.evals.main import main
from agent_loop.store.reports import find_report
from tests.fakes.evaluated import (
    bare_report,
    context,
    dies_writing,
    evaluate,
    keys_of,
    kill_until,
    make_suite,
    report_of,
    settings,
    with_status,
)

FAST = ("--controls", "0")


def all_keys(names="abcd", attempts=3):
    return [(name, n) for name in names for n in range(1, attempts + 1)]


def test_one_row_for_each_attempt(tmp_path):
    make_suite(tmp_path, laps=1, never=("c",))
    code, said = evaluate(tmp_path, "--attempts", "2", *FAST)
    report = report_of(tmp_path)
    assert code == 0
    assert report.finished
    assert keys_of(report) == all_keys(attempts=2)
    passed = {row.task: row.passed for row in report.attempts}
    assert passed == {"a": True, "b": True, "c": False, "d": True}
    row = report.attempts[0]
    assert (row.laps, row.outcome) == (2, "passed")
    assert [point.passed for point in row.lap_curve] == [False, True]
    assert row.tokens.input > 0
    assert row.lap_curve[-1].tokens == row.tokens.input + row.tokens.output
    assert row.patch == "def a():\n    return 1\n" or "return 1" in row.patch
    assert (tmp_path / "runs" / row.record).is_file()
    assert (tmp_path / "runs" / row.trace).stat().st_size > 0
    assert "6 of 8 attempts passed" in said


def test_a_finished_report_is_left_as_it_is(tmp_path):
    make_suite(tmp_path)
    evaluate(tmp_path, "--attempts", "1", *FAST)
    before = find_report(tmp_path / "runs", "x").read_bytes()
    code, said = evaluate(tmp_path, "--attempts", "1", *FAST)
    assert (code, "nothing to do" in said) == (0, True)
    code, said = evaluate(tmp_path, "--attempts", "1", "--json", *FAST)
    assert json.loads(said.splitlines()[0])["finished"] is True
    assert find_report(tmp_path / "runs", "x").read_bytes() == before


def test_attempts_and_tasks_may_grow(tmp_path):
    make_suite(tmp_path)
    evaluate(tmp_path, "--attempts", "1", "--only", "a,b", *FAST)
    first = report_of(tmp_path).attempts
    evaluate(tmp_path, "--attempts", "3", *FAST)
    report = report_of(tmp_path)
    assert keys_of(report) == all_keys()
    assert report.finished
    assert [row for row in report.attempts if row in first] == list(first)


def test_errored_rows_are_made_again_and_nothing_else(tmp_path):
    make_suite(tmp_path)
    evaluate(tmp_path, "--attempts", "2", *FAST)
    whole = bare_report(tmp_path)
    with_status(tmp_path, "running", "b", 2)
    with_status(tmp_path, "budget", "d", 1)
    _, said = evaluate(tmp_path, "--attempts", "2", *FAST)
    assert bare_report(tmp_path) == whole
    assert "b 2: passed" in said
    assert "d 1: passed" in said
    assert "a 1" not in said


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"rejection_cap": 5}, "rejection_cap was 3 and is 5"),
        ({"prompt_variants": ("no_plan",)}, "prompt_variants was"),
        ({"models": {"lead": "scripted:x", "worker": "scripted:y", "reviewer": "scripted:z"}},
         "models.worker was"),
    ],
)  # fmt: skip
def test_changed_settings_are_refused_by_name(tmp_path, change, names):
    make_suite(tmp_path)
    evaluate(tmp_path, "--attempts", "1", *FAST)
    with pytest.raises(ReportError, match="another experiment") as caught:
        evaluate(tmp_path, "--attempts", "2", *FAST, config=settings(tmp_path, **change))
    assert names in str(caught.value)
    assert len(report_of(tmp_path).attempts) == 4


def test_a_changed_task_is_refused_by_name(tmp_path):
    folder = make_suite(tmp_path)
    evaluate(tmp_path, "--attempts", "1", *FAST)
    with (folder / "c.yaml").open("a") as file:
        file.write(" ")
    with pytest.raises(ReportError, match="task c is another"):
        evaluate(tmp_path, "--attempts", "2", *FAST)


def test_the_budget_stops_at_a_node_and_more_of_it_goes_on(tmp_path):
    whole = tmp_path / "whole"
    make_suite(whole)
    evaluate(whole, "--attempts", "1", *FAST)
    costs = [row.tokens.input + row.tokens.output for row in report_of(whole).attempts]
    cost, half = sum(costs), costs[0] + costs[1] + 1
    make_suite(tmp_path)
    code, said = evaluate(tmp_path, "--attempts", "1", "--budget", str(half), *FAST)
    report = report_of(tmp_path)
    cut = [row for row in report.attempts if row.status == "budget"]
    assert code == 1
    assert len(cut) == 1
    assert cut[0].passed is None
    assert "larger --budget" in said
    spent = sum(row.tokens.input + row.tokens.output for row in report.attempts)
    assert half <= spent < cost
    again, _ = evaluate(tmp_path, "--attempts", "1", "--budget", str(half), *FAST)
    assert again == 1
    assert keys_of(report_of(tmp_path)) == keys_of(report)
    code, _ = evaluate(tmp_path, "--attempts", "1", "--budget", str(cost * 2), *FAST)
    assert code == 0
    mine, theirs = bare_report(tmp_path), bare_report(whole)
    assert mine["attempts"] == theirs["attempts"]


def test_the_environment_fails_apart_from_the_model(tmp_path):
    """The script of one task ends early: no model answers, so nothing was judged."""
    make_suite(tmp_path)
    (tmp_path / "scripts" / "b.yaml").write_text(yaml.safe_dump({"replies": ["plan"]}))
    code, said = evaluate(tmp_path, "--attempts", "1", *FAST)
    report = report_of(tmp_path)
    row = next(row for row in report.attempts if row.task == "b")
    assert code == 1
    assert (row.status, row.passed, row.tries) == ("environment", None, 2)
    assert "one more was asked for" in row.problem
    assert sum(row.passed is True for row in report.attempts) == 3
    assert "the environment failed, not the model" in said
    make_suite(tmp_path)
    code, _ = evaluate(tmp_path, "--attempts", "1", *FAST)
    row = next(row for row in report_of(tmp_path).attempts if row.task == "b")
    assert (code, row.status, row.passed) == (0, "finished", True)


def test_an_environment_that_is_down_stops_the_eval(tmp_path):
    make_suite(tmp_path)
    for name in "abcd":
        (tmp_path / "scripts" / f"{name}.yaml").write_text(yaml.safe_dump({"replies": []}))
    code, said = evaluate(tmp_path, "--attempts", "3", *FAST)
    rows = report_of(tmp_path).attempts
    assert code == 1
    assert len(rows) <= 4
    assert all(row.status == "environment" for row in rows)
    assert "the same command continues it" in said


def finished(root):
    """The attempts that have ended."""
    if not list((root / "runs" / "evals").glob("x-*.json")):
        return []
    return [row for row in report_of(root).attempts if row.status == "finished"]


def test_ctrl_c_drains_and_the_same_command_goes_on(tmp_path):
    whole = tmp_path / "whole"
    make_suite(whole, delay_s=0.02)
    evaluate(whole, "--attempts", "2", *FAST)
    make_suite(tmp_path, delay_s=0.02)
    stopper = Stopper(lambda line: None)

    def stop_in_the_middle():
        while not finished(tmp_path):
            time.sleep(0.02)
        stopper.stop()

    key = threading.Thread(target=stop_in_the_middle)
    key.start()
    code, said = evaluate(tmp_path, "--attempts", "2", *FAST, stopper=stopper)
    key.join()
    assert code == 130
    assert len(finished(tmp_path)) < 8
    assert "the same command continues it" in said
    assert evaluate(tmp_path, "--attempts", "2", *FAST)[0] == 0
    assert bare_report(tmp_path)["attempts"] == bare_report(whole)["attempts"]


def test_two_at_a_time_give_the_same_report(tmp_path):
    for jobs in ("1", "2"):
        root = tmp_path / jobs
        make_suite(root)
        evaluate(root, "--attempts", "2", "--jobs", jobs, *FAST)
    assert bare_report(tmp_path / "1")["attempts"] == bare_report(tmp_path / "2")["attempts"]


def test_one_label_is_run_by_one_process(tmp_path):
    make_suite(tmp_path, delay_s=0.05)
    running = threading.Thread(target=evaluate, args=(tmp_path, "--attempts", "3", *FAST))
    running.start()
    while running.is_alive() and not finished(tmp_path):
        time.sleep(0.02)
    try:
        with pytest.raises(ThreadError, match="eval x"):
            evaluate(tmp_path, "--attempts", "3", *FAST)
    finally:
        running.join()
    assert keys_of(report_of(tmp_path)) == all_keys()


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_killed_eval_goes_on_to_the_report_of_an_unkilled_one(tmp_path):
    """20 kills: python -m tests.fakes.evaluated --kills 20."""
    found = kill_until(tmp_path, 3, rng=random.Random(), names="ab", attempts=2)
    assert found["different"] == 0
    assert found["kills"] >= 3


def test_a_changed_fixture_makes_a_comparison_refuse(tmp_path, capsys):
    folder = make_suite(tmp_path)
    words = ("--attempts", "1", *FAST)
    evaluate(tmp_path, *words, "--label", "before")
    raw = bytearray((folder / "c.yaml").read_bytes())
    raw[-1] = ord(" ")
    (folder / "c.yaml").write_bytes(raw)
    evaluate(tmp_path, *words, "--label", "after")
    runs = f"runs_dir={tmp_path / 'runs'}"
    code = main(["--compare", "before", "after", "--set", runs], {})
    said = capsys.readouterr().err
    assert code == 2
    assert "the files of task 'c' changed" in said
    assert "Traceback" not in said


def test_loading_of_weights_is_told_apart(tmp_path):
    """E6: 60 s of loading are not 60 s of thinking."""
    from agent_loop.evals.cases import Case
    from agent_loop.evals.rows import row_of
    from agent_loop.tasks import CodeTask

    case = Case(task=CodeTask(name="a", task="x", tests=("assert 1",)), n=1, thread="t")
    used = {
        "calls": 2,
        "unmeasured_calls": 0,
        "input_tokens": 5,
        "output_tokens": 7,
        "load_s": 60.5,
    }
    record = {"outcome": "passed", "spent_s": 64.0, "tokens": {"worker": used}, "laps": []}
    row = row_of(case, record, [], cut=False)
    assert (row.seconds, row.load_s, row.tokens.output) == (3.5, 60.5, 7)
    unknown = {**used, "unmeasured_calls": 2}
    row = row_of(case, {**record, "tokens": {"worker": unknown}}, [], cut=False)
    assert row.tokens is None


def test_a_call_that_a_kill_repeated_counts_once_in_the_curve():
    from agent_loop.evals.rows import _points

    used = {"input_tokens": 10, "output_tokens": 5}
    events = [
        {"kind": "node_started", "node": "worker", "lap": 1},
        {"kind": "model_replied", "usage": used},  # killed here
        {"kind": "node_started", "node": "worker", "lap": 1, "again": True},
        {"kind": "model_replied", "usage": used},
        {"kind": "node_finished", "node": "worker", "lap": 1, "seconds": 2.0},
        {"kind": "node_finished", "node": "reviewer", "lap": 1, "seconds": 1.0},
    ]
    (point,) = _points(events, ended_passed=True)
    assert (point.tokens, point.seconds, point.passed) == (15, 3.0, True)


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_a_kill_while_the_report_is_written_costs_nothing(tmp_path):
    """G2: killed at the 4th write, at the 2nd of the next process, then complete and grown."""
    whole, words = tmp_path / "whole", ("--attempts", "2", *FAST)
    make_suite(whole, names="abc")
    evaluate(whole, *words)
    make_suite(tmp_path, names="abc")
    for nth in (4, 2):
        process = context().Process(target=dies_writing, args=(str(tmp_path), words, nth))
        process.start()
        process.join(120)
        assert process.exitcode == -signal.SIGKILL
        process.close()
        assert not report_of(tmp_path).finished
    assert evaluate(tmp_path, *words)[0] == 0
    assert bare_report(tmp_path)["attempts"] == bare_report(whole)["attempts"]
    assert "nothing to do" in evaluate(tmp_path, *words)[1]
    assert evaluate(tmp_path, "--attempts", "3", *FAST)[0] == 0
    assert keys_of(report_of(tmp_path)) == all_keys("abc")


def test_no_fallback_ever(tmp_path):
    """Where the model is missing, another one's numbers would be no numbers of it."""
    make_suite(tmp_path)
    given = settings(tmp_path, fallback="embedded:smollm2-135m")
    evaluate(tmp_path, "--attempts", "1", "--only", "a", *FAST, config=given)
    assert report_of(tmp_path).attempts[0].passed


def test_seeds_differ_by_attempt_and_not_by_rerun():
    from agent_loop.config import Config
    from agent_loop.evals.cases import config_of

    made = Config()
    seeds = [config_of(made, task, n).options("worker").seed for task in "ab" for n in (1, 2, 3)]
    assert len(set(seeds)) == 6
    assert seeds[0] == config_of(made, "a", 1).options("worker").seed
    assert config_of(made, "a", 1).fallback is None


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--label", "a/b"], "1 to 32 letters"),
        (["--suite", "humaneval"], "needs --data"),
        (["--suite", "no/such/folder"], "does not exist"),
        (["--data", "x"], "--data goes with"),
        (["--executor", "dask:8786"], "not dask://HOST:PORT"),
        (["--model", "boss=x:y"], "ROLE is one of"),
        (["--only", "nope"], "no such task"),
    ],
)
def test_bad_options(words, problem, capsys, tmp_path):
    code = main([*words, "--set", f"runs_dir={tmp_path}"], {})
    said = capsys.readouterr().err
    assert (code, problem in said) == (2, True), said
    assert "Traceback" not in said


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"{", b'{"version": 99}', b"x" * 10_000])
def test_a_broken_report_of_the_label_is_named(tmp_path, raw):
    make_suite(tmp_path)
    folder = tmp_path / "runs" / "evals"
    folder.mkdir(parents=True)
    (folder / "x-20260101-000000.json").write_bytes(raw)
    with pytest.raises(ReportError, match="x-20260101-000000"):
        evaluate(tmp_path, "--attempts", "1", *FAST)


def test_a_bad_task_is_left_out_and_the_others_run(tmp_path):
    folder = make_suite(tmp_path)
    (folder / "bad.yaml").write_text("task: x\ntests: 5\n")
    code, said = evaluate(tmp_path, "--attempts", "1", "--controls", "1")
    assert code == 0
    assert "left out: bad" in said
    assert len(report_of(tmp_path).attempts) == 4


def test_no_sandbox_is_exit_3(tmp_path):
    make_suite(tmp_path)
    with pytest.raises(SandboxUnavailable):
        evaluate(tmp_path, *FAST, config=settings(tmp_path).with_secrets({}, allow_local=False))


def test_an_empty_suite_says_so(tmp_path):
    (tmp_path / "tasks").mkdir()
    with pytest.raises(UserError, match=r"no \.yaml file"):
        evaluate(tmp_path, *FAST)
