"""Reports side by side: what may be compared, empty denominators, what is said and what is not."""

import argparse
import json
from dataclasses import replace

import pytest

from agent_loop.errors import ReportError
from agent_loop.evals import compare as door
from agent_loop.evals.curves import curves, measured
from agent_loop.evals.early import Watch
from agent_loop.evals.main import main
from agent_loop.evals.planning import before
from agent_loop.evals.render_markdown import cell, code, comparison_markdown, report_markdown
from agent_loop.evals.rules import Condition, Rule
from agent_loop.stats import Interval
from agent_loop.stats.budget import Spending, success_by
from agent_loop.stats.compare import compare, figures
from agent_loop.store.comparable import differences
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import LapPoint, as_json, report_path, write_report
from tests.fakes.reports import drawn, filled, identity, lost, made, outcomes, planned, row


def compared(*reports):
    return compare([arm_of(report) for report in reports])


# --- numbers --------------------------------------------------------------------------------------


def test_pairs_are_the_same_task_and_number_judged_on_both_sides():
    first = outcomes("first", {"a": "PPFF-", "b": "PF   "})
    second = outcomes("second", {"a": "PFPF-", "b": "P-   ", "c": "PP   "})
    pair = compared(first, second).pairs[0]
    counts = pair.counts
    assert (counts.both, counts.only_first, counts.only_second, counts.neither) == (2, 1, 1, 1)
    assert (counts.pairs, pair.tasks, pair.left_out) == (5, 2, 3)
    assert pair.by_task == {"a": 0.0, "b": 0.0}


def test_eleven_against_two_through_the_whole_way():
    first = outcomes("first", {"a": "P" * 11 + "F" * 9})
    second = outcomes("second", {"a": "F" * 11 + "P" * 2 + "F" * 7})
    pair = compared(first, second).pairs[0]
    assert round(pair.mcnemar_p, 3) == 0.022
    assert "p = 0.022" in comparison_markdown(compared(first, second))


def test_holm_counts_the_variants():
    control = outcomes("control", {"a": "F" * 20})
    better = outcomes("better", {"a": "P" * 6 + "F" * 14})
    same = outcomes("same", {"a": "F" * 20})
    other = outcomes("other", {"a": "PP" + "F" * 18})
    alone = compared(control, better).pairs[0]
    among = compared(control, better, same, other).pairs
    assert alone.mcnemar_holm == alone.mcnemar_p == 2 / 2**6
    assert among[0].mcnemar_holm == 2 * alone.mcnemar_p  # `same` has no p value and costs nothing
    assert among[1].mcnemar_p is None
    assert among[1].mcnemar_holm is None


def test_pass_at_k_is_averaged_over_tasks_with_enough_attempts():
    found = figures(arm_of(outcomes("x", {"a": "PF ", "b": "PPF", "c": "---"})))
    by_k = {one.k: one for one in found.of_k}
    assert by_k[1].any_passes == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert (by_k[2].any_passes, by_k[2].all_pass) == (1.0, pytest.approx((0 + 1 / 3) / 2))
    assert (by_k[3].tasks, by_k[3].any_passes, by_k[3].all_pass) == (1, 1.0, 0.0)


# --- nothing to divide by -------------------------------------------------------------------------


EMPTY = [
    made("nothing begun"),
    outcomes("only environment", {"a": "--", "b": "--"}),
    outcomes("one of each", {"a": "--", "b": "  ", "c": "PF"}),
    filled(
        made("unmeasured"),
        [replace(row("a", n), seconds=None, tokens=None, lap_curve=()) for n in (1, 2)],
    ),
    filled(made("running"), [replace(row(), status="running", passed=None)], finished=False),
]


@pytest.mark.parametrize("report", EMPTY, ids=lambda report: report.label)
def test_an_empty_denominator_is_not_measured_and_not_zero(report):
    found = figures(arm_of(report))
    normal = outcomes("normal", {"a": "PF", "b": "PP", "c": "FF"})
    text = report_markdown(report) + comparison_markdown(compared(normal, report))
    assert "not measured" in text
    assert "nan" not in text.lower()
    for task in found.tasks:
        assert (task.rate is None) == (task.judged == 0)
    json.loads(as_json(report), parse_constant=pytest.fail)
    record = door.as_record(compared(report, normal))
    json.dumps(record, allow_nan=False)


def test_tasks_without_a_judged_attempt_are_skipped_by_means_and_intervals():
    whole = figures(arm_of(outcomes("x", {"a": "PPFF"})))
    gaps = figures(arm_of(outcomes("x", {"a": "PPFF", "b": "----", "c": "    "})))
    assert gaps.rate == whole.rate
    assert (gaps.planned, gaps.judged, gaps.environment) == (12, 4, 4)
    assert [task.rate is None for task in gaps.tasks] == [False, True, True]


def test_two_reports_without_a_shared_attempt_say_nothing():
    text = comparison_markdown(compared(outcomes("one", {"a": "-P"}), outcomes("two", {"a": "P-"})))
    assert "nothing can be said" in text


# --- what may be compared -------------------------------------------------------------------------


def test_equal_reports_may_be_compared():
    assert differences([drawn("x"), drawn("y", seed=9)]) == []
    assert differences([]) == []


CHANGES = {
    "fixture": ({"fixtures": {"a": "ab" * 32, "b": "b" * 64}}, "files of task 'a' changed"),
    "task gone": ({"fixtures": {"a": "a" * 64}}, "task 'b' is in one report only"),
    "gate": ({"harness": {"version": "0.3", "gate_hash": "h", "image": "sha256:0"}}, "gate_hash"),
    "image": ({"harness": {"version": "0.3", "gate_hash": "g" * 64}}, "sha256:0 against nothing"),
    "model": ({"models": {"worker": {"name": "ollama:b"}}}, "model of worker name: scripted:x"),
    "digest": (
        {"models": {"worker": {"name": "scripted:x", "digest": "sha256:2",
                               "options": {"temperature": 0.2}}}},
        "model of worker digest: sha256:1 against sha256:2",
    ),
    "setting": ({"config": {"rejection_cap": 5}}, "configuration rejection_cap: 3 against 5"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_is_said(name):
    change, says = CHANGES[name]
    fixtures = {"a": "a" * 64, "b": "b" * 64}
    first = made("first", identity=identity(fixtures=fixtures))
    second = made("second", identity=identity(**({"fixtures": fixtures} | change)))
    found = differences([first, second])
    assert any(says in line and "(first / second)" in line for line in found), found


def test_what_an_experiment_patches_may_differ_and_nothing_else():
    control = made("control")
    config = dict(control.identity.config) | {"prompt_variants": ["no_plan"]}
    changed = replace(control, identity=replace(control.identity, config=config), label="v")
    experiment = planned(patch={"prompt_variants": ["no_plan"]})
    variant = replace(changed, plan=replace(changed.plan, experiment=experiment))
    assert differences([control, changed])  # the control: without the experiment it is refused
    assert differences([control, variant]) == []
    more = replace(variant, identity=replace(variant.identity, harness={"version": "9"}))
    assert differences([control, more])


def test_an_experiment_on_options_may_change_what_the_fingerprint_says_of_them():
    control = made("control")
    worker = control.identity.models["worker"] | {"options": {"temperature": 0.9}}
    moved = replace(control.identity, models={"worker": worker})
    experiment = planned(patch={"model_options": {"worker": {"temperature": 0.9}}})
    variant = replace(control, identity=moved, plan=replace(control.plan, experiment=experiment))
    assert differences([control, variant]) == []
    assert differences([control, replace(control, identity=moved)])


def test_where_a_machine_keeps_things_is_no_difference():
    control = made("control")
    config = dict(control.identity.config) | {"runs_dir": "elsewhere", "base_urls": {"ollama": "x"}}
    moved = replace(control, identity=replace(control.identity, config=config))
    assert differences([control, moved]) == []


def saved(root, *reports):
    for report in reports:
        write_report(report_path(root, report.label, report.created), report)


def given(*names, mix=False, page=None):
    return argparse.Namespace(compare=list(names), mix=mix, page=page)


def test_compare_refuses_a_changed_fixture_and_says_which(tmp_path):
    first = outcomes("one", {"a": "PF"})
    second = outcomes("two", {"a": "PP"}, identity=identity(fixtures={"a": "a" * 63 + "b"}))
    saved(tmp_path, first, second)
    said = []
    with pytest.raises(ReportError, match=r"(?s)files of task 'a' changed.*--mix"):
        door.run(given("one", "two"), tmp_path, said.append)
    assert not said
    mixed = given("one", "two", mix=True, page=tmp_path / "p.html")
    exit_code, _ = door.run(mixed, tmp_path, said.append)
    assert exit_code == 0
    assert "not of the same kind" in said[0]
    assert "the files of task 'a' changed" in said[0].replace("\\", "")
    assert "not of the same kind" in (tmp_path / "p.html").read_text()


def test_compare_needs_two_different_reports(tmp_path):
    saved(tmp_path, outcomes("one", {"a": "PF"}))
    for names in (("one",), ("one", "one")):
        with pytest.raises(ReportError, match="two or more different"):
            door.run(given(*names), tmp_path, print)
    with pytest.raises(ReportError, match="neither a file nor a label"):
        door.run(given("one", "two"), tmp_path, print)


def test_two_reports_of_one_label_are_told_apart(tmp_path):
    first = outcomes("one", {"a": "PF"}, created="2026-01-01T00:00:00Z")
    second = outcomes("one", {"a": "PP"}, created="2026-01-02T00:00:00Z")
    saved(tmp_path, first, second)
    names = ["one-20260101-000000", "one-20260102-000000"]
    assert [r.label for r in door.chosen(tmp_path, names)] == names


# --- success by budget ----------------------------------------------------------------------------


def test_one_run_scored_at_every_smaller_cap():
    points = success_by(
        [
            Spending(passed_at=1, used=1),
            Spending(passed_at=3, used=3),
            Spending(passed_at=None, used=4),
            Spending(passed_at=1, used=1),
        ]
    )
    assert [(p.cap, p.passed, p.judged) for p in points] == [(1, 2, 4), (3, 3, 4), (4, 3, 4)]
    assert success_by([]) == []


def test_many_steps_are_thinned_and_the_last_is_kept():
    attempts = [Spending(passed_at=n, used=n) for n in range(1, 500)]
    points = success_by(attempts, points=24)
    assert len(points) <= 24
    assert (points[0].cap, points[-1].cap, points[-1].passed) == (1, 499, 499)


def test_a_curve_ends_at_the_pass_rate_and_never_falls():
    report = drawn("x", tasks=5, attempts=4)
    passed = sum(bool(r.passed) for r in report.attempts)
    for measure, points in curves(report).items():
        counts = [p.passed for p in points]
        assert counts == sorted(counts), measure
        assert (counts[-1], points[-1].judged) == (passed, 20)


def test_unmeasured_attempts_are_in_no_curve_of_that_measure():
    rows = [row("a", 1), replace(row("a", 2), tokens=None), replace(row("a", 3), lap_curve=()),
            lost("a", 4)]  # fmt: skip
    report = filled(made("x", ("a",), 4), rows)
    assert {m: measured(report, m) for m in ("laps", "tokens", "seconds")} == {
        "laps": 2,
        "tokens": 1,
        "seconds": 2,
    }
    nothing = (LapPoint(lap=1, passed=True),)
    assert measured(filled(report, [replace(row("a", 1), lap_curve=nothing)]), "seconds") == 1


# --- before a run ---------------------------------------------------------------------------------


def test_what_can_be_answered_is_said_before():
    assert before(tasks=1, attempts=2).startswith("Can this experiment answer? No:")
    assert "Only whether one variant nearly always" in before(tasks=6, attempts=3)
    large = before(tasks=164, attempts=5, baseline=0.3)
    assert large.startswith("Can this experiment answer? Yes, for true differences of 6 points")
    assert "(of the control)" in large
    assert "would need about 408 pairs" in before(tasks=6, attempts=3)


@pytest.mark.parametrize("baseline", [0.0, 1.0, 0.5, None])
@pytest.mark.parametrize(("tasks", "attempts"), [(0, 3), (1, 1), (6, 3)])
def test_the_lines_before_a_run_survive_every_size(tasks, attempts, baseline):
    rule = Rule(
        against="c",
        adopt_if=[
            Condition(measure="passes", direction="lower", at_most=2),
            Condition(measure="passes", direction="higher", at_least=1),
            Condition(measure="seconds", direction="lower", at_least=30, percent=True),
        ],
    )
    text = before(tasks=tasks, attempts=attempts, baseline=baseline, rule=rule)
    assert "nan" not in text


# --- stopping early -------------------------------------------------------------------------------


def watched(control, variant, attempts):
    report = made("v", ("a",), attempts)
    rows = [row("a", n, passed=sign == "P") for n, sign in enumerate(variant, 1)]
    return Watch(control=outcomes("control", {"a": control})).look(filled(report, rows))


def test_it_stops_when_decided_and_when_it_cannot_be_any_more():
    assert "more passes than 'control'" in watched("F" * 40, "P" * 8, 40)
    assert "fewer passes than 'control'" in watched("P" * 40, "F" * 8, 40)
    assert watched("F" * 40, "P" * 6, 40) is None
    assert watched("F" * 40, "", 40) is None
    assert "cannot decide any more: 6 pairs are left" in watched("P" * 40, "P" * 34, 40)
    assert "cannot decide" in watched("P" * 3, "", 40)  # only three pairs can ever be made


def test_several_variants_share_the_error_rate():
    control = outcomes("control", {"a": "F" * 40})
    report = filled(made("v", ("a",), 40), [row("a", n) for n in range(1, 9)])
    assert Watch(control=control).look(report)
    assert Watch(control=control, variants=10).look(report) is None


# --- what is said ---------------------------------------------------------------------------------


def test_the_conclusion_says_no_more_than_the_numbers():
    control = outcomes("control", {name: "FFFF" for name in "abcdefgh"})
    one_task = outcomes("v", {**{name: "FFFF" for name in "bcdefgh"}, "a": "PPPP"})
    everywhere = outcomes("v", {name: "PPPF" for name in "abcdefgh"})
    little = comparison_markdown(compared(control, one_task))
    much = comparison_markdown(compared(control, everywhere))
    assert "No difference was found; that is not the same as none" in little
    assert "v passes more often, over attempts and over tasks" in much
    first = outcomes("control", {"a": "F" * 20, "b": "PF" * 10})
    second = outcomes("v", {"a": "P" * 20, "b": "PF" * 10})
    assert "that other tasks would show the same is not shown" in comparison_markdown(
        compared(first, second)
    )


HOSTILE = "<img src=x onerror=alert(1)> | `x` [a](javascript:b) \x1b[2J \u202e **b** \ud800"


def test_texts_of_models_are_no_markup():
    shown = cell(HOSTILE, 300) + code(HOSTILE, 300)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\<img" in shown
    assert code(HOSTILE).count("`") == 2
    report = filled(made("x"), [replace(row(passed=False), problem=HOSTILE + "\n| a | b |")])
    lines = report_markdown(report).splitlines()
    assert sum("onerror" in line for line in lines) == 1
    assert Interval(value=0.5, low=0.1, high=0.9).low == 0.1


# --- at the door ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--compare", "one"], "two or more different"),
        (
            ["--compare", "one", "nope"],
            "report 'nope': neither a file nor a label. Labels there are: half, one, torn",
        ),
        (["--compare", "one", "torn"], "not a report"),
        (["--render", "nope"], "neither a file nor a label"),
        (["--export", "nope"], "neither a file nor a label"),
        (["--regrade", "nope"], "neither a file nor a label"),
        (["--export", "one", "--render", "one"], "--export and --render: one at a time"),
        (["--mix"], "--mix goes with --compare"),
        (["--experiment", "no-pln"], "did you mean 'no-plan'"),
        (["--stop-early", "nope"], "neither a file nor a label"),
        (["--stop-early", "half"], "that report is not finished"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(tmp_path, monkeypatch, capsys, argv, says):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "runs", outcomes("one", {"a": "P"}), made("half"))
    (tmp_path / "runs" / "evals" / "torn.json").write_text("{")
    assert main(["--set", f"runs_dir={tmp_path / 'runs'}", *argv], {}) == 2
    said = capsys.readouterr().err
    assert says in said.replace("\n", " ")
    assert "Traceback" not in said
