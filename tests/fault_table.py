"""Every fault of the fake Ollama server: what the person sees, and whether it costs a lap.

Print it: python -m tests.fault_table
"""

from agent_loop.config import ModelSettings
from agent_loop.errors import ModelUnavailable
from agent_loop.models import make_model
from agent_loop.ports import Message
from tests.fakes.clock import FakeClock
from tests.fakes.ollama_server import FAULTS, Kept, OllamaServer, Turn

ASK = [Message(role="user", content="Write add(a, b).")]
CODE = "```python\ndef add(a, b):\n    return a + b\n```"


def outcome(fault, *, once=False):
    """(what happens, costs a lap, tries) of a fault that stays, or that comes once."""
    turn = Turn(text=CODE, thinking="Hm.", fault=fault, seconds=1.5)
    kept = {"tiny:1b": Kept(capabilities=("completion", "thinking"))}
    turns = [turn, Turn(text=CODE)] if once else [turn] * 3
    with OllamaServer(*turns, models=kept) as server:
        settings = ModelSettings(
            provider="ollama", model="tiny:1b", base_url=server.url, read_s=0.5, retries=2
        )
        model = make_model(settings, clock=FakeClock())
        try:
            reply = model.ask(ASK)
        except ModelUnavailable as problem:
            text = str(problem).replace(server.url, "http://127.0.0.1:11434")
            return f"run stops, exit 4: {text}", "no", len(server.chats())
        return _told(reply), _costs(reply), len(server.chats())


def _told(reply):
    parts = [f"reply of {len(reply.text)} characters, finish={reply.finish}"]
    if reply.reasoning:
        parts.append(f"reasoning kept ({len(reply.reasoning)})")
    if reply.usage.unmeasured_calls:
        parts.append("tokens unknown")
    if reply.context_cut:
        parts.append("recorded as truncated")
    parts += reply.notes
    return "; ".join(parts)


def _costs(reply):
    """Whether such a reply cannot pass: cut answers and empty ones are never applied."""
    usable = reply.finish == "stop" and "def add" in reply.text
    return "as judged" if usable else "yes"


def rows():
    for fault in FAULTS:
        told, lap, tries = outcome(fault)
        once = ""
        if lap == "no" and fault != "404":
            again, lap_once, _ = outcome(fault, once=True)
            once = "answered" if lap_once == "as judged" else again
        yield fault, tries, lap, once, told


def main():
    print("| fault | tries | costs a lap | if it comes once | what the person sees |")
    print("|---|---|---|---|---|")
    for fault, tries, lap, once, told in rows():
        print(f"| {fault} | {tries} | {lap} | {once} | {told} |")


if __name__ == "__main__":
    main()
