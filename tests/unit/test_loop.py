"""The loop with scripted parts: every way through the graph and every way out of it."""

import json

import pytest

from agent_loop.errors import (
    Cancelled,
    ConfigError,
    ModelUnavailable,
    SandboxUnavailable,
    ThreadError,
)
from agent_loop.graph import drive
from agent_loop.graph.parts import Control, Limits, Step
from agent_loop.models.scripted import Line
from agent_loop.ports import Look
from agent_loop.store import RunStore, read_trace, reply_from_text
from tests.fakes.check import ScriptedCheck
from tests.fakes.clock import FakeClock
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def events(store, thread="a", kind=None):
    found = list(read_trace(store.trace_path(thread)))
    return [e for e in found if e["kind"] == kind] if kind else found


def nodes_run(store, thread="a"):
    return [e["node"] for e in events(store, thread, "node_finished")]


# --- ways out


def test_a_right_answer_passes_and_gets_a_certificate(store):
    made = parts([RIGHT], sandbox=lambda: {"image": "sha256:1", "engine": "20.10"})
    result = drive.start("a", job(), made, store)
    assert (result.outcome, result.exit_code) == ("passed", 0)
    paper = json.loads((store.folder("a") / "certificate.json").read_text())
    assert paper["answer"] == "def f():\n    return 'right'"
    assert paper["executed"] == ["assert 1"]
    assert paper["image"] == "sha256:1"
    assert paper["task"] == {"task": "Write f().", "tests": ["assert f() == 1"]}
    assert made.check.prepared == 1
    kinds = [event["kind"] for event in events(store)]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "run_ended"
    assert "model_text" not in kinds
    assert nodes_run(store) == ["lead", "worker", "check", "reviewer"]
    assert store.read_record("a")["tokens"]["worker"]["calls"] == 1


def test_a_pass_with_a_look_says_so(store):
    check = ScriptedCheck(looks=(Look(signal="no hidden tests", detail=""),))
    drive.start("a", job(), parts([RIGHT], check=check), store)
    assert store.read_record("a")["look"] is True
    assert store.list()[0].look is True


@pytest.mark.parametrize(
    ("said", "outcome", "code"),
    [("stop", "stopped", 1), ("Accept.", "accepted", 0), ("STOP!!", "stopped", 1)],
)
def test_the_owner_ends_a_run(store, said, outcome, code):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED", owner=ScriptedOwner([said]))
    result = drive.start("a", job(), made, store)
    assert (result.outcome, result.exit_code) == (outcome, code)
    assert not (store.folder("a") / "certificate.json").exists()


def test_nobody_there_is_a_pause_and_an_answer_later_ends_it(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED")
    assert drive.start("a", job(), made, store).exit_code == 5
    call = made.owner.asked[0]
    assert (call.tests_passed, call.rejections) == (False, 3)
    assert drive.standing(store, "a").nonce == call.nonce
    result = drive.resume("a", made, store, reply=reply_from_text("Stop!", "argument"))
    assert result.outcome == "stopped"
    assert len(made.owner.asked) == 1


def test_without_owner_calls_the_cap_is_the_end(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED")
    result = drive.start("a", job(limits=Limits(max_pauses=0)), made, store)
    assert (result.outcome, result.exit_code) == ("capped", 1)
    assert not made.owner.asked


def test_after_its_owner_calls_the_cap_is_the_end(store):
    made = parts([wrong(n) for n in range(6)], "REJECTED", owner=ScriptedOwner(["try again"]))
    result = drive.start("a", job(limits=Limits(max_pauses=1)), made, store)
    assert result.outcome == "capped"
    assert len(made.owner.asked) == 1


def test_a_first_step_may_find_nothing_to_fix(store):
    first = Step(name="reproduce", run=lambda s: {"outcome": "nothing_to_fix", "reason": "green"})
    result = drive.start("a", job(), parts([RIGHT], first=first), store)
    assert (result.outcome, result.reason, result.exit_code) == ("nothing_to_fix", "green", 1)
    assert nodes_run(store) == ["reproduce"]


def test_a_spent_budget_stops_at_a_node_boundary_and_a_larger_one_goes_on(store):
    made = parts([RIGHT])
    result = drive.start("a", job(limits=Limits(budget_tokens=60)), made, store)
    assert (result.outcome, result.exit_code) == ("budget", 1)
    assert nodes_run(store) == ["lead", "worker"]
    again = drive.resume("a", made, store)
    assert again.outcome == "budget"
    assert nodes_run(store) == ["lead", "worker"]
    more = drive.resume("a", made, store, limits=Limits(budget_tokens=10_000))
    assert more.outcome == "passed"
    assert nodes_run(store) == ["lead", "worker", "check", "reviewer"]


def test_a_pass_with_the_last_tokens_is_a_pass(store):
    result = drive.start("a", job(limits=Limits(budget_tokens=250)), parts([RIGHT]), store)
    assert result.outcome == "passed"
    used = store.read_record("a")["tokens"]
    assert sum(u["input_tokens"] + u["output_tokens"] for u in used.values()) < 250


def test_a_server_without_counts_still_meets_the_budget(store):
    made = parts([Line(text=RIGHT, usage=False)], lead=[Line(text="plan" * 100, usage=False)])
    result = drive.start("a", job(limits=Limits(budget_tokens=60)), made, store)
    assert result.outcome == "budget"
    record = store.read_record("a")
    assert record["tokens"]["lead"]["unmeasured_calls"] == 1
    assert record["tokens"]["lead"]["input_tokens"] == 0
    assert record["guessed_tokens"] > 60


def test_the_time_limit_stops_at_a_node_boundary(store):
    clock = FakeClock()
    made = parts([RIGHT], check=ScriptedCheck(delay_s=60, clock=clock), clock=clock)
    result = drive.start("a", job(limits=Limits(time_limit_s=60)), made, store)
    assert (result.outcome, nodes_run(store)) == ("budget", ["lead", "worker", "check"])
    assert drive.resume("a", made, store, limits=Limits()).outcome == "passed"


def test_the_first_ctrl_c_ends_the_node_and_a_resume_goes_on(store):
    control = Control()

    class Live:
        def emit(self, kind, fields):
            if kind == "model_asked" and fields["node"] == "worker":
                control.drain()

    made = parts([RIGHT], live=Live())
    result = drive.start("a", job(), made, store, control=control)
    assert (result.outcome, result.exit_code) == ("cancelled", 130)
    assert nodes_run(store) == ["lead", "worker"]
    assert drive.resume("a", made, store).outcome == "passed"
    assert len(made.models["worker"].asked) == 1


def test_the_second_ctrl_c_cuts_the_model_off(store):
    control = Control()

    class Live:
        def emit(self, kind, fields):
            if kind == "model_asked" and fields["node"] == "worker":
                control.kill()

    made = parts([Line(text=RIGHT, delay_s=30), RIGHT], live=Live())
    result = drive.start("a", job(), made, store, control=control)
    assert (result.outcome, result.exit_code) == ("cancelled", 130)
    assert nodes_run(store) == ["lead"]
    assert store.read_record("a")["outcome"] == "cancelled"


def test_a_keyboard_interrupt_is_an_outcome_too(store):
    def strike():
        raise KeyboardInterrupt

    made = parts([RIGHT], check=ScriptedCheck(fault=strike))
    assert drive.start("a", job(), made, store).exit_code == 130
    made = parts([], check=ScriptedCheck())
    assert drive.resume("a", made, store).outcome == "passed"


@pytest.mark.parametrize("stop", [Cancelled("Ctrl-C at the pause"), KeyboardInterrupt()])
@pytest.mark.parametrize("at_once", [True, False], ids=["resumed", "started"])
def test_ctrl_c_at_the_pause_leaves_the_question_open(store, stop, at_once):
    class Leaves:
        def answer(self, call):
            raise stop

    script = [wrong(1), wrong(2), wrong(3)]
    made = parts(script, "REJECTED", owner=ScriptedOwner() if at_once else Leaves())
    result = drive.start("a", job(), made, store)
    if at_once:
        result = drive.resume("a", parts([], owner=Leaves()), store)
    assert (result.outcome, result.exit_code) == ("cancelled", 130)
    assert drive.standing(store, "a").nonce
    assert drive.resume("a", parts([], owner=ScriptedOwner(["accept"])), store).exit_code == 0


def test_a_drain_asked_for_before_the_first_node_runs_none(store):
    control = Control()
    control.drain()
    made = parts([RIGHT])
    assert drive.start("a", job(), made, store, control=control).outcome == "cancelled"
    assert nodes_run(store) == []
    assert drive.resume("a", made, store).outcome == "passed"


@pytest.mark.parametrize(
    ("fault", "code"), [(SandboxUnavailable("docker is gone."), 3), (ModelUnavailable("down."), 4)]
)
def test_a_fault_stops_the_run_resumably_and_costs_no_lap(store, fault, code):
    faults = [fault]
    check = ScriptedCheck(fault=lambda: faults.pop() if faults else None)
    made = parts([RIGHT], check=check)
    result = drive.start("a", job(), made, store)
    assert (result.outcome, result.exit_code, result.error) == ("error", code, fault)
    assert store.read_record("a")["reason"] == str(fault)
    assert store.read_record("a")["rejections"] == 0
    assert events(store, kind="fault")[0]["node"] == "check"
    result = drive.resume("a", made, store)
    assert result.outcome == "passed"
    assert len(made.models["worker"].asked) == 1


def test_a_bug_is_raised_and_recorded(store):
    check = ScriptedCheck(fault=lambda: ZeroDivisionError("oh"))
    with pytest.raises(ZeroDivisionError):
        drive.start("a", job(), parts([RIGHT], check=check), store)
    record = store.read_record("a")
    assert record["outcome"] == "error"
    assert "ZeroDivisionError" in record["reason"]


# --- laps


def test_approved_never_beats_a_failing_verdict(store):
    made = parts([wrong(1), RIGHT], "APPROVED. Excellent, it passes.")
    assert drive.start("a", job(), made, store).outcome == "passed"
    assert [lap["passed"] for lap in store.read_record("a")["laps"]] == [False, True]
    assert events(store, kind="review")[0]["approved"] is False


def test_the_reviewer_rejecting_a_pass_costs_a_lap(store):
    again = RIGHT.replace("f()", "f(x=1)")
    made = parts([RIGHT, again], ["REJECTED: too short", "APPROVED"])
    assert drive.start("a", job(), made, store).outcome == "passed"
    assert store.read_record("a")["rejections"] == 1
    assert "the reviewer rejected" in made.models["worker"].asked[1][-1].content
    assert "too short" in made.models["worker"].asked[1][-1].content


def test_a_review_that_says_neither_leaves_the_verdict(store):
    assert drive.start("a", job(), parts([RIGHT], "Nice weather."), store).outcome == "passed"


def test_escalation_is_one_attempt_with_the_same_prompt(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED", escalation=[wrong(4)])
    assert drive.start("a", job(), made, store).outcome == "paused"
    assert nodes_run(store)[-3:] == ["escalate", "check", "reviewer"]
    asked = made.models["escalation"].asked
    assert len(asked) == 1
    worker = made.models["worker"].asked[-1]
    assert asked[0][: len(worker)] == worker


def test_guidance_goes_to_the_worker_and_earns_the_escalation_again(store):
    made = parts(
        [wrong(n) for n in range(6)],
        "REJECTED",
        escalation=[wrong(7), wrong(8)],
        owner=ScriptedOwner(["Return the word itself."]),
    )
    assert drive.start("a", job(), made, store).outcome == "paused"
    assert "Return the word itself." in made.models["worker"].asked[3][-1].content
    assert len(made.models["escalation"].asked) == 2
    assert store.read_record("a")["owner_calls"] == 1


def test_a_node_before_the_worker_gives_it_material(store):
    search = Step(name="search", run=lambda state: {"material": "Abstract 1: swans."})
    made = parts([RIGHT], before_worker=search)
    assert drive.start("a", job(), made, store).outcome == "passed"
    assert nodes_run(store)[:3] == ["lead", "search", "worker"]
    assert "Abstract 1: swans." in made.models["worker"].asked[0][1].content


# --- the same again, and not the asked format (CASES M2, M4)


def commented(n):
    return wrong(n).replace("\n    return", "\n    # another thought\n    return")


def test_the_same_answer_is_not_judged_again(store):
    made = parts([wrong(1), commented(1), RIGHT], "REJECTED nothing", owner=ScriptedOwner(["stop"]))
    drive.start("a", job(), made, store)
    assert len(made.check.judged) == 2  # the repeat was not
    told = made.models["worker"].asked[2][-1].content
    assert "same as your answer in lap 1" in told
    record = store.read_record("a")
    assert record["rejections"] == 3
    assert record["saved"]["checks"] == 1
    assert record["saved"]["tokens"] > 0
    assert len(made.models["reviewer"].asked) == 2


def test_without_the_digest_the_same_answer_would_be_judged_again(store):
    """The control: other code, other digest, judged."""
    made = parts([wrong(1), wrong(2), RIGHT])
    drive.start("a", job(), made, store)
    assert len(made.check.judged) == 3


@pytest.mark.parametrize("answers", [[1, 1, 1], [1, 2, 1, 2]])
def test_the_same_again_and_again_escalates_before_the_cap(store, answers):
    made = parts([wrong(n) for n in answers], "REJECTED", escalation=[RIGHT])
    drive.start("a", job(rejection_cap=9), made, store)
    assert len(made.models["worker"].asked) == len(answers)
    assert len(made.check.judged) == len(set(answers)) + 1
    assert nodes_run(store).count("escalate") == 1


def test_an_escalation_that_repeats_the_worker_is_not_judged_either(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED", escalation=[wrong(2)])
    assert drive.start("a", job(), made, store).outcome == "paused"
    assert len(made.check.judged) == 3
    assert "same answer again" in made.owner.asked[0].question


def test_guidance_makes_the_same_answer_worth_judging(store):
    made = parts(
        [wrong(1), wrong(2), wrong(3), wrong(1), wrong(2), wrong(3)],
        "REJECTED",
        owner=ScriptedOwner(["the task was changed"]),
    )
    drive.start("a", job(), made, store)
    assert len(made.check.judged) == 6


@pytest.mark.parametrize("line", ["I will now fix the code. ", "I will now fix the code.\n", "a"])
def test_one_thing_said_hundreds_of_times_is_not_parsed(store, line):
    made = parts([line * (2_000 // len(line) + 265), RIGHT])
    assert drive.start("a", job(), made, store).outcome == "passed"
    assert len(made.check.judged) == 1
    assert "again and again" in made.models["worker"].asked[1][-1].content
    assert store.read_record("a")["format_failures"] == 1


def test_a_long_table_is_no_repetition(store):
    rows = "\n".join(f"    ({n}, {n * n % 97}, 'row {n}')," for n in range(400))
    made = parts([f"```python\nright = [\n{rows}\n]\n```"])
    assert drive.start("a", job(), made, store).outcome == "passed"


@pytest.mark.parametrize(
    "reply",
    ["Just use sorted().", "", "Do you want f to be recursive?", Line(text=RIGHT, finish="length")],
    ids=["prose", "empty", "question", "cut"],
)
def test_a_reply_that_cannot_be_used_costs_a_lap_and_says_why(store, reply):
    made = parts([reply, RIGHT])
    assert drive.start("a", job(), made, store).outcome == "passed"
    record = store.read_record("a")
    assert (record["format_failures"], record["rejections"]) == (1, 1)
    assert events(store, kind="candidate_refused")[0]["lap"] == 1
    assert "was not judged" in made.models["worker"].asked[1][-1].content
    assert len(made.models["reviewer"].asked) == 1


# --- who may drive what


def test_bad_threads_get_clear_errors_and_nothing_runs(store):
    made = parts([RIGHT])
    drive.start("a", job(), made, store)
    with pytest.raises(ThreadError, match="is there already"):
        drive.start("a", job(), made, store)
    with pytest.raises(ThreadError, match="has ended \\(passed\\)"):
        drive.resume("a", made, store)
    with pytest.raises(ThreadError, match="unknown"):
        drive.resume("nowhere", made, store)
    assert not store.folder("nowhere").exists()
    with pytest.raises(ThreadError):
        drive.start("../x", job(), made, store)
    with pytest.raises(ConfigError, match="'fast' is unknown"):
        drive.start("b", job(prompt_variants=("fast",)), made, store)
    assert len(made.models["lead"].asked) == 1
    assert not store.folder("b").exists()


def test_an_answer_to_a_run_that_asks_nothing_is_refused(store):
    check = ScriptedCheck(fault=lambda: SandboxUnavailable("gone."))
    made = parts([RIGHT], check=check)
    drive.start("a", job(), made, store)
    with pytest.raises(ThreadError, match="asks its owner nothing"):
        drive.resume("a", made, store, reply=reply_from_text("stop", "argument"))


def test_two_drivers_of_one_thread(store):
    seen = []

    class Owner:
        def answer(self, call):
            for act in (lambda: drive.resume("a", made, store), lambda: drive.start(
                "a", job(), made, store)):  # fmt: skip
                with pytest.raises(ThreadError, match="is driven by process") as error:
                    act()
                seen.append(str(error.value))
            return reply_from_text("stop", "terminal")

    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED", owner=Owner())
    assert drive.start("a", job(), made, store).outcome == "stopped"
    assert len(seen) == 2


def test_a_kept_answer_is_used_and_nobody_asked(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED")
    drive.start("a", job(), made, store)
    nonce = drive.standing(store, "a").nonce
    # Killed right after the owner answered: the answer is on the disk, the graph has not got it.
    store.mailbox("a").keep(nonce, reply_from_text("accept", "terminal"))
    made.owner.lines.append("stop")
    assert drive.resume("a", made, store).outcome == "accepted"
    assert len(made.owner.asked) == 1


def test_a_run_killed_before_its_record_gets_it_on_resume(store):
    made = parts([RIGHT])
    drive.start("a", job(), made, store)
    store.record_path("a").unlink()
    assert drive.resume("a", made, store).outcome == "passed"
    assert store.read_record("a")["outcome"] == "passed"
    assert len(made.models["worker"].asked) == 1


def test_a_run_killed_before_its_first_step_begins(store):
    made = parts([RIGHT])
    drive.start("a", job(), made, store)
    for path in store.root.glob("checkpoints.sqlite*"):
        path.unlink()
    store.record_path("a").unlink()
    made = parts([RIGHT])
    assert drive.resume("a", made, store).outcome == "passed"


def test_calls_made_are_told_to_a_script(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED")
    drive.start("a", job(), made, store)
    assert drive.standing(store, "a").replies == {"lead": 1, "worker": 3, "reviewer": 3}


def test_no_plan_asks_no_lead(store):
    made = parts([RIGHT])
    assert drive.start("a", job(prompt_variants=("no_plan",)), made, store).outcome == "passed"
    assert not made.models["lead"].asked


@pytest.mark.parametrize(("lap_s", "laps"), [(1.0, [0, 1, 2]), (0.3, [0, 1, 1])])
def test_the_record_of_a_run_that_goes_on_shows_its_laps(store, lap_s, laps):
    """At most once a second: with quick laps their records would be a third of the work."""
    clock, seen = FakeClock(), []

    def look():
        (line,) = store.list()
        seen.append((line.outcome, line.laps, line.output_tokens))
        clock.sleep(lap_s)

    made = parts([wrong(1), wrong(2), RIGHT], check=ScriptedCheck(fault=look), clock=clock)
    assert drive.start("a", job(), made, store).outcome == "passed"
    assert [(outcome, laps) for outcome, laps, _ in seen] == [(None, n) for n in laps]
    tokens = [tokens for _, _, tokens in seen]
    assert tokens[0] < tokens[1]
    assert (tokens[1] < tokens[2]) == (laps[1] < laps[2])
    assert store.read_record("a")["outcome"] == "passed"
