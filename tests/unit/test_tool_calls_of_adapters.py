"""Native tool calls over real HTTP: read strictly, sent back with the provider's own content."""

import json
import threading

import pytest

from agent_loop.config import ModelSettings
from agent_loop.models import make_model
from agent_loop.ports import Message
from tests.fakes.cloud_servers import KEY, AnthropicServer, OpenAIServer
from tests.fakes.episodes import episode
from tests.fakes.ollama_server import Kept, OllamaServer, Turn
from tests.fakes.toolbox import STRUCTURED

ASK = [
    Message(role="system", content="You have tools."),
    Message(role="user", content="Look at a.py."),
]
SERVERS = {
    "ollama": (OllamaServer, "tiny:1b", {"models": {"tiny:1b": Kept(capabilities=("tools",))}}),
    "openai": (OpenAIServer, "tiny-1", {}),
    "anthropic": (AnthropicServer, "tiny-1", {}),
}
CLOUD = ("openai", "anthropic")
VIEW = ("view", {"path": "a.py"})


def asked(provider, *turns, messages=ASK, times=1):
    server_class, model, more = SERVERS[provider]
    with server_class(*turns, **more) as server:
        settings = ModelSettings(
            provider=provider, model=model, base_url=server.url, api_key=KEY, retries=0
        )
        one = make_model(settings)
        replies = []
        for _ in range(times):
            replies.append(one.ask(messages, tools=STRUCTURED))
        return replies, server.chats()


@pytest.mark.parametrize("provider", SERVERS)
def test_calls_come_as_calls(provider):
    [reply], [sent] = asked(provider, Turn(text="I look.", calls=(VIEW, ("run_tests", {}))))
    assert [(c.name, dict(c.arguments)) for c in reply.tool_calls] == [VIEW, ("run_tests", {})]
    assert len({c.id for c in reply.tool_calls}) == 2
    assert (reply.text, reply.finish, reply.bad_calls) == ("I look.", "stop", ())
    assert "tool_use" not in str(reply.notes)
    assert len(sent["tools"]) == len(STRUCTURED)
    assert "str_replace" in json.dumps(sent["tools"])
    assert json.loads(json.dumps(reply.raw)) == reply.raw


@pytest.mark.parametrize("provider", CLOUD)
@pytest.mark.parametrize("text", ['{"path": "a.py"', '{"path": "a', '["a.py"]', "view a.py"])
def test_arguments_that_are_no_json_are_never_mended(provider, text):
    """The client library closes what is open: half a file would be written as a whole one."""
    [reply], _ = asked(provider, Turn(calls=(("view", text),)))
    assert reply.tool_calls == ()
    assert [(c.name, c.text) for c in reply.bad_calls] == [("view", text)]


def test_the_control_the_library_does_close_them():
    from langchain_core.messages import AIMessageChunk

    piece = {"name": "create", "args": '{"path": "a.py", "content": "ha', "id": "1", "index": 0}
    assert AIMessageChunk(content="", tool_call_chunks=[piece]).tool_calls[0]["args"] == {
        "path": "a.py",
        "content": "ha",
    }


@pytest.mark.parametrize("provider", SERVERS)
def test_the_next_prompt_holds_the_turn_and_its_answers_in_the_providers_form(provider):
    [reply], _ = asked(provider, Turn(text="I look.", calls=(VIEW,)))
    call = reply.tool_calls[0]
    more = [
        *ASK,
        Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls, raw=reply.raw),
        Message(role="tool", content="def f(): ...", tool_call_id=call.id),
    ]
    _, [sent] = asked(provider, Turn(), messages=more)
    last = sent["messages"][-2:]
    text = json.dumps(last)
    assert "def f(): ..." in text
    assert "view" in text
    if provider != "ollama":  # Ollama's own protocol has no ids
        assert text.count(call.id) == 2
    without = [replaced(more[2]) if m is more[2] else m for m in more]
    _, [plain] = asked(provider, Turn(), messages=without)
    assert plain["messages"] == sent["messages"]


def replaced(message):
    """The same turn without the provider's own content: of another model, say."""
    return Message(role="assistant", content=message.content, tool_calls=message.tool_calls)


def test_anthropics_own_blocks_go_back_as_they_came():
    raw = {
        "form": "langchain",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "view", "input": {"path": "a.py"}},
        ],
        "additional_kwargs": {},
        "tool_calls": [{"name": "view", "args": {"path": "a.py"}, "id": "toolu_1"}],
        "invalid_tool_calls": [],
    }
    turn = Message(role="assistant", content="I look.", raw=raw)
    answer = Message(role="tool", content="x", tool_call_id="toolu_1")
    _, [sent] = asked("anthropic", Turn(), messages=[*ASK, turn, answer])
    assert sent["messages"][1]["content"] == raw["content"]


@pytest.mark.parametrize("provider", CLOUD)
def test_a_refusal_is_seen(provider):
    [reply], _ = asked(provider, Turn(text="No.", fault="refusal"))
    assert reply.refused


def test_ollama_is_asked_whether_the_model_takes_tools():
    for capabilities, native in ((("completion", "tools"), True), (("completion",), False)):
        models = {"tiny:1b": Kept(capabilities=capabilities)}
        with OllamaServer(models=models) as server:
            settings = ModelSettings(provider="ollama", model="tiny:1b", base_url=server.url)
            assert make_model(settings).native_tools is native


@pytest.mark.parametrize("provider", SERVERS)
def test_an_episode_over_http(provider):
    server_class, model, more = SERVERS[provider]
    fix = ("str_replace", {"path": "a.py", "old": "return 1", "new": "return 2"})
    turns = [Turn(text="", calls=(one,)) for one in (VIEW, fix, ("submit", {}))]
    with server_class(*turns, **more) as server:
        settings = ModelSettings(provider=provider, model=model, base_url=server.url, api_key=KEY)
        done, box, _, _ = episode(model=make_model(settings), seconds=60)
    assert (done.reason, done.native_calls) == ("submitted", 3), done
    assert box.tree()["a.py"] == b"def f():\n    return 2\n"


def test_a_model_that_claims_tools_and_writes_text_is_recovered_or_unsuited():
    """CASES E4: the call as bare JSON in the text, the list of calls empty."""
    models = {"tiny:1b": Kept(capabilities=("tools",))}
    bare = '{"name": "view", "arguments": {"path": "a.py"}}'
    turns = [Turn(text=bare), Turn(text='{"name": "submit", "parameters": {}}')]
    with OllamaServer(*turns, models=models) as server:
        settings = ModelSettings(provider="ollama", model="tiny:1b", base_url=server.url)
        done, box, _, _ = episode(model=make_model(settings), seconds=60)
    assert (done.reason, done.native_calls, done.recovered_calls) == ("submitted", 0, 2)
    assert [c.name for c in box.calls] == ["view", "submit"]


@pytest.mark.parametrize("fault", ["repeat_silent", "repeat_error", "repeat_500"])
def test_a_repeat_abort_is_tried_again_and_nothing_of_it_is_run(fault):
    """CASES E3, where an episode meets it: the partial text is never acted on."""
    models = {"tiny:1b": Kept(capabilities=("tools",))}
    turns = [Turn(text="= " * 40, fault=fault), Turn(text="", calls=(("submit", {}),))]
    with OllamaServer(*turns, models=models) as server:
        settings = ModelSettings(provider="ollama", model="tiny:1b", base_url=server.url)
        done, box, _, _ = episode(model=make_model(settings), seconds=60, cancel=threading.Event())
        seeds = [chat["options"].get("repeat_penalty") for chat in server.chats()]
    assert (done.reason, done.steps, done.usage.retries) == ("submitted", 1, 1)
    assert [c.name for c in box.calls] == ["submit"]
    assert seeds[0] != seeds[1]
