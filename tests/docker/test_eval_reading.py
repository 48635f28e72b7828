"""A small eval through the real command, then everything that reads its report."""

import json
import re
import shutil

import pytest

from agent_loop.evals.main import main
from agent_loop.store.reports import list_reports, read_report

pytestmark = pytest.mark.docker
TASK = """\
task: Write a Python function {0}(x) that gives {1}.
tests:
- assert {0}(3) == {2}
- assert {0}(4) == {3}
"""
GOOD = "```python\ndef {0}(x):\n    return {1}\n```"
BAD = "```python\ndef {0}(x):\n    return x + 9\n```"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Two tasks; the first is solved, the second never."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite").mkdir()
    for name, what, three, four in (("twice", "2 * x", 6, 8), ("square", "x * x", 9, 16)):
        text = TASK.format(name, what, three, four)
        (tmp_path / "suite" / f"{name}.yaml").write_text(text)
        reply = (GOOD if name == "twice" else BAD).format(name, what)
        script = {"lead": ["plan"], "worker": [reply], "reviewer": ["APPROVED"] * 2}
        (tmp_path / f"{name}.yaml").write_text(json.dumps(script))
    return tmp_path


def evals(*argv):
    return main([str(arg) for arg in argv], {})


def made(label, *more):
    return evals(
        "--suite", "suite", "--controls", 0, "--attempts", 1, "--set", "rejection_cap=1",
        "--model", "all=scripted:{task}.yaml", "--no-page", "--label", label, *more,
    )  # fmt: skip


def test_a_report_is_compared_rendered_exported_and_judged_again(place, capsys):
    assert made("control") == 0
    assert "Can this experiment answer? No" in capsys.readouterr().out
    experiment = place / "wide.yaml"
    experiment.write_text(
        "max_context_chars: 30000\n"
        "rule: {against: control, adopt_if: [{measure: passes, direction: lower, at_most: 0}]}\n"
    )
    assert made("wide", "--experiment", experiment) == 0
    assert "adopted, by the rule" in capsys.readouterr().out
    assert evals("--compare", "control", "wide", "--json") == 0
    pair = json.loads(capsys.readouterr().out)["pairs"][0]
    assert (pair["counts"]["both"], pair["counts"]["neither"], pair["mcnemar_p"]) == (1, 1, None)
    assert evals("--render", "wide") == evals("--export", "wide") == 0
    kinds = {p.name.partition(".")[2] for p in (place / "runs" / "evals").glob("wide-*")}
    assert {"html", "md", "csv", "junit.xml", "preds.jsonl", "json"} <= kinds

    experiment.write_text(experiment.read_text().replace("at_most: 0", "at_most: 1"))
    assert made("wide", "--experiment", experiment) == 2
    assert "began with another rule" in capsys.readouterr().err

    task = place / "suite" / "twice.yaml"
    task.write_text(task.read_text().replace("gives", "Gives"))
    assert made("changed", "--quiet") == 0
    assert evals("--compare", "control", "changed") == 2
    assert re.search("files of task 'twice' changed: .* against", capsys.readouterr().err)
    assert evals("--compare", "control", "changed", "--mix") == 0

    assert evals("--regrade", "control") == 0
    assert "1 holds, 1 still fails" in capsys.readouterr().out
    summary = next(s for s in list_reports(place / "runs") if s.label == "control")
    thread = next(r.thread for r in read_report(summary.path).attempts if r.passed)
    certificate = place / "runs" / thread / "certificate.json"
    fields = json.loads(certificate.read_text())
    fields["task"]["tests"][0] = "assert twice(3) == 7"
    certificate.write_text(json.dumps(fields))
    assert evals("--regrade", "control") == 1
    assert "1 fell" in capsys.readouterr().out

    shutil.rmtree(certificate.parent)  # as where only the report was published
    assert evals("--regrade", "control") == 1
    assert "1 not judged, 1 still fails" in capsys.readouterr().out  # the task's file was changed
    task.write_text(task.read_text().replace("Gives", "gives"))
    assert evals("--regrade", "control") == 0
    assert "1 holds, 1 still fails" in capsys.readouterr().out
