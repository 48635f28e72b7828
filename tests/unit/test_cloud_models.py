"""OpenAI-compatible and Anthropic servers: faults, keys that stay secret, missing packages."""

import subprocess
import sys
import threading

import pytest
from langchain_core.messages import AIMessageChunk
from langsmith import tracing_context
from langsmith.utils import get_env_var, tracing_is_enabled

from agent_loop.config import ModelOptions, ModelSettings
from agent_loop.errors import ModelUnavailable, ServerDown
from agent_loop.models import make_model
from agent_loop.models.langchain_chat import read_answer
from agent_loop.models.provider import Collected, Never
from agent_loop.ports import Message
from tests.fakes.clock import FakeClock
from tests.fakes.cloud_servers import KEY, AnthropicServer, OpenAIServer
from tests.fakes.ollama_server import Turn

HELLO = [Message(role="system", content="Be short."), Message(role="user", content="hello")]
pytest.importorskip("langchain_openai")
pytest.importorskip("langchain_anthropic")


@pytest.fixture(
    params=[("openai", OpenAIServer), ("anthropic", AnthropicServer)], ids=lambda p: p[0]
)
def cloud(request):
    return request.param


def model(provider, server, *, key=KEY, name="tiny-1", url=None, read_s=30.0, **options):
    settings = ModelSettings(
        provider=provider,
        model=name,
        base_url=url or server.url,
        api_key=key,
        options=ModelOptions(**options),
        read_s=read_s,
        connect_s=20,
    )
    return make_model(settings, clock=FakeClock())


FATAL = {
    "404": "no such model at",
    "500": r"server error 500.*\(3 tries",
    "429": r"server error 429.*\(3 tries",
    "error_in_stream": r"server error inside the answer.*\(3 tries",
    "no_done": r"broke off before its end \(3 tries",
    "drop": r"\(3 tries",
    "stall": r"fell silent for 0.6 s \(3 tries",
    "slow_first_byte": r"nothing came for 0.6 s \(3 tries",
}


@pytest.mark.parametrize("fault", FATAL)
def test_a_fault_that_stays_stops_the_run(cloud, fault):
    provider, server_class = cloud
    with (
        server_class(*[Turn(fault=fault, seconds=60)] * 3) as server,
        pytest.raises(ModelUnavailable, match=FATAL[fault]),
    ):
        model(provider, server, read_s=0.6 if "0.6 s" in FATAL[fault] else 30).ask(HELLO)
    assert len(server.chats()) == (1 if fault == "404" else 3)


LAPS = {
    "missing_counts": ("Hello there.", "stop"),
    "length": ("Hello there.", "length"),
    "thinking_only": ("", "length"),
    "think_tags": ("Hello there.", "stop"),
    "empty": ("", "stop"),
    "surrogates": ("a\ufffd b", "stop"),
}


@pytest.mark.parametrize("fault", LAPS)
def test_what_is_the_models_own_fault_is_a_reply(cloud, fault):
    provider, server_class = cloud
    with server_class(Turn(fault=fault, thinking="hm")) as server:
        reply = model(provider, server).ask(HELLO)
    assert (reply.text, reply.finish) == LAPS[fault]
    assert reply.usage.unmeasured_calls == (fault == "missing_counts")


def test_an_endless_line_is_cut(cloud):
    provider, server_class = cloud
    with server_class(Turn(fault="big_line")) as server:
        assert model(provider, server).ask(HELLO).finish == "length"


def test_limits_and_options_are_sent(cloud):
    provider, server_class = cloud
    with server_class() as server:
        model(provider, server, num_predict=77, temperature=0.5, top_p=0.9).ask(HELLO)
    [body] = server.chats()
    assert (body["max_tokens"], body["temperature"], body["top_p"]) == (77, 0.5, 0.9)


def test_a_refused_key_is_said_and_never_shown(cloud):
    provider, server_class = cloud
    wrong = "sk-wrong-9876543210zyxwvutsrq"
    with server_class() as server:
        for act in ("preflight", "ask"):
            asked = model(provider, server, key=wrong)
            with pytest.raises(ModelUnavailable, match="the key was refused") as problem:
                asked.preflight() if act == "preflight" else asked.ask(HELLO)
            assert wrong not in str(problem.value)
            assert f"api_key_names.{provider}" in str(problem.value)
        print_ = repr(asked.fingerprint())
    assert wrong not in print_


def test_no_key_at_all_is_said(cloud):
    provider, server_class = cloud
    with server_class() as server, pytest.raises(ModelUnavailable, match="a key is needed"):
        model(provider, server, key=None).preflight()


def test_a_server_that_echoes_the_key_does_not_get_it_into_a_message(cloud):
    provider, server_class = cloud

    class Echo(server_class):
        def error(self, handler, status, text):
            super().error(handler, status, f"{text}: you sent {KEY}")

    with Echo(Turn(fault="404")) as server, pytest.raises(ModelUnavailable) as problem:
        model(provider, server).ask(HELLO)
    assert KEY not in str(problem.value)
    assert "you sent" in str(problem.value)


def test_nobody_there(cloud):
    provider, _ = cloud
    with pytest.raises(ServerDown, match=f"base_urls.{provider}"):
        model(provider, None, url="http://127.0.0.1:9/v1").preflight()


def test_an_unknown_model_names_those_there():
    with (
        OpenAIServer(models=("a", "b")) as server,
        pytest.raises(ModelUnavailable, match=r"There is a, b\."),
    ):
        model("openai", server).preflight()


def test_a_prompt_is_measured_only_against_a_window_the_user_gave():
    long = [Message(role="user", content="word " * 8000)]
    with OpenAIServer() as server:
        assert model("openai", server).ask(long).context_cut
        with pytest.raises(ModelUnavailable, match="Raise num_ctx"):
            model("openai", server, num_ctx=4096).ask(long)


MISSING = """
import sys
sys.modules["langchain_{0}"] = None
from agent_loop.config import ModelSettings
from agent_loop.errors import ModelUnavailable
from agent_loop.models import make_model
try:
    make_model(ModelSettings(provider="{0}", model="x"))
except ModelUnavailable as error:
    print(error)
"""


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_missing_package_says_what_to_type(provider):
    done = subprocess.run(
        [sys.executable, "-c", MISSING.format(provider)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert f"pip install 'agent-loop[{provider}]'" in done.stdout


QUIET = """
import sys
from agent_loop import models
assert not [m for m in sys.modules if m.startswith(("langchain", "ollama", "openai", "cyllama"))]
"""


def test_no_client_is_imported_before_it_is_needed():
    subprocess.run([sys.executable, "-c", QUIET], timeout=60, check=True)


TRACER = """
import os, sys
{set}
from langchain_core.callbacks import CallbackManager
from langchain_core.tracers.langchain import LangChainTracer
import agent_loop.models.ollama
manager = CallbackManager.configure()
print(any(isinstance(h, LangChainTracer) for h in manager.handlers))
"""


@pytest.mark.parametrize(("set_", "traced"), [("", "False"), ("1", "True")])
def test_nothing_traces_unless_its_variable_is_set(set_, traced):
    """The control: with the variable, LangChain would send every prompt away."""
    names = (
        "LANGSMITH_TRACING",
        "LANGSMITH_TRACING_V2",
        "LANGCHAIN_TRACING_V2",
        "LANGCHAIN_TRACING",
    )
    code = "".join(f"os.environ.pop({name!r}, None)\n" for name in names)
    code += "os.environ['LANGSMITH_TRACING'] = 'true'\n" if set_ else ""
    code += "os.environ['LANGSMITH_API_KEY'] = 'none'\n" if set_ else ""
    done = subprocess.run(
        [sys.executable, "-c", TRACER.format(set=code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == traced


class Speaking:
    """A LangChain client that looks whether what it is told would be sent elsewhere too."""

    def __init__(self):
        self.traced = []

    def stream(self, messages):
        self.traced.append(tracing_is_enabled())
        yield AIMessageChunk("hello")


@pytest.fixture(params=["LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"])
def tracing_wanted(monkeypatch, request):
    get_env_var.cache_clear()
    monkeypatch.setenv(request.param, "true")
    yield
    get_env_var.cache_clear()


def translate(error, into):
    raise error


@pytest.mark.usefixtures("tracing_wanted")
def test_a_prompt_goes_to_the_model_alone_whatever_the_environment_says():
    """The control: a thread of its own does not hear what is said around the run."""
    wanted = ModelSettings(provider="openai", model="m")
    client, control = Speaking(), Speaking()
    read_answer(
        lambda wire: client, HELLO, Collected(),
        settings=wanted, cancel=Never(), translate=translate,
    )  # fmt: skip
    with tracing_context(enabled=False):
        thread = threading.Thread(target=lambda: list(control.stream(HELLO)))
        thread.start()
        thread.join()
    assert (client.traced, control.traced) == ([False], [True])
