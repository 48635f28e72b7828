"""The report file: strict, whole, one row for each task and attempt."""

import json
import math

import pytest

from agent_loop.errors import ReportError
from agent_loop.store.reports import (
    Attempt,
    Identity,
    LapPoint,
    Plan,
    PlannedExperiment,
    Report,
    Tokens,
    as_json,
    find_report,
    list_reports,
    parse_report,
    read_report,
    report_path,
    with_attempt,
    write_report,
)


def report(**changes):
    plan = Plan(
        tasks=("b", "a"),
        attempts=2,
        experiment=PlannedExperiment(name="x", patch={"edit_format": "diff"}, rule=None),
    )
    identity = Identity(
        fixtures={"a": "1" * 64, "b": "2" * 64},
        models={"worker": {"name": "scripted:x"}},
        config_hash="c",
        config={"rejection_cap": 3, "deep": [1, {"a": None}]},
        harness={"version": "1", "gate_hash": "g", "image": "sha256:0"},
    )
    fields = {"label": "base", "created": "2026-11-29T21:00:00.000Z", "updated": "u"}
    return Report(**(fields | {"plan": plan, "identity": identity} | changes))


def row(task="a", n=1, **changes):
    fields = {"thread": f"{task}-{n}", "status": "finished", "passed": True, "outcome": "passed"}
    return Attempt(task=task, n=n, **(fields | changes))


FULL = row(
    laps=2,
    seconds=1.5,
    tokens=Tokens(input=5, output=6, by_role={"worker": {"input": 5, "output": 6}}),
    patch="--- a/ä.py\r\n\x00",
    lap_curve=(LapPoint(lap=1, passed=False, tokens=4, seconds=0.5),),
)


def test_what_is_written_is_read_back(tmp_path):
    path = report_path(tmp_path, "base", "2026-11-29T21:00:00.000Z")
    assert path == tmp_path / "evals" / "base-20261129-210000.json"
    written = with_attempt(report(), FULL)
    write_report(path, written)
    assert read_report(path) == written
    assert json.loads(path.read_text())["version"] == 1


def test_a_lone_surrogate_of_a_model_does_not_make_the_report_unreadable(tmp_path):
    path = tmp_path / "r.json"
    write_report(path, with_attempt(report(), row(problem="a \ud800", patch="b \ud800")))
    read = read_report(path).attempts[0]
    assert (read.problem, read.patch) == ("a ?", "b ?")


def test_a_row_replaces_the_row_of_its_task_and_number():
    made = report()
    for attempt in (
        row("a", 2),
        row("b", 1),
        row("a", 1, status="environment", passed=None),
        row("a", 1),
    ):
        made = with_attempt(made, attempt, updated="later")
    assert [(r.task, r.n) for r in made.attempts] == [("b", 1), ("a", 1), ("a", 2)]
    assert made.attempts[1].status == "finished"
    assert made.updated == "later"


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_no_number_that_is_none_is_written_or_read(number):
    with pytest.raises(ReportError, match="base"):
        as_json(with_attempt(report(), row(seconds=number)))
    raw = json.dumps({"version": 1, "plan": {}, "attempts": [], "seconds": number}).encode()
    with pytest.raises(ReportError, match="is no JSON"):
        parse_report(raw, where="x.json")


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "not a report"),
        (b"[" * 100_000, "not a report"),
        (b"[1]", "not a report of evals"),
        (b'{"version": 2, "plan": {}, "attempts": []}', "reads version 1"),
        (b'{"version": 1, "plan": {}, "attempts": []}', "not a report: "),
        (b"\xff\xfe\x00", "not a report"),
    ],
)
def test_what_is_no_report_is_refused_in_words(raw, says):
    with pytest.raises(ReportError, match=f"x.json.*{says}"):
        parse_report(raw, where="x.json")


def test_wrong_kinds_and_double_rows_are_refused():
    fields = json.loads(as_json(with_attempt(report(), FULL)))
    fields["attempts"][0]["passed"] = "true"
    with pytest.raises(ReportError, match=r"attempts\.0\.passed"):
        parse_report(json.dumps(fields).encode(), where="x")
    fields["attempts"][0]["passed"] = True
    fields["attempts"] *= 2
    with pytest.raises(ReportError, match="attempt 1 of 'a' stands there 2 times"):
        parse_report(json.dumps(fields).encode(), where="x")


def test_the_list_shows_broken_reports_as_broken(tmp_path):
    write_report(report_path(tmp_path, "base", "2026-11-29T21:00:00Z"), report())
    later = with_attempt(
        report(created="2026-11-30T21:00:00Z"), row(status="environment", passed=None)
    )
    write_report(report_path(tmp_path, "base", later.created), later)
    (tmp_path / "evals" / "torn.json").write_text('{"version": 1, "plan": {"ta')
    first, second, broken = list_reports(tmp_path)
    assert (first.environment, first.judged, first.planned) == (1, 0, 4)
    assert second.environment == 0
    assert broken.problem
    assert find_report(tmp_path, "base") == first.path
    assert find_report(tmp_path, "base-20261129-210000") == second.path
    with pytest.raises(ReportError, match=r"neither a file nor a label.*base, torn"):
        find_report(tmp_path, "bose")
    assert list_reports(tmp_path / "nowhere") == []


def test_keys_in_problems_are_redacted_and_patches_stay_byte_for_byte():
    secret = "sk-ant-api03-" + "a1B2" * 12
    made = with_attempt(report(), row(problem=f"refused: {secret}", patch=f"x = '{secret}'"))
    fields = json.loads(as_json(made))["attempts"][0]
    assert secret not in fields["problem"]
    assert fields["patch"] == f"x = '{secret}'"
