"""What calls cost: the owner's price, the shipped one, nothing for local ones, or unknown."""

import io

import pytest
from rich.console import Console

from agent_loop.assemble import refuse_unpriced
from agent_loop.cli.tables import token_table
from agent_loop.config import Config, ModelSettings, PriceSettings
from agent_loop.errors import ConfigError
from agent_loop.graph.nodes import spent
from agent_loop.graph.parts import Limits
from agent_loop.graph.state import checked, fresh, usage_state
from agent_loop.models import Line, Maker, ScriptedModel, prices_for
from agent_loop.models.prices import Prices, shipped
from agent_loop.ports import Message, Usage

USAGE = Usage(calls=1, input_tokens=1_000_000, output_tokens=100_000, reused_tokens=400_000)
DEAR = PriceSettings(input=2.0, output=10.0, cached_input=0.5)


def test_the_shipped_table_is_whole_and_dated():
    assert len(shipped()) >= 10
    for name, price in shipped().items():
        assert name.partition(":")[0] in {"openai", "anthropic"}
        assert 0 < (price.cached_input or 0) < price.input < price.output


def test_fresh_and_cached_input_and_output_are_counted_apart():
    priced = Prices(own={"openai:x": DEAR}).priced(USAGE, "openai:x")
    assert priced.cost_usd == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 10.0)
    assert priced.unpriced_calls == 0


def test_a_dated_name_is_its_models_and_another_servers_is_not():
    assert (
        Prices().of("anthropic:claude-haiku-4-5-20251001")
        == shipped()["anthropic:claude-haiku-4-5"]
    )
    mine = ModelSettings(provider="openai", model="gpt-5.4", base_url="http://localhost:8080/v1")
    assert prices_for(mine, {}).of("openai:gpt-5.4") is None
    assert prices_for(ModelSettings(provider="openai", model="gpt-5.4"), {}).of("openai:gpt-5.4")


def test_unknown_is_unknown_and_local_is_nothing():
    unknown = Prices().priced(USAGE, "openai:nobody-knows")
    assert (unknown.cost_usd, unknown.unpriced_calls) == (0.0, 1)
    local = Prices().priced(USAGE, "ollama:qwen3:8b")
    assert (local.cost_usd, local.unpriced_calls) == (0.0, 0)
    untold = Usage(calls=2, unmeasured_calls=1, input_tokens=10)
    assert Prices(own={"openai:x": DEAR}).priced(untold, "openai:x").unpriced_calls == 1


def test_a_model_says_what_it_cost():
    maker = Maker(prices={"scripted:a.yaml": DEAR})
    assert maker.prices
    model = ScriptedModel(
        "scripted:a", [Line(text="x" * 400)], prices=Prices(own={"scripted:a": DEAR})
    )
    usage = model.ask([Message(role="user", content="y" * 4000)]).usage
    assert usage.cost_usd == pytest.approx((1000 * 2.0 + 100 * 10.0) / 1e6)


def state_with(usage):
    return {**fresh(rejection_cap=3, can_escalate=False), "usage": {"worker": usage_state(usage)}}


def test_the_cost_limit_stops_a_run_and_so_does_an_unknown_price():
    limits = Limits(cost_usd=1.0)
    assert spent(state_with(Usage(calls=1, cost_usd=0.5)), limits) == ""
    assert "$1.2000 of $1" in spent(state_with(Usage(calls=1, cost_usd=1.2)), limits)
    assert "unknown" in spent(state_with(Usage(calls=1, unpriced_calls=1)), limits)
    assert spent(state_with(Usage(calls=1, unpriced_calls=1)), Limits()) == ""


def test_a_cost_limit_needs_every_price():
    refuse_unpriced(Config())
    config = Config(
        models={"lead": "ollama:a", "worker": "openai:nobody-knows", "reviewer": "ollama:a"}
    )
    with pytest.raises(ConfigError, match=r"openai:nobody-knows costs.*prices:"):
        refuse_unpriced(config)
    refuse_unpriced(config.model_copy(update={"prices": {"openai:nobody-knows": DEAR}}))


def shown(*rows):
    tokens = {f"n{i}": usage_state(row) for i, row in enumerate(rows)}
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(token_table({"tokens": tokens}))
    return console.export_text()


def test_the_table_says_unknown_and_never_nothing():
    assert "cost" not in shown(Usage(calls=1, input_tokens=5))
    text = shown(Usage(calls=1, cost_usd=0.25), Usage(calls=1, unpriced_calls=1))
    lines = text.splitlines()
    assert "$0.2500" in lines[1]
    assert "unknown" in lines[2]
    assert "$0.2500+?" in lines[3]


def test_a_state_from_before_prices_has_unknown_costs():
    old = state_with(Usage(calls=3))
    for key in ("cost_usd", "unpriced_calls"):
        del old["usage"]["worker"][key]
    for key in ("drafts", "samples"):
        del old[key]
    state = checked(old)
    assert state["usage"]["worker"]["unpriced_calls"] == 3
    assert (state["drafts"], state["samples"]) == ([], [])
