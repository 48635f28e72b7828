"""Experiments and their rules: what a file may say, when it counts, and what it decides."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_loop.errors import ConfigError, ReportError
from agent_loop.evals import experiments
from agent_loop.evals.rules import adopted, hash_of
from agent_loop.store.reports import as_json, parse_report
from tests.fakes.reports import filled, identity, lost, made, outcomes, planned, row

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "experiments"
RULE = """\
rule:
  against: control
  adopt_if:
    - {measure: passes, direction: lower, at_most: 2}
    - {measure: seconds, direction: lower, at_least: 30, percent: true}
"""


def loaded(tmp_path, text):
    path = tmp_path / "variant.yaml"
    path.write_text(text)
    return experiments.load(path)


def configured(tmp_path, text):
    return experiments.configured(loaded(tmp_path, text), ROOT / "config.yaml", {})


@pytest.mark.parametrize("name", experiments.known(SHIPPED))
def test_every_shipped_experiment_can_be_used(name):
    experiment = experiments.load(experiments.find(name, SHIPPED))
    config = experiments.configured(experiment, ROOT / "config.yaml", {})
    assert config.sandbox == "docker"
    assert experiment.about


def test_the_shipped_ones_are_those_people_ask_for():
    wanted = {
        "control",
        "think-default",
        "think-off",
        "think-capped",
        "no-plan",
        "real-path-example",
    }
    assert wanted <= set(experiments.known(SHIPPED))
    rule = experiments.load(SHIPPED / "think-off.yaml").rule
    assert rule.words == (
        "adopt if passes at most 2 lower and mean seconds at least 30 % lower against 'control'"
    )


def test_maps_are_merged_key_by_key(tmp_path):
    base = tmp_path / "config.yaml"
    base.write_text("model_options: {default: {num_predict: 99}, worker: {temperature: 1.0}}\n")
    variant = loaded(tmp_path, "model_options: {default: {reasoning: false}}\n")
    worker = experiments.configured(variant, base, {}).options("worker")
    assert (worker.num_predict, worker.temperature, worker.reasoning) == (99, 1.0, False)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("about: x\nprompt_variants: [no_plann]\n", 2, "did you mean 'no_plan'"),
        ("prompt_variant: [no_plan]\n", 1, "did you mean 'prompt_variants'"),
        ("about: x\nrul: {}\n", 2, "did you mean 'rule'"),
        ("model_options:\n  worke: {reasoning: true}\n", 2, "did you mean 'worker'"),
        (RULE.replace("passes", "passs"), 4, "did you mean 'passes'"),
        (RULE.replace("at_most", "at_mos"), 4, "did you mean 'at_most'"),
        (RULE.replace(", at_most: 2", ""), 4, "one of 'at_least' and 'at_most'"),
        (RULE.replace("at_most: 2", "at_most: .nan"), 4, "finite number"),
        (RULE.replace("direction: lower, at_most", "at_most"), 4, "needs 'direction'"),
        ("sandbox: local\n", 1, "can not turn the sandbox off"),
        ("about: x\nsandbox: 'off'\n", 2, "can not turn the sandbox off"),
        ("sandbox_image: python:3\n", 1, "never by tag"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, line, says):
    with pytest.raises(ConfigError) as caught:
        configured(tmp_path, text)
    assert f"variant.yaml:{line}: " in str(caught.value)
    assert says in str(caught.value)


def test_local_stays_off_even_where_the_machine_allows_it(tmp_path):
    base = tmp_path / "config.yaml"
    base.write_text("sandbox: local\n")
    env = {"AGENT_LOOP_ALLOW_LOCAL": "1"}
    with pytest.raises(ConfigError, match="can not turn the sandbox off"):
        experiments.configured(loaded(tmp_path, "sandbox: local\n"), base, env)


def test_an_unknown_experiment_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'no-plan'"):
        experiments.find("no_plan", SHIPPED)


# --- rules ------------------------------------------------------------------------------------


def with_rule(report, tmp_path, text=RULE):
    experiment = loaded(tmp_path, text).planned()
    return replace(report, plan=replace(report.plan, experiment=experiment))


def pair(tmp_path, *, fewer, seconds, text=RULE):
    """A control with 8 of 10 passes at 10 s, a variant with `fewer` fewer passes."""
    tasks = {"a": "PPPPPPPPFF"}
    control = outcomes("control", tasks)
    control = filled(control, [replace(r, seconds=10.0) for r in control.attempts])
    signs = "P" * (8 - fewer) + "F" * (2 + fewer)
    variant = outcomes("variant", {"a": signs})
    variant = filled(variant, [replace(r, seconds=seconds) for r in variant.attempts])
    return with_rule(variant, tmp_path, text), control


@pytest.mark.parametrize(
    ("fewer", "seconds", "decision"),
    [
        (2, 7.0, "adopted"),
        (-2, 7.0, "adopted"),
        (3, 7.0, "not adopted"),
        (2, 7.01, "not adopted"),
        (0, 20.0, "not adopted"),
    ],
)
def test_the_rule_of_the_escalation_study(tmp_path, fewer, seconds, decision):
    variant, control = pair(tmp_path, fewer=fewer, seconds=seconds)
    found = adopted(variant, control)
    assert found["decision"] == decision
    assert found["rule_hash"] == variant.plan.experiment.rule_hash
    assert found["against"] == "control"
    assert [line["observed"] for line in found["conditions"]] == pytest.approx(
        [fewer, 10 * (10 - seconds)]
    )
    parse_report(as_json(replace(variant, adopted=found)).encode(), where="x")


def test_a_rule_waits_for_both_reports_and_their_numbers(tmp_path):
    variant, control = pair(tmp_path, fewer=0, seconds=5.0)
    assert adopted(variant, None)["decision"] == "undecided"
    unfinished = replace(control, finished=False)
    assert "'control' is not finished" in adopted(variant, unfinished)["reason"]
    other = replace(control, identity=identity(fixtures={"a": "b" * 64}))
    assert "the files of task 'a' changed" in adopted(variant, other)["reason"]
    unmeasured = filled(control, [replace(r, seconds=None) for r in control.attempts])
    assert "not measured on both sides: mean seconds" in adopted(variant, unmeasured)["reason"]
    lost_all = filled(control, [lost("a", n) for n in range(1, 11)])
    assert adopted(variant, lost_all)["decision"] == "undecided"


def test_percent_of_nothing_is_undecided(tmp_path):
    text = RULE.replace("at_most: 2", "at_most: 10, percent: true")
    control = outcomes("control", {"a": "FF"})
    variant = with_rule(outcomes("variant", {"a": "FF"}), tmp_path, text)
    assert adopted(variant, control)["decision"] == "undecided"


def test_a_p_value_can_be_a_condition(tmp_path):
    text = "rule: {against: control, adopt_if: [{measure: mcnemar_p, at_most: 0.05}]}\n"
    control = outcomes("control", {"a": "F" * 10})
    better = with_rule(outcomes("v", {"a": "PPPPPP" + "FFFF"}), tmp_path, text)
    same = with_rule(outcomes("v", {"a": "F" * 10}), tmp_path, text)
    assert adopted(better, control)["decision"] == "adopted"
    assert adopted(same, control)["decision"] == "not adopted"


def test_a_report_without_a_rule_has_no_decision():
    assert adopted(outcomes("x", {"a": "P"}), None) is None
    assert adopted(outcomes("x", {"a": "P"}, experiment=planned()), None) is None


def test_a_rule_edited_after_the_start_is_refused(tmp_path):
    before = loaded(tmp_path, RULE).planned()
    experiments.refuse_changed(before, loaded(tmp_path, RULE), "x")
    after = loaded(tmp_path, RULE.replace("at_most: 2", "at_most: 3"))
    with pytest.raises(ReportError, match=r"began with another rule.*new report"):
        experiments.refuse_changed(before, after, "x")
    with pytest.raises(ReportError, match="differs in edit_format"):
        experiments.refuse_changed(before, loaded(tmp_path, RULE + "edit_format: diff\n"), "x")
    with pytest.raises(ReportError, match="began with experiment 'variant', and now it is none"):
        experiments.refuse_changed(before, None, "x")


def test_a_rule_edited_in_the_report_itself_is_refused(tmp_path):
    variant, control = pair(tmp_path, fewer=3, seconds=7.0)
    fields = json.loads(as_json(variant))
    fields["plan"]["experiment"]["rule"]["adopt_if"][0]["at_most"] = 3.0
    edited = parse_report(json.dumps(fields).encode(), where="x")
    with pytest.raises(ReportError, match="not the one it was begun with"):
        adopted(edited, control)
    # The control: somebody who mends the hash as well has only fooled himself.
    fields["plan"]["experiment"]["rule_hash"] = hash_of(fields["plan"]["experiment"]["rule"])
    both = parse_report(json.dumps(fields).encode(), where="x")
    assert adopted(both, control)["decision"] == "adopted"


def test_the_order_of_a_rules_keys_changes_no_hash(tmp_path):
    turned = RULE.replace("measure: passes, direction: lower", "direction: lower, measure: passes")
    assert loaded(tmp_path, RULE).rule.hash() == loaded(tmp_path, turned).rule.hash()
    assert made("x").plan.experiment is None
    assert row().passed
