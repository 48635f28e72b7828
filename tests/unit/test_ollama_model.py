"""The Ollama adapter against a server that speaks the real protocol."""

import threading
import time

import pytest

from agent_loop.config import ModelOptions, ModelSettings
from agent_loop.errors import Cancelled, ModelUnavailable, ServerDown
from agent_loop.models import Maker, choose, make_model
from agent_loop.ports import Message
from tests.fakes.clock import FakeClock
from tests.fakes.ollama_server import FAULTS, Kept, OllamaServer, Turn

HELLO = [Message(role="user", content="hello")]
THINKER = {"tiny:1b": Kept(capabilities=("completion", "thinking"))}


def settings(server, model="tiny:1b", **more):
    options = ModelOptions(**more.pop("options", {}))
    more = {"read_s": 30.0, "total_s": 120.0, "connect_s": 20.0, "retries": 2, **more}
    url = server if isinstance(server, str) else server.url
    return ModelSettings(provider="ollama", model=model, base_url=url, options=options, **more)


def model(server, name="tiny:1b", **more):
    return make_model(settings(server, name, **more), clock=FakeClock())


def test_every_option_is_sent_with_every_request():
    options = {"num_ctx": 4096, "num_predict": 99, "seed": 7, "temperature": 0.5, "top_p": 0.9}
    with OllamaServer() as server:
        asked = model(server, options={**options, "repeat_penalty": 1.2})
        asked.ask(HELLO)
        asked.ask(HELLO)
    for body in server.chats():
        assert body["options"] == {**options, "repeat_penalty": 1.2}
        assert body["messages"] == [{"role": "user", "content": "hello"}]
        assert "think" not in body


def test_counts_load_time_and_who_answered():
    with OllamaServer(load_s=0.2) as server:
        first, second = model(server).ask(HELLO), model(server).ask(HELLO)
    assert first.usage.load_s == pytest.approx(0.2, abs=0.05)
    assert second.usage.load_s < 0.05
    assert (first.usage.calls, first.usage.unmeasured_calls) == (1, 0)
    assert first.usage.input_tokens > 0
    assert first.usage.output_tokens > 0
    assert first.answered == "ollama:tiny:1b"


FATAL = {
    "404": r"Type: ollama pull tiny:1b",
    "500": r"server error 500: .* \(3 tries, nothing was judged\)",
    "error_in_stream": r"server error inside the answer: .* \(3 tries",
    "no_done": r"broke off before its end \(3 tries",
    "drop": r"the connection broke .* \(3 tries",
    "stall": r"fell silent for 0.6 s \(3 tries",
    "slow_first_byte": r"nothing came for 0.6 s \(3 tries",
    "not_json": r"made no sense .* \(3 tries",
    "repeat_silent": r"'=' repeated; raise repeat_penalty .* \(3 tries",
    "repeat_error": r"token repeat limit reached; raise repeat_penalty .* \(3 tries",
    "repeat_500": r"token repeat limit reached; raise repeat_penalty .* \(3 tries",
    "load_only": r"without a word \(3 tries",
}


@pytest.mark.parametrize("fault", FATAL)
def test_a_fault_that_stays_stops_the_run_and_costs_no_lap(fault):
    read_s = 0.6 if fault in {"stall", "slow_first_byte"} else 30.0
    with (
        OllamaServer(*[Turn(fault=fault, seconds=60)] * 3) as server,
        pytest.raises(ModelUnavailable, match=FATAL[fault]),
    ):
        model(server, read_s=read_s).ask(HELLO)
    assert len(server.chats()) == (1 if fault == "404" else 3)


@pytest.mark.parametrize("fault", sorted(set(FATAL) - {"404", "stall", "slow_first_byte"}))
def test_a_fault_that_passes_is_retried_and_counted(fault):
    with OllamaServer(Turn(fault=fault)) as server:
        reply = model(server).ask(HELLO)
    assert reply.text == "Hello there."
    assert (reply.usage.calls, reply.usage.retries, reply.usage.unmeasured_calls) == (2, 1, 1)
    assert len(reply.notes) == 1


LAPS = {
    "missing_counts": ("Hello there.", "stop"),
    "length": ("Hello there.", "length"),
    "thinking_only": ("", "length"),
    "think_tags": ("Hello there.", "stop"),
    "empty": ("", "stop"),
    "surrogates": ("caf\ufffd \ufffd \ufffd end", "stop"),
    "not_utf8": ("\ufffd\ufffd", "stop"),
    "cut_context": ("Hello there.", "stop"),
}


@pytest.mark.parametrize("fault", LAPS)
def test_what_is_the_models_own_fault_is_a_reply(fault):
    with OllamaServer(Turn(fault=fault), models=THINKER) as server:
        reply = model(server).ask(HELLO)
    assert (reply.text, reply.finish) == LAPS[fault]
    assert reply.usage.unmeasured_calls == (fault == "missing_counts")
    assert ("I wonder" in reply.reasoning) == (fault in {"thinking_only", "think_tags"})
    assert reply.context_cut == (fault == "cut_context")


def test_an_endless_line_is_cut_and_may_not_be_applied():
    with OllamaServer(Turn(fault="big_line")) as server:
        reply = model(server).ask(HELLO)
    assert reply.finish == "length"
    assert len(reply.text) <= 400_000


def test_every_fault_of_the_fake_is_tried():
    assert set(FAULTS) == {*FATAL, *LAPS, "big_line"}


@pytest.mark.parametrize("fault", ["repeat_silent", "repeat_error", "repeat_500"])
def test_a_repeat_abort_is_retried_with_other_sampling(fault):
    with OllamaServer(*[Turn(fault=fault)] * 2) as server:
        model(server, options={"seed": 7}).ask(HELLO)
    seeds = [body["options"]["seed"] for body in server.chats()]
    penalties = [body["options"].get("repeat_penalty") for body in server.chats()]
    assert seeds == [7, 8, 9]
    assert penalties == [None, pytest.approx(1.1), pytest.approx(1.2)]


def test_control_a_plain_fault_keeps_the_sampling():
    with OllamaServer(Turn(fault="500")) as server:
        model(server, options={"seed": 7}).ask(HELLO)
    assert [body["options"]["seed"] for body in server.chats()] == [7, 7]


def test_reasoning_is_asked_for_only_where_the_model_can():
    with OllamaServer(Turn(thinking="hm"), models=THINKER) as server:
        assert model(server).ask(HELLO).reasoning == "hm"
        model(server, options={"reasoning": False}).ask(HELLO)
        model(server, options={"reasoning": "high"}).ask(HELLO)
    assert [body.get("think") for body in server.chats()] == [True, False, "high"]
    with OllamaServer() as server:
        model(server, options={"reasoning": True}).ask(HELLO)
    assert "think" not in server.chats()[0]


def test_a_cancel_drops_the_stream_at_once():
    cancel = threading.Event()
    with OllamaServer(Turn(fault="slow_first_byte", seconds=20)) as server:
        threading.Timer(0.3, cancel.set).start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            model(server, read_s=60).ask(HELLO, cancel=cancel)
        assert time.monotonic() - began < 15


def test_an_answer_that_never_ends_is_stopped_by_the_clock():
    with (
        OllamaServer(Turn(text="word " * 20, fault="stall", seconds=20)) as server,
        pytest.raises(ModelUnavailable, match=r"no whole answer within 1\.5 s"),
    ):
        model(server, total_s=1.5).ask(HELLO)
    assert len(server.chats()) == 1


def test_loading_is_not_counted_against_the_answer():
    with OllamaServer(load_s=2.0) as server:
        assert model(server, total_s=1.8).ask(HELLO).text == "Hello there."


def test_a_prompt_that_cannot_fit_is_never_sent():
    long = [Message(role="user", content="word " * 8000)]
    with (
        OllamaServer() as server,
        pytest.raises(ModelUnavailable, match=r"at least 10004 tokens.*Raise num_ctx"),
    ):
        model(server).ask(long)
    assert not server.chats()


def test_a_smaller_window_than_asked_for_is_found_out():
    kept = {"tiny:1b": Kept(allocated=2048)}
    long = [Message(role="user", content="word " * 1500)]
    with OllamaServer(models=kept) as server:
        asked = model(server)
        asked.ask(HELLO)
        with pytest.raises(ModelUnavailable, match="context of 2048"):
            asked.ask(long)


def test_preflight_compares_the_exact_tag():
    with OllamaServer(models={"qwen3:8b": Kept(), "tiny:latest": Kept()}) as server:
        model(server, "qwen3:8b").preflight()
        model(server, "tiny").preflight()
        with pytest.raises(ModelUnavailable, match=r"There is qwen3:8b. Type: ollama pull qwen3$"):
            model(server, "qwen3").preflight()


def test_nobody_there_says_what_to_type():
    with pytest.raises(ServerDown, match=r"no answer at http://127\.0\.0\.1:9.*ollama serve"):
        model("http://127.0.0.1:9").preflight()
    with pytest.raises(ModelUnavailable, match="no answer at"):
        model("http://127.0.0.1:9").ask(HELLO)


def test_the_fingerprint_says_what_exactly_answered():
    with OllamaServer() as server:
        print_ = model(server, options={"num_ctx": 4096}).fingerprint()
    assert print_.digest == "0123456789abcdef" * 4
    assert print_.quantisation == "Q4_K_M"
    assert print_.server_version == "0.12.6"
    assert len(print_.template_hash) == 64
    assert print_.options["num_ctx"] == 4096


def wanted(server, **models):
    return {role: settings(server, name) for role, name in models.items()}


def scripted(tmp_path):
    script = tmp_path / "s.yaml"
    script.write_text("replies: [a, b, c]\n", encoding="utf-8")
    return ModelSettings(provider="scripted", model=str(script))


def test_every_role_is_looked_at_before_the_first_call():
    roles = {"lead": "tiny:1b", "worker": "absent:7b", "escalation": "huge:70b"}
    with (
        OllamaServer() as server,
        pytest.raises(ModelUnavailable) as problem,
    ):
        choose(wanted(server, **roles), maker=Maker())
    assert "ollama pull absent:7b" in str(problem.value)
    assert "ollama pull huge:70b" in str(problem.value)
    assert not server.chats()


def test_a_fallback_stands_in_for_a_server_that_is_down(tmp_path):
    roles = wanted("http://127.0.0.1:9", lead="tiny:1b", worker="tiny:1b")
    spare = {role: scripted(tmp_path) for role in roles}
    chosen = choose(roles, maker=Maker(), fallback=spare)
    assert len(chosen.notes) == 1
    assert "no answer at http://127.0.0.1:9" in chosen.notes[0]
    assert "instead for lead, worker" in chosen.notes[0]
    reply = chosen.models["worker"].ask(HELLO)
    assert reply.answered.startswith("scripted:")
    assert chosen.models["worker"].name == "ollama:tiny:1b"
    print_ = chosen.models["worker"].fingerprint()
    assert (print_.name, print_.answered) == ("ollama:tiny:1b", reply.answered)


def test_no_fallback_for_a_missing_model_or_where_none_is_given(tmp_path):
    spare = {"lead": scripted(tmp_path)}
    with OllamaServer() as server, pytest.raises(ModelUnavailable, match="ollama pull"):
        choose(wanted(server, lead="absent"), maker=Maker(), fallback=spare)
    with pytest.raises(ModelUnavailable, match="no answer"):
        choose(wanted("http://127.0.0.1:9", lead="tiny:1b"), maker=Maker())


def test_models_that_swap_show_their_loading():
    kept = {"a:1b": Kept(), "b:1b": Kept()}
    with OllamaServer(models=kept, load_s=0.1) as server:
        both = [model(server, "a:1b"), model(server, "b:1b")]
        loads = [both[n % 2].ask(HELLO).usage.load_s for n in range(4)]
    assert server.loaded.loads == ["a:1b", "b:1b", "a:1b", "b:1b"]
    assert all(load >= 0.1 for load in loads)
