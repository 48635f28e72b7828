"""Reports of evals as the page gets them."""

import json
import time

import pytest

from agent_loop.store.reports import as_json, write_report
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.evals import Evals
from agent_loop.viewer.jsontext import Preview, dumps
from agent_loop.viewer.places import Places
from agent_loop.webguard import WebError
from tests.fakes.reports import identity, made, outcomes


@pytest.fixture
def evals(tmp_path):
    (tmp_path / "evals").mkdir()

    def keep(name, report):
        write_report(tmp_path / "evals" / f"{name}.json", report)

    found = Evals(Places(tmp_path))
    found.keep = keep
    found.folder = tmp_path / "evals"
    return found


def test_the_list_counts_what_was_done(evals):
    evals.keep("base", outcomes("base", {"a": "PF-", "b": "PPF"}))
    row = evals.listed()[0]
    seen = [row[name] for name in ("name", "planned", "done", "passed", "failed", "environment")]
    assert seen == ["base", 6, 6, 3, 2, 1]
    assert row["rate"]["value"] == pytest.approx(3 / 5)
    assert row["rate"]["low"] < 0.6 < row["rate"]["high"]


def test_what_was_not_measured_is_nothing_and_not_zero(evals):
    evals.keep("lost", outcomes("lost", {"a": "--", "b": "PP"}))
    evals.keep("empty", made("empty", ("a", "b")))
    told = evals.one("lost")
    rates = {task["task"]: task["rate"]["value"] for task in told["tasks"]}
    assert rates == {"a": None, "b": 1.0}
    assert evals.one("empty")["overall"]["rate"]["value"] is None
    compared = evals.compare(["lost", "empty"])
    assert compared["pairs"][0]["p"] is None
    json.loads(dumps(Preview(chars=100).of(compared)))


def test_a_comparison_has_the_paired_test(evals):
    evals.keep("base", outcomes("base", {"a": "FFFFF", "b": "FFFFF"}))
    evals.keep("new", outcomes("new", {"a": "PPPPP", "b": "PPPPF"}))
    pair = evals.compare(["base", "new"])["pairs"][0]
    assert (pair["n"], pair["only_a"], pair["only_b"]) == (10, 0, 9)
    assert pair["p"] == pytest.approx(2 / 2**9)
    assert pair["difference"]["value"] == pytest.approx(0.9)


def test_what_differs_is_said(evals):
    evals.keep("base", outcomes("base", {"a": "P"}))
    other = identity(fixtures={"a": "x" * 64}, harness={"version": "9"})
    evals.keep("other", outcomes("other", {"a": "P"}, identity=other))
    said = "\n".join(evals.compare(["base", "other"])["differs"])
    assert "files of task 'a' changed" in said
    assert "harness version" in said


def test_a_trend_goes_over_reports_of_the_same_tasks(evals):
    for day, signs in enumerate(("F", "P"), 1):
        created = f"2026-01-0{day}T00:00:00Z"
        evals.keep(f"r{day}", outcomes(f"r{day}", {"a": signs}, created=created))
    evals.keep("else", outcomes("else", {"b": "P"}))
    assert [one["name"] for one in evals.one("r1")["trend"]] == ["r1", "r2"]


def test_attempts_lead_to_their_runs_where_these_are_there(evals):
    evals.keep("base", outcomes("base", {"a": "PF"}))
    (evals.folder.parent / "eval.x.a.1").mkdir()
    rows = evals.one("base")["attempts"]
    assert [row["run"] for row in rows] == ["eval.x.a.1", None]
    assert evals.patch("base", "a", 1) == b"answer a 1"
    with pytest.raises(WebError) as none:
        evals.patch("base", "a", 9)
    assert none.value.status == 404
    assert "eval.x.a.1" in evals.threads()


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 200_000, b'{"plan": 1, "attempts": []}',
            b'{"version": 1, "plan": {}, "attempts": NaN}', b'{"version": 99}'],
)  # fmt: skip
def test_a_broken_report_is_named_and_the_others_stand(evals, raw):
    evals.keep("good", outcomes("good", {"a": "P"}))
    (evals.folder / "bad.json").write_bytes(raw)
    rows = {row["name"]: row["problem"] for row in evals.listed()}
    assert rows["good"] is None
    assert rows["bad"]
    with pytest.raises(WebError) as problem:
        evals.one("bad")
    assert problem.value.status == 409


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400])
def test_numbers_without_end_do_no_harm(evals, number):
    text = as_json(outcomes("odd", {"a": "PP", "b": "PF"})).replace(
        '"seconds": 2.0', f'"seconds": {number}'
    )
    assert number in text
    (evals.folder / "odd.json").write_text(text)
    evals.keep("base", outcomes("base", {"a": "PF", "b": "PF"}))
    asks = (evals.listed, lambda: evals.one("odd"), lambda: evals.compare(["base", "odd"]))
    for told in map(_or_refused, asks):
        json.loads(dumps(Preview(chars=1_000, items=5_000, nodes=50_000).of(told)))


def _or_refused(ask):
    try:
        return ask()
    except WebError as problem:
        return {"refused": {409: "unreadable"}[problem.status]}


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"], list("abcdefg")])
def test_a_comparison_takes_two_to_six(evals, names):
    with pytest.raises(WebError) as problem:
        evals.compare(names)
    assert problem.value.status == 400


def test_attempts_of_evals_are_hidden_from_the_list_of_runs(evals):
    root = evals.folder.parent
    evals.keep("base", outcomes("base", {"a": "P"}))
    for thread in ("eval.x.a.1", "mine"):
        summary = {
            "thread": thread,
            "kind": "code",
            "task": "t",
            "outcome": "passed",
            "started": "1",
        }
        (root / f"{thread}.json").write_text(json.dumps({"summary": summary}))
    rows = {row["thread"]: row["eval"] for row in Desk(root, monotonic=time.monotonic).rows.all()}
    assert rows == {"eval.x.a.1": True, "mine": False}
