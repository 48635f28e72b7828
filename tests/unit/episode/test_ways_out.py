"""Every way out of an episode is reached, and each goes through the trace."""

import threading
from dataclasses import replace

import pytest

from agent_loop.errors import Cancelled, ModelUnavailable, SandboxUnavailable
from agent_loop.models import Line, ScriptedModel
from agent_loop.models.asking import Asking
from agent_loop.ports import BadCall
from tests.fakes.clock import FakeClock
from tests.fakes.episodes import FILES, does, episode, says
from tests.fakes.toolbox import BASH, MemoryToolbox

FIX = does("str_replace", path="a.py", old="return 1", new="return 2")


def bash_box(clock=None):
    return MemoryToolbox(FILES, specs=BASH, clock=clock or FakeClock())


def ended(heard):
    [event] = heard.of("episode_ended")
    return event["reason"]


def test_submitted_with_the_working_copy_changed():
    done, box, _, heard = episode(does("view", path="a.py"), FIX, does("submit"))
    assert (done.reason, done.steps, done.calls, done.fault) == ("submitted", 3, 3, None)
    assert box.tree()["a.py"] == b"def f():\n    return 2\n"
    assert ended(heard) == "submitted"
    assert [e["call"]["name"] for e in heard.of("episode_step")] == [
        "view",
        "str_replace",
        "submit",
    ]
    assert (done.native_calls, done.recovered_calls, done.protocol) == (3, 0, "native")


def test_step_limit():
    done, _, model, heard = episode(*[does("view", path=f"{n}.py") for n in range(9)], max_steps=4)
    assert (done.reason, done.steps, len(model.asked)) == ("step_limit", 4, 4)
    assert "4 steps" in done.detail
    assert ended(heard) == "step_limit"


def test_token_limit():
    lines = [does("view", _text="word " * 400, path=f"{n}.py") for n in range(9)]
    done, *_ = episode(*lines, tokens=1200)
    assert (done.reason, done.steps) == ("token_limit", 2)


def test_token_limit_counts_roughly_where_no_server_counts():
    lines = [
        Line(text=one.text, tool_calls=one.tool_calls, usage=False)
        for one in [does("view", _text="word " * 400, path=f"{n}.py") for n in range(9)]
    ]
    done, *_ = episode(*lines, tokens=1200)
    assert (done.reason, done.usage.unmeasured_calls, done.steps) == ("token_limit", 2, 2)
    assert done.guessed_tokens >= 1200


def test_time_limit_between_steps():
    clock = FakeClock()
    lines = [does("bash", command="sleep 4") for _ in range(4)]
    done, *_ = episode(*lines, clock=clock, box=bash_box(clock), seconds=10)
    assert (done.reason, done.steps) == ("time_limit", 3)


def test_time_limit_cuts_a_model_off_in_the_middle_of_its_answer():
    lines = [Line(text="hm", delay_s=60)]
    done, _, _, heard = episode(*lines, seconds=10)
    assert (done.reason, done.fault) == ("time_limit", None)
    assert ended(heard) == "time_limit"
    assert 10 <= done.seconds < 12


def test_model_refusal():
    done, *_ = episode(Line(text="I will not do that.", refused=True))
    assert (done.reason, done.detail) == ("model_refusal", "I will not do that.")


def test_loop_detected_with_a_nudge_before():
    done, box, model, _ = episode(*[does("run_tests")] * 9)
    assert (done.reason, done.steps, len(box.calls)) == ("loop_detected", 5, 5)
    shown = [asked[-1].content for asked in model.asked[1:]]
    assert ["in a row" in text for text in shown] == [False, False, True, True]
    assert "run_tests" in done.detail


def test_an_alternating_pair_is_a_loop_too():
    pair = [does("view", path="a.py"), does("run_tests")]
    done, _box, model, _ = episode(*pair * 9, max_steps=30)
    assert (done.reason, done.steps) == ("loop_detected", 10)
    assert "in a row" in model.asked[6][-1].content


def test_reordered_arguments_are_the_same_action():
    one = does("str_replace", path="a.py", old="x", new="y")
    other = does("str_replace", new="y", old="x", path="a.py")
    done, *_ = episode(one, other, one, other, one, other)
    assert (done.reason, done.steps) == ("loop_detected", 5)


def test_different_actions_are_no_loop():
    lines = [does("create", path="a.py", content=str(n)) for n in range(12)]
    done, *_ = episode(*lines, does("submit"))
    assert (done.reason, done.steps) == ("submitted", 13)


def test_error_when_the_model_is_gone():
    done, _, _, heard = episode(does("view", path="a.py"), Line(fault="unavailable"))
    assert (done.reason, type(done.fault)) == ("error", ModelUnavailable)
    assert ended(heard) == "error"


def test_error_when_the_container_is_gone():
    done, *_ = episode(does("bash", command="gone"), box=bash_box())
    assert (done.reason, type(done.fault)) == ("error", SandboxUnavailable)


def test_error_when_somebody_stops_it():
    stop = threading.Event()
    stop.set()
    done, *_ = episode(Line(text="x", delay_s=1), cancel=stop)
    assert (done.reason, type(done.fault)) == ("error", Cancelled)


@pytest.mark.parametrize(("cost", "unpriced", "steps"), [(1.0, 0, 3), (0.0, 1, 1)])
def test_cost_limit_an_unknown_price_included(cost, unpriced, steps):
    lines = [does("view", path=f"{n}.py") for n in range(9)]
    model = Costing(ScriptedModel("scripted:x", lines), cost, unpriced)
    done, *_ = episode(model=model, cost_usd=2.5)
    assert (done.reason, done.steps) == ("cost_limit", steps)
    assert ("unknown" in done.detail) == bool(unpriced)


class Costing:
    """A model whose calls cost so much."""

    native_tools = True
    name = "paid:model"

    def __init__(self, inner, cost, unpriced):
        self._inner, self._cost, self._unpriced = inner, cost, unpriced

    def ask(self, messages, **more):
        reply = self._inner.ask(messages, **more)
        usage = replace(reply.usage, cost_usd=self._cost, unpriced_calls=self._unpriced)
        return replace(reply, usage=usage)


# --- what is no way out -------------------------------------------------------------------------


def test_a_transient_fault_is_the_adapters_business():
    done, *_ = episode(Line(fault="server"), Line(fault="repeat"), does("submit"))
    assert (done.reason, done.steps, done.usage.retries) == ("submitted", 1, 2)
    assert isinstance(ScriptedModel()._inner, Asking)


def test_an_unknown_tool_gets_the_list():
    done, box, model, _ = episode(does("open_file", path="a.py"), does("submit"))
    assert (done.reason, [c.name for c in box.calls]) == ("submitted", ["submit"])
    answer = model.asked[1][-1]
    assert (answer.role, answer.tool_call_id) == ("tool", "call-1-1")
    assert "view, str_replace, create, run_tests, submit" in answer.content


def test_a_broken_call_comes_back_as_an_observation_and_is_not_run():
    broken = BadCall(id="c9", name="submit", text='{"a": ', problem="the arguments are not JSON")
    done, _box, model, _ = episode(Line(tool_calls=(broken,)), does("submit"))
    assert (done.reason, done.calls) == ("submitted", 1)
    assert model.asked[1][-1].tool_call_id == "c9"
    assert "not JSON" in model.asked[1][-1].content


def test_a_tool_error_and_a_time_out_come_back_too():
    lines = [does("bash", command="late"), does("bash", nonsense=1), does("submit")]
    done, _, model, _ = episode(*lines, box=bash_box())
    assert done.reason == "submitted"
    assert "stopped after 1 s" in model.asked[1][-1].content
    assert "nonsense" in model.asked[2][-1].content


def test_a_reply_that_was_cut_is_not_run():
    cut = does("create", path="a.py", content="half")
    line = Line(tool_calls=cut.tool_calls, finish="length")
    done, box, model, _ = episode(line, does("submit"))
    assert (done.reason, box.tree()) == ("submitted", FILES)
    assert model.asked[1][-1].tool_call_id == "call-1-1"
    assert "cut at its token limit" in model.asked[1][-1].content


def test_several_calls_of_one_reply_each_get_their_answer():
    calls = (*does("view", path="a.py").tool_calls, *does("run_tests").tool_calls)
    _, _, model, _ = episode(Line(tool_calls=calls), does("submit"))
    assert [m.tool_call_id for m in model.asked[1][-2:]] == ["call-1-1", "call-1-2"]


def test_every_observation_is_cut_with_a_marker():
    done, _, model, heard = episode(
        does("bash", command="yes 9000"), does("submit"), box=bash_box(), observation_chars=600
    )
    shown = model.asked[1][-1].content
    assert (done.reason, len(shown) <= 600, "left out" in shown) == ("submitted", True, True)
    assert len(heard.of("episode_step")[0]["observation"]["text"]) == 18_000


def test_a_model_that_never_calls_is_reported_as_unsuited():
    lines = [f"I would look at file number {n} now." for n in range(9)]
    done, box, _, _ = episode(*lines)
    assert (done.reason, done.steps, box.calls) == ("loop_detected", 5, [])
    assert "unsuited to tools" in done.detail


def test_text_protocol_end_to_end():
    done, box, model, _ = episode(
        says("view", path="a.py"),
        says("str_replace", path="a.py", old="return 1", new="return 2"),
        says("submit"),
        protocol="text",
    )
    assert (done.reason, done.protocol, done.native_calls) == ("submitted", "text", 0)
    assert box.tree()["a.py"] == b"def f():\n    return 2\n"
    assert "- str_replace: " in model.asked[0][0].content
    assert [m.role for m in model.asked[2]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
