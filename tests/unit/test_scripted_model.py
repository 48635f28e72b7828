"""The scripted model says its lines, fails on demand and says when it has none left."""

import threading

import pytest

from agent_loop.errors import Cancelled, ModelUnavailable
from agent_loop.models import Line, Script, ScriptedModel
from agent_loop.ports import Message
from tests.fakes.clock import FakeClock

HELLO = [Message(role="user", content="hello")]


def test_lines_come_in_order_and_prompts_are_remembered():
    model = ScriptedModel("scripted:demo", ["one", Line(text="two", finish="length")])
    assert model.ask(HELLO).text == "one"
    second = model.ask(HELLO)
    assert (second.text, second.finish, second.answered) == ("two", "length", "scripted:demo")
    assert model.asked == [tuple(HELLO), tuple(HELLO)]


def test_an_exhausted_script_says_so():
    model = ScriptedModel("scripted:demo.yaml", ["one"])
    model.ask(HELLO)
    with pytest.raises(ModelUnavailable, match=r"scripted:demo\.yaml: the script has 1 replies"):
        model.ask(HELLO)


def test_a_resumed_script_goes_on_where_it_stopped():
    lines = [Line(fault="connection"), "one", "two"]
    assert ScriptedModel("s:x", Script("s:x", lines, answered=1)).ask(HELLO).text == "two"


def test_transient_faults_are_retried_counted_and_noted():
    clock = FakeClock()
    lines = [Line(fault="connection"), Line(fault="server"), "done"]
    reply = ScriptedModel("s:x", lines, clock=clock).ask(HELLO)
    assert reply.text == "done"
    assert (reply.usage.calls, reply.usage.retries, reply.usage.unmeasured_calls) == (3, 2, 2)
    assert len(reply.notes) == 2
    assert 0.75 <= clock.now <= 3.0
    assert reply.usage.seconds == pytest.approx(clock.now)


def test_spent_retries_stop_the_run():
    lines = [Line(fault="connection")] * 4
    with pytest.raises(ModelUnavailable, match="4 tries, nothing was judged"):
        ScriptedModel("s:x", lines, clock=FakeClock()).ask(HELLO)


def test_unavailable_is_not_retried():
    model = ScriptedModel("s:x", [Line(fault="unavailable"), "never"], clock=FakeClock())
    with pytest.raises(ModelUnavailable, match="unavailable"):
        model.ask(HELLO)
    assert model.ask(HELLO).text == "never"


def test_unknown_usage_is_not_zero():
    usage = ScriptedModel("s:x", [Line(text="a", usage=False)]).ask(HELLO).usage
    assert (usage.calls, usage.unmeasured_calls, usage.input_tokens) == (1, 1, 0)


def test_a_cancel_ends_a_delay():
    cancel = threading.Event()
    clock = FakeClock()
    sleep = clock.sleep

    def sleep_then_cancel(seconds):
        sleep(seconds)
        if clock.now > 1:
            cancel.set()

    clock.sleep = sleep_then_cancel
    with pytest.raises(Cancelled):
        ScriptedModel("s:x", [Line(text="a", delay_s=60)], clock=clock).ask(HELLO, cancel=cancel)
    assert clock.now < 2


def test_reasoning_and_unfit_characters_leave_the_text():
    line = Line(text="<think>hm</think>\nx = '\ud800'", reasoning="first ")
    pieces = []
    reply = ScriptedModel("s:x", [line]).ask(HELLO, on_text=pieces.append)
    assert reply.text == "x = '\ufffd'"
    assert reply.reasoning == "first hm"
    assert "hm" not in "".join(pieces)


def test_an_endless_line_is_cut_and_marked_as_cut():
    reply = ScriptedModel("s:x", ["x" * 1_000_000]).ask(HELLO)
    assert reply.finish == "length"
    assert len(reply.text) <= 400_000
    assert "characters left out" in reply.text
    assert any("was cut" in note for note in reply.notes)
