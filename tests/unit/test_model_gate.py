"""The gate of a server with room for one model: few swaps, nobody starves, waiting can be ended."""

import threading
import time

import pytest

from agent_loop.config import Config
from agent_loop.errors import Cancelled
from agent_loop.models.gate import Gated, ModelGate
from agent_loop.models.provider import Never
from agent_loop.models.scripted import ScriptedModel
from agent_loop.ports import Message

NEVER = Never()


def serve(gate, calls, *, held):
    """The order in which these calls are let in, all of them waiting when `held` lets go."""
    order, threads, entered = [], [], threading.Event()

    def first():
        with gate.turn(held, NEVER):
            entered.set()
            free.wait(60)

    def call(key, number):
        with gate.turn(key, NEVER):
            order.append((key, number))

    free = threading.Event()
    holder = threading.Thread(target=first)
    holder.start()
    entered.wait(60)
    for number, key in enumerate(calls):
        thread = threading.Thread(target=call, args=(key, number))
        thread.start()
        threads.append(thread)
        while len(gate._waiting) < number + 1:
            time.sleep(0.001)
    free.set()
    for thread in [holder, *threads]:
        thread.join(60)
        assert not thread.is_alive()
    return order


def swaps(order, loaded):
    return sum(a != b for a, b in zip([loaded, *(k for k, _ in order)], (k for k, _ in order)))


def test_calls_for_the_loaded_model_go_first():
    order = serve(ModelGate(), "babcabca", held="a")
    assert "".join(key for key, _ in order) == "aaabbbcc"
    assert [n for key, n in order if key == "b"] == [0, 2, 5]


def test_first_come_first_served_would_swap_at_every_call():
    """The control: a gate that lets nobody pass."""
    order = serve(ModelGate(most_passed=0), "babcabca", held="a")
    assert [n for _, n in order] == list(range(8))
    assert swaps(order, "a") == 8


def test_nobody_is_passed_more_often_than_said():
    order = serve(ModelGate(most_passed=3), "b" + "a" * 10, held="a")
    assert "".join(key for key, _ in order) == "aaabaaaaaaa"


def test_several_calls_of_one_model_run_together_and_another_waits_for_their_end():
    gate = ModelGate(slots=2)
    both, free = threading.Barrier(3), threading.Event()
    seen = []

    def call(key):
        with gate.turn(key, NEVER):
            seen.append(key)
            if key == "a":
                both.wait(60)
                free.wait(60)

    threads = [threading.Thread(target=call, args=(key,)) for key in "aa"]
    for thread in threads:
        thread.start()
    both.wait(60)
    other = threading.Thread(target=call, args=("b",))
    other.start()
    time.sleep(0.1)
    assert seen == ["a", "a"]
    free.set()
    for thread in [*threads, other]:
        thread.join(60)
    assert seen == ["a", "a", "b"]


def test_waiting_ends_when_the_run_is_told_to_stop():
    gate = ModelGate()
    stop = threading.Event()
    with gate.turn("a", NEVER):
        threading.Timer(0.1, stop.set).start()
        with pytest.raises(Cancelled), gate.turn("b", stop):
            pass
    with gate.turn("b", NEVER):  # the queue is clean
        pass


def test_a_call_that_fails_gives_its_turn_back():
    gate = ModelGate()
    model = Gated(ScriptedModel("scripted:x", ["one"]), gate, "x")
    assert model.ask([Message(role="user", content="?")]).text == "one"
    with pytest.raises(Exception, match="one more was asked"):
        model.ask([Message(role="user", content="?")])
    with gate.turn("y", NEVER):
        pass
    assert (model.name, model.fingerprint().name) == ("scripted:x", "scripted:x")


def test_the_models_of_one_server_share_a_gate(tmp_path):
    from agent_loop.assemble.company import Company
    from agent_loop.ports import SystemClock
    from tests.fakes.ollama_server import Kept, OllamaServer

    with OllamaServer(models={"a:1": Kept(), "b:1": Kept()}) as server:
        config = Config(
            models={"lead": "ollama:a:1", "worker": "ollama:b:1", "reviewer": "ollama:a:1"},
            base_urls={"ollama": server.url},
        )
        company = Company(tmp_path, SystemClock(), print)
        company.gated = True
        chosen = company.shared(config)
        assert {type(model) for model in chosen.values()} == {Gated}
        assert len({id(model._gate) for model in chosen.values()}) == 1
        assert len({model._key for model in chosen.values()}) == 2
        company.close()
