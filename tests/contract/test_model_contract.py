"""What every model does, whoever answers. A new adapter adds one stage."""

import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_loop.config import ModelOptions, ModelSettings
from agent_loop.errors import Cancelled
from agent_loop.models import Line, Maker, ScriptedModel, make_model
from agent_loop.ports import Message
from tests.fakes.cloud_servers import KEY, AnthropicServer, OpenAIServer
from tests.fakes.ollama_server import Kept, OllamaServer, Turn
from tests.fakes.recorded import write_trace
from tests.fakes.require import needs_embedded

SYSTEM = Message(role="system", content="You answer in few words.")
HELLO = (SYSTEM, Message(role="user", content="Say hello."))


class ScriptedStage:
    name = "scripted:stage"
    says_what_it_is_told = True

    @contextmanager
    def model(self, *turns):
        lines = [
            Line(
                text=f"<think>{t.thinking}</think>{t.text}" if t.thinking else t.text,
                finish="length" if t.fault == "length" else "stop",
                delay_s=t.seconds,
            )
            for t in turns
        ]
        yield ScriptedModel(self.name, lines)


class ReplayStage:
    name = "replay:stage"
    says_what_it_is_told = True

    def __init__(self, runs):
        self.runs = runs

    @contextmanager
    def model(self, *turns):
        write_trace(self.runs / "stage", [("worker", t.text, t.thinking, t.fault) for t in turns])
        yield make_model(ModelSettings(provider="replay", model="stage"), runs=self.runs)


class ServerStage:
    says_what_it_is_told = True

    def __init__(self, provider, server, model, **more):
        self.name = f"{provider}:{model}"
        self.provider, self.server, self.of, self.more = provider, server, model, more

    @contextmanager
    def model(self, *turns):
        with self.server(*[self.turn(t) for t in turns], **self.more) as server:
            settings = ModelSettings(
                provider=self.provider, model=self.of, base_url=server.url, api_key=KEY
            )
            yield make_model(settings)

    @staticmethod
    def turn(turn):
        fault = "think_tags" if turn.thinking else turn.fault
        fault = "slow_first_byte" if turn.seconds else fault
        return Turn(text=turn.text, thinking=turn.thinking, fault=fault, seconds=turn.seconds)


class EmbeddedStage:
    name = "embedded:smollm2-135m"
    says_what_it_is_told = False

    @contextmanager
    def model(self, *turns):
        cut = any(t.fault == "length" for t in turns)
        options = ModelOptions(num_predict=4 if cut else 40, num_ctx=4096, temperature=1.5, seed=1)
        yield make_model(ModelSettings(provider="embedded", model="smollm2-135m", options=options))


STAGES = ["scripted", "replay", "ollama", "openai", "anthropic"]


@pytest.fixture(params=[*STAGES, pytest.param("embedded", marks=pytest.mark.embedded)])
def stage(request, tmp_path: Path):
    match request.param:
        case "scripted":
            return ScriptedStage()
        case "replay":
            return ReplayStage(tmp_path)
        case "ollama":
            return ServerStage("ollama", OllamaServer, "tiny:1b", models={"tiny:1b": Kept()})
        case "openai":
            pytest.importorskip("langchain_openai")
            return ServerStage("openai", OpenAIServer, "tiny-1")
        case "anthropic":
            pytest.importorskip("langchain_anthropic")
            return ServerStage("anthropic", AnthropicServer, "tiny-1")
    needs_embedded()
    return EmbeddedStage()


def test_a_reply_says_who_answered_and_what_it_cost(stage):
    with stage.model(Turn(text="Hello.")) as model:
        model.preflight()
        reply = model.ask(HELLO)
    assert model.name == stage.name == reply.answered
    assert reply.text
    assert (reply.usage.calls, reply.usage.unmeasured_calls, reply.usage.retries) == (1, 0, 0)
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.usage.seconds >= 0
    assert not reply.context_cut
    if stage.says_what_it_is_told:
        assert (reply.text, reply.finish) == ("Hello.", "stop")


def test_a_watcher_sees_the_text_as_it_comes(stage):
    pieces = []
    with stage.model(Turn(text="One line.\nAnd another.")) as model:
        reply = model.ask(HELLO, on_text=pieces.append)
    assert "".join(pieces).strip("\n") == reply.text


def test_reasoning_reaches_neither_the_text_nor_the_watcher(stage):
    if not stage.says_what_it_is_told:
        pytest.skip("cannot be told to think")
    pieces = []
    with stage.model(Turn(text="Answer.", thinking="SECRET")) as model:
        reply = model.ask(HELLO, on_text=pieces.append)
    assert reply.text == "Answer."
    assert reply.reasoning == "SECRET"
    assert "SECRET" not in "".join(pieces)


def test_a_cut_answer_is_marked(stage):
    with stage.model(Turn(text="Half an ans", fault="length")) as model:
        assert model.ask(HELLO).finish == "length"


def test_a_cancel_from_before_stops_it(stage):
    cancel = threading.Event()
    cancel.set()
    if stage.name.startswith(("scripted", "replay")):
        pytest.skip("answers at once")
    with stage.model(Turn(text="Hello.")) as model, pytest.raises(Cancelled):
        model.ask(HELLO, cancel=cancel)


def test_a_cancel_in_the_middle_is_quick_and_the_next_ask_works(stage):
    if stage.name.startswith("replay"):
        pytest.skip("answers at once")
    cancel = threading.Event()
    with stage.model(Turn(seconds=30), Turn(text="Hello.")) as model:
        timer = threading.Timer(0.3, cancel.set)
        timer.start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            # So long that the embedded model is still reading when it is cancelled.
            model.ask((SYSTEM, Message(role="user", content="word " * 3000)), cancel=cancel)
        assert time.monotonic() - began < 25
        timer.join()
        if stage.says_what_it_is_told:
            assert model.ask(HELLO).text == "Hello."


def test_unfit_characters_in_a_prompt_are_no_fault(stage):
    ask = (SYSTEM, Message(role="user", content="a\ud800b\x00c"))
    with stage.model(Turn(text="Hello.")) as model:
        assert model.ask(ask).usage.calls == 1


def test_two_threads_may_ask_at_once(stage):
    if stage.name.startswith("replay"):
        pytest.skip("a record has one order")
    replies = []
    with stage.model(Turn(text="Hello."), Turn(text="Hello.")) as model:
        threads = [
            threading.Thread(target=lambda: replies.append(model.ask(HELLO).text)) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(replies) == 2


def test_the_fingerprint_names_it_and_closing_twice_is_safe(stage):
    with stage.model(Turn()) as model:
        print_ = model.fingerprint()
        assert print_.name == model.name
        assert print_.answered == model.name
        model.close()
        model.close()


def test_roles_of_one_maker_do_not_disturb_each_other(stage):
    """Each role gets its own conversation; nothing of one shows up in the other."""
    if stage.name.startswith(("scripted", "replay")):
        pytest.skip("covered by their own tests")
    with stage.model(Turn(text="A."), Turn(text="B.")) as model:
        assert model.ask(HELLO).text
        assert model.ask((SYSTEM, Message(role="user", content="And now?"))).text


def test_a_maker_makes_each_provider(tmp_path):
    write_trace(tmp_path / "t", [("worker", "x", "", None)])
    (tmp_path / "s.yaml").write_text("worker: [x]\n", encoding="utf-8")
    maker = Maker(scripts=tmp_path, runs=tmp_path)
    names = ["scripted:s.yaml", "replay:t", "ollama:a:b", "embedded:smollm2-135m"]
    for name in names:
        provider, _, model = name.partition(":")
        made = maker.make(ModelSettings(provider=provider, model=model), "worker")
        assert made.name == name
