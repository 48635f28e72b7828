"""Exports read back, answers judged again."""

import argparse
import contextlib
import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from agent_loop import tasks
from agent_loop.assemble.stored import Verified
from agent_loop.errors import ReportError, SandboxUnavailable
from agent_loop.evals import exports, regrade
from agent_loop.fixtures import task_hash
from agent_loop.ports import Verdict
from agent_loop.store import RunStore, Summary
from agent_loop.store.reports import report_path, write_report
from tests.fakes.reports import filled, identity, lost, made, outcomes, row

HOSTILE = "]]> <x>&\x00\x1b\ud800\ufffe \"quoted\", 'new\nline'"


def mixed():
    rows = [
        row("a", 1),
        replace(row("a", 2, passed=False), problem=HOSTILE, patch=None),
        lost("b", 1, problem="no engine"),
        replace(row("b", 2), status="budget", passed=None, tokens=None, seconds=None),
    ]
    return filled(made("base", ("a", "b"), 2), rows, finished=False)


def test_junit_tells_failures_from_errors_and_skips():
    top = ET.fromstring(exports.junit(mixed()))
    first, second = top.findall("testsuite")
    assert dict(first.attrib) == {
        "name": "a", "tests": "2", "failures": "1", "errors": "0", "skipped": "0", "time": "4.000",
    }  # fmt: skip
    assert (second.get("errors"), second.get("skipped")) == ("1", "1")
    failure = first.findall("testcase")[1].find("failure")
    assert "<x>&" in failure.text
    assert "\x1b" not in failure.text
    assert second.findall("testcase")[0].find("error").text == "no engine"
    assert "time" not in second.findall("testcase")[1].attrib


def test_csv_reads_back_and_starts_no_formula():
    report = mixed()
    evil = replace(report.attempts[1], problem="=HYPERLINK(1)", outcome="@x")
    rows = list(csv.DictReader(io.StringIO(exports.table(filled(report, [evil])))))
    assert [(r["task"], r["n"], r["passed"]) for r in rows] == [
        ("a", "1", "true"),
        ("a", "2", "false"),
        ("b", "1", ""),
        ("b", "2", ""),
    ]
    assert (rows[1]["problem"], rows[1]["outcome"]) == ("'=HYPERLINK(1)", "'@x")
    assert (rows[0]["input_tokens"], rows[3]["input_tokens"], rows[0]["cost"]) == ("80", "", "")
    whole = list(csv.DictReader(io.StringIO(exports.table(report))))
    assert whole[1]["problem"] == HOSTILE


def test_predictions_are_one_file_for_each_attempt(tmp_path):
    path = report_path(tmp_path, "base", "2026-11-29T21:00:00Z")
    written = exports.write_all(path, mixed())
    assert [p.name.removeprefix(path.stem) for p in written] == [
        ".csv", ".junit.xml", ".preds.jsonl", ".preds-2.jsonl",
    ]  # fmt: skip
    first = [json.loads(line) for line in written[2].read_text().splitlines()]
    assert first == [
        {"instance_id": "a", "model_name_or_path": "base-scripted:x", "model_patch": "answer a 1"},
        {"instance_id": "b", "model_name_or_path": "base-scripted:x", "model_patch": ""},
    ]
    assert len({line["instance_id"] for line in first}) == len(first)


def test_the_command_names_what_it_wrote(tmp_path):
    write_report(report_path(tmp_path, "base", "2026-11-29T21:00:00Z"), mixed())
    said = []
    given = argparse.Namespace(export="base")
    assert exports.run(given, tmp_path, said.append) == 0
    assert all(Path(line).is_file() for line in said)
    with pytest.raises(ReportError, match="neither a file nor a label"):
        exports.run(argparse.Namespace(export="bose"), tmp_path, said.append)


# --- judged again ---------------------------------------------------------------------------------


class Gate:
    """Judges by a table: what today's gate says of each thread."""

    def __init__(self, root, table):
        self.store = RunStore(root)
        self.table = table

    def verify(self, thread):
        passed, problems = self.table[thread]
        verdict = Verdict(passed=passed, isolation="separate", reason=f"passed: {passed}")
        return Verified(verdict=verdict, certified=True, problems=problems)

    @contextlib.contextmanager
    def trial(self, task, folder):
        assert folder.is_dir()
        yield SimpleNamespace(judge=self._judged)

    def _judged(self, candidate):
        passed = candidate.answer == "right"
        return Verdict(passed=passed, isolation="separate", reason=f"from the report: {passed}")


def stored(gate, attempt, *, answer=None):
    summary = Summary(
        thread=attempt.thread, kind="code", task="a", outcome="passed", laps=1, started="2026",
        ended="2026", look=False, input_tokens=0, output_tokens=0, seconds=0.0,
    )  # fmt: skip
    record = {"answer": attempt.patch if answer is None else answer, "answer_digest": "d" * 64}
    gate.store.write_file(attempt.thread, "job.json", {"task": tasks.to_record(tasks.palindrome())})
    gate.store.write_record(attempt.thread, record, summary)


def regraded(tmp_path, rows, table, **answers):
    gate = Gate(tmp_path, table)
    for one in rows:
        if one.patch is not None and one.thread in table:
            stored(gate, one, answer=answers.get(one.thread))
    report = filled(made("base", ("a",), len(rows)), rows)
    return regrade.regrade(report, gate, lambda _: None, today=report.identity.harness), report


def test_what_fell_is_shown_first(tmp_path):
    rows = [
        row("a", 1, thread="holds"),
        row("a", 2, thread="fell"),
        row("a", 3, passed=False, thread="rose"),
        row("a", 4, passed=False, thread="fails"),
        row("a", 5, thread="gone"),
        row("a", 6, passed=False, thread="empty", patch=None),
        row("a", 7, thread="odd"),
        lost("a", 8),
    ]
    table = {
        "holds": (True, ()),
        "fell": (False, ()),
        "rose": (True, ()),
        "fails": (False, ()),
        "odd": (True, ("the certificate is of another run",)),
    }
    found, _ = regraded(tmp_path, rows, table)
    assert {r.thread: r.now for r in found.rows} == {
        "holds": "holds",
        "fell": "fell",
        "rose": "rose",
        "fails": "still fails",
        "gone": "not judged",
        "empty": "still fails",
        "odd": "fell",
    }
    text = regrade.markdown(found)
    assert "7 answers: 2 fell, 1 rose, 1 not judged, 1 holds, 2 still fails" in text
    assert text.index("passed: False") < text.index("its run is gone")
    assert found.as_record()["counts"]["fell"] == 2


def test_another_answer_than_the_reports_is_not_judged(tmp_path):
    rows = [row("a", 1, thread="t")]
    found, _ = regraded(tmp_path, rows, {"t": (True, ())}, t="something else")
    assert found.rows[0].now == "not judged"
    assert "another answer" in found.rows[0].why


def test_an_answer_whose_run_is_gone_is_judged_from_the_report(tmp_path):
    task = tasks.palindrome()
    rows = [
        row(task.name, 1, patch="right"),
        row(task.name, 2, patch="wrong"),
        row(task.name, 3, patch="right", passed=False),
        row("another", 1, patch="right"),
    ]
    names = (task.name, "another")
    for fixture, wanted in (
        (task_hash(task), ["holds", "fell", "rose", "not judged"]),
        ("0" * 64, ["not judged"] * 4),
    ):
        who = identity(fixtures={task.name: fixture, "another": "1" * 64})
        report = filled(made("base", names, 3, identity=who), rows)
        gate = Gate(tmp_path, {})
        known = {task.name: task}
        found = regrade.regrade(report, gate, lambda _: None, today={}, known=known)
        assert [r.now for r in found.rows] == wanted
    assert not list((tmp_path / "evals" / ".regrade").iterdir())


def test_the_exit_code_and_what_changed_since(tmp_path):
    gate = Gate(tmp_path, {"t": (False, ())})
    report = filled(made("base", ("a",), 1), [row("a", 1, thread="t")])
    stored(gate, report.attempts[0])
    write_report(report_path(tmp_path, "base", report.created), report)
    said = []
    given, today = argparse.Namespace(regrade="base"), {"version": "9", "gate_hash": "g" * 64}
    exit_code, _ = regrade.run(given, gate, said.append, progress=said.append, today=today)
    assert exit_code == 1
    assert (
        "What changed since: image: sha256:0 then, None now; version: 0.3 then, 9 now" in said[-1]
    )
    gate.table["t"] = (True, ())
    assert regrade.run(given, gate, said.append, progress=said.append, today=today)[0] == 0


def test_without_a_sandbox_nothing_is_called_fallen(tmp_path):
    class Broken(Gate):
        def verify(self, thread):
            raise SandboxUnavailable("no engine")

    gate = Broken(tmp_path, {})
    report = outcomes("base", {"a": "P"})
    stored(gate, report.attempts[0])
    with pytest.raises(SandboxUnavailable):
        regrade.regrade(report, gate, lambda _: None, today={})
