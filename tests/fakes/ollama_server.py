"""An Ollama server that speaks the real protocol over real HTTP, and fails on demand.

Field names are those of ollama 0.6.3's types; durations are nanoseconds.
"""

import json
import time
from dataclasses import dataclass, field

from tests.fakes.loopback import Loopback

FAULTS = (
    "404",
    "500",
    "error_in_stream",
    "no_done",
    "drop",
    "stall",
    "slow_first_byte",
    "missing_counts",
    "length",
    "thinking_only",
    "think_tags",
    "empty",
    "surrogates",
    "not_utf8",
    "not_json",
    "big_line",
    "repeat_silent",
    "repeat_error",
    "repeat_500",
    "load_only",
    "cut_context",
)
NS = 1_000_000_000


@dataclass
class Turn:
    """What one chat request gets."""

    text: str = "Hello there."
    thinking: str = ""
    fault: str | None = None
    seconds: float = 0.0
    """How long `stall` and `slow_first_byte` take."""
    calls: tuple = ()
    """Tool calls: (name, arguments). A text is sent as it is, where the protocol has a place."""


@dataclass
class Kept:
    """One model that has been pulled."""

    capabilities: tuple = ("completion",)
    digest: str = "0123456789abcdef" * 4
    quantisation: str = "Q4_K_M"
    template: str = "{{ .Prompt }}"
    allocated: int | None = None
    """The window it really gets, where that is not what was asked for."""


@dataclass
class _Loaded:
    name: str = ""
    num_ctx: int = 0
    loads: list = field(default_factory=list)


class OllamaServer(Loopback):
    """`turns` are used up in order, then `Turn()` again and again."""

    def __init__(self, *turns, models=None, load_s=0.0, version="0.12.6"):
        super().__init__()
        self.turns = list(turns)
        self.models = {"tiny:1b": Kept()} if models is None else models
        self.load_s = load_s
        """Paid whenever the model or its num_ctx changes, as with one slot of memory."""
        self.version = version
        self.loaded = _Loaded()

    def answer(self, handler, seen):
        path = seen.path
        if path == "/":
            handler.json("Ollama is running")
        elif path == "/api/version":
            handler.json({"version": self.version})
        elif path == "/api/tags":
            handler.json({"models": [self._tag(name) for name in self.models]})
        elif path == "/api/ps":
            handler.json({"models": self._running()})
        elif path == "/api/show":
            self._show(handler, seen.body)
        elif path == "/api/chat":
            self._chat(handler, seen.body)
        else:
            handler.json({"error": "not found"}, 404)

    def chats(self):
        return self.bodies("/api/chat")

    def _details(self, kept):
        return {
            "parent_model": "",
            "format": "gguf",
            "family": "tiny",
            "families": ["tiny"],
            "parameter_size": "1B",
            "quantization_level": kept.quantisation,
        }

    def _tag(self, name):
        kept = self.models[name]
        return {
            "name": name,
            "model": name,
            "modified_at": "2026-01-01T00:00:00Z",
            "size": 1_000_000,
            "digest": kept.digest,
            "details": self._details(kept),
        }

    def _running(self):
        if not self.loaded.name:
            return []
        kept = self.models[self.loaded.name]
        return [
            {
                **self._tag(self.loaded.name),
                "size_vram": 0,
                "expires_at": "2030-01-01T00:00:00Z",
                "context_length": kept.allocated or self.loaded.num_ctx,
            }
        ]

    def _show(self, handler, body):
        kept = self.models.get(self._full(body.get("model", "")))
        if kept is None:
            handler.json({"error": f"model '{body.get('model')}' not found"}, 404)
            return
        handler.json(
            {
                "modelfile": "",
                "parameters": "",
                "template": kept.template,
                "license": "",
                "details": self._details(kept),
                "model_info": {"general.architecture": "tiny", "tiny.context_length": 32768},
                "capabilities": list(kept.capabilities),
                "modified_at": "2026-01-01T00:00:00Z",
            }
        )

    @staticmethod
    def _full(name):
        return name if ":" in name else f"{name}:latest"

    def _chat(self, handler, body):
        name = self._full(body.get("model", ""))
        with self.lock:
            turn = self.turns.pop(0) if self.turns else Turn()
        if turn.fault == "404" or name not in self.models:
            handler.json({"error": f"model '{body.get('model')}' not found"}, 404)
        elif turn.fault == "500":
            handler.json({"error": "llama runner process has terminated: signal: killed"}, 500)
        elif turn.fault == "repeat_500":
            handler.json({"error": "prediction aborted, token repeat limit reached"}, 500)
        elif body.get("tools") and "tools" not in self.models[name].capabilities:
            handler.json({"error": f'"{name}" does not support tools'}, 400)
        elif body.get("think") and "thinking" not in self.models[name].capabilities:
            handler.json({"error": f'"{name}" does not support thinking'}, 400)
        else:
            self._say(handler, name, body, turn)

    def _say(self, handler, name, body, turn):
        load_ns = self._load(handler, name, body)
        talk = _Talk(handler, name, body, turn, load_ns)
        if turn.fault == "slow_first_byte":
            handler.wait(turn.seconds)
        handler.start_stream("application/x-ndjson")
        getattr(talk, turn.fault or "normal", talk.normal)()

    def _load(self, handler, name, body):
        num_ctx = body.get("options", {}).get("num_ctx", 4096)
        with self.lock:
            fresh = (self.loaded.name, self.loaded.num_ctx) != (name, num_ctx)
            self.loaded.name, self.loaded.num_ctx = name, num_ctx
            if fresh:
                self.loaded.loads.append(name)
        if not fresh:
            return NS // 1000
        handler.wait(self.load_s)
        return int(self.load_s * NS) + NS // 1000


class _Talk:
    """One streamed answer; a method per way it can go."""

    def __init__(self, handler, name, body, turn, load_ns):
        self.handler = handler
        self.name = name
        self.body = body
        self.turn = turn
        self.load_ns = load_ns

    def _line(self, **fields):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
        line = {"model": self.name, "created_at": stamp, **fields}
        self.handler.piece(json.dumps(line).encode() + b"\n")

    def _word(self, text, thinking=""):
        message = {"role": "assistant", "content": text}
        if thinking:
            message["thinking"] = thinking
        self._line(message=message, done=False)

    def _words(self, text):
        for start in range(0, len(text), 7):
            self._word(text[start : start + 7])

    def _end(self, reason="stop", counts=True, prompt_tokens=None):
        asked = sum(
            len((m.get("content") or "").encode("utf-8", "replace")) for m in self.body["messages"]
        )
        fields = {
            "total_duration": self.load_ns + NS,
            "load_duration": self.load_ns,
            "prompt_eval_count": prompt_tokens or max(1, asked // 4),
            "prompt_eval_duration": NS // 2,
            "eval_count": max(1, len(self.turn.text) // 4),
            "eval_duration": NS // 2,
        }
        if not counts:
            del fields["eval_count"]
        self._line(
            message={"role": "assistant", "content": ""}, done=True, done_reason=reason, **fields
        )
        self.handler.end_stream()

    def _thinks(self):
        if self.turn.thinking and self.body.get("think"):
            self._word("", self.turn.thinking)

    def normal(self):
        self._thinks()
        self._words(self.turn.text)
        for name, arguments in self.turn.calls:
            call = {"function": {"name": name, "arguments": arguments}}
            message = {"role": "assistant", "content": "", "tool_calls": [call]}
            self._line(message=message, done=False)
        self._end()

    def error_in_stream(self):
        self._words(self.turn.text)
        self._line(error="an error was encountered while running the model")
        self.handler.end_stream()

    def no_done(self):
        self._words(self.turn.text)
        self.handler.end_stream()

    def drop(self):
        self._words(self.turn.text)
        self.handler.drop()

    def stall(self):
        self._words(self.turn.text)
        self.handler.wait(self.turn.seconds)
        self._end()

    def missing_counts(self):
        self._words(self.turn.text)
        self._end(counts=False)

    def length(self):
        self._words(self.turn.text)
        self._end(reason="length")

    def thinking_only(self):
        self._word("", self.turn.thinking or "I wonder.")
        self._end(reason="length")

    def think_tags(self):
        self._words(f"<think>{self.turn.thinking or 'I wonder.'}</think>\n{self.turn.text}")
        self._end()

    def empty(self):
        self._end()

    def surrogates(self):
        # json.dumps writes them as escapes, as servers in other languages do.
        self._word("caf\ud83d \udce9 \u0000 end")
        self._end()

    def not_utf8(self):
        self.handler.piece(b'{"message":{"role":"assistant","content":"\xff\xfe"},"done":false}\n')
        self._end()

    def not_json(self):
        self.handler.piece(b"<html>502 Bad Gateway</html>\n")
        self.handler.end_stream()

    def big_line(self):
        self._word("x" * 1_000_000)
        self._end()

    def repeat_silent(self):
        self._words("# rule\n# " + "=" * 210)
        self.handler.end_stream()

    def repeat_error(self):
        self._words("# rule\n# " + "=" * 210)
        self._line(error="prediction aborted, token repeat limit reached")
        self.handler.end_stream()

    def load_only(self):
        self._end(reason="load")

    def cut_context(self):
        num_ctx = self.body.get("options", {}).get("num_ctx", 4096)
        self._words(self.turn.text)
        self._end(prompt_tokens=num_ctx)
