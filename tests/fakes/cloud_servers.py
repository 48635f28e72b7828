"""An OpenAI and an Anthropic server over real HTTP: the streams, the errors, the refused key."""

import json

from tests.fakes.loopback import Loopback
from tests.fakes.ollama_server import Turn

KEY = "sk-fake-0123456789abcdefghijklmnop"


class _CloudServer(Loopback):
    """`turns` are used up in order, then `Turn()` again and again. Only `KEY` is let in."""

    chat_path = ""

    def __init__(self, *turns, models=("tiny-1",)):
        super().__init__()
        self.turns = list(turns)
        self.models = models

    def chats(self):
        return self.bodies(self.chat_path)

    @staticmethod
    def key_of(headers):
        sent = {name.lower(): value for name, value in headers.items()}
        return sent.get("x-api-key") or sent.get("authorization", "").removeprefix("Bearer ")

    def answer(self, handler, seen):
        if self.key_of(seen.headers) != KEY:
            self.error(handler, 401, f"Incorrect API key provided: {self.key_of(seen.headers)}")
        elif seen.method == "GET":
            self.list(handler, seen.path)
        elif seen.path.split("?")[0] != self.chat_path:
            self.error(handler, 404, "no such path")
        else:
            self._chat(handler, seen.body)

    def _chat(self, handler, body):
        with self.lock:
            turn = self.turns.pop(0) if self.turns else Turn()
        if turn.fault == "404" or body.get("model") not in self.models:
            self.error(handler, 404, f"The model `{body.get('model')}` does not exist")
        elif turn.fault == "500":
            self.error(handler, 500, "internal error")
        elif turn.fault == "429":
            self.error(handler, 429, "slow down")
        else:
            if turn.fault == "slow_first_byte":
                handler.wait(turn.seconds)
            handler.start_stream("text/event-stream")
            self._stream(handler, body, turn)

    def _stream(self, handler, body, turn):
        text = {"empty": "", "thinking_only": "", "surrogates": "a\ud83d b"}.get(
            turn.fault, turn.text
        )
        if turn.fault == "think_tags":
            text = f"<think>{turn.thinking}</think>\n{text}"
        if turn.fault == "big_line":
            text = "x" * 1_000_000
        self.begin(handler, body)
        step = max(7, len(text) // 20)
        for start in range(0, len(text), step):
            self.word(handler, text[start : start + step])
        match turn.fault:
            case "drop":
                handler.drop()
            case "no_done":
                handler.end_stream()
            case "stall":
                handler.wait(turn.seconds)
                self.finish(handler, body, turn)
            case "error_in_stream":
                self.error_event(handler)
                handler.end_stream()
            case _:
                self.finish(handler, body, turn)

    @staticmethod
    def event(handler, data, name=None):
        head = f"event: {name}\n" if name else ""
        handler.piece(f"{head}data: {json.dumps(data)}\n\n".encode())


def texts_of(calls):
    """(name, arguments as JSON text) of each call; a text is sent as it is."""
    for name, arguments in calls:
        whole = arguments if isinstance(arguments, str) else json.dumps(arguments)
        yield name, "" if whole == "{}" else whole


class OpenAIServer(_CloudServer):
    chat_path = "/v1/chat/completions"

    @property
    def url(self):
        return super().url + "/v1"

    @staticmethod
    def error(handler, status, text):
        handler.json({"error": {"message": text, "type": "error", "code": status}}, status)

    def list(self, handler, path):
        handler.json(
            {"object": "list", "data": [{"id": m, "object": "model"} for m in self.models]}
        )

    def _chunk(self, handler, delta, finish=None, **more):
        self.event(
            handler,
            {
                "id": "c1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "tiny-1-2026",
                "system_fingerprint": "fp_1",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                **more,
            },
        )

    def begin(self, handler, body):
        self._chunk(handler, {"role": "assistant", "content": ""})

    def word(self, handler, text):
        self._chunk(handler, {"content": text})

    def finish(self, handler, body, turn):
        reason = "length" if turn.fault in {"length", "thinking_only"} else "stop"
        reason = "content_filter" if turn.fault == "refusal" else reason
        for index, (name, text) in enumerate(texts_of(turn.calls)):
            reason = "tool_calls" if reason == "stop" else reason
            head = {"index": index, "id": f"call_{index}", "type": "function"}
            self._chunk(
                handler, {"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]}
            )
            for start in range(0, len(text), 5):
                piece = {"index": index, "function": {"arguments": text[start : start + 5]}}
                self._chunk(handler, {"tool_calls": [piece]})
        self._chunk(handler, {}, finish=reason)
        if body.get("stream_options", {}).get("include_usage") and turn.fault != "missing_counts":
            usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
            usage["prompt_tokens_details"] = {"cached_tokens": 3}
            self._chunk(handler, {}, choices=[], usage=usage)
        handler.piece(b"data: [DONE]\n\n")
        handler.end_stream()

    def error_event(self, handler):
        self.event(handler, {"error": {"message": "the server had an error", "code": 500}})


class AnthropicServer(_CloudServer):
    chat_path = "/v1/messages"

    @staticmethod
    def error(handler, status, text):
        handler.json({"type": "error", "error": {"type": "api_error", "message": text}}, status)

    def list(self, handler, path):
        name = path.split("/")[-1].split("?")[0]
        if name in self.models:
            handler.json({"type": "model", "id": name, "display_name": name})
        else:
            self.error(handler, 404, f"model: {name}")

    def begin(self, handler, body):
        usage = {"input_tokens": 9, "output_tokens": 1}
        message = {"id": "m1", "type": "message", "role": "assistant", "content": []}
        message |= {"model": body["model"], "stop_reason": None, "usage": usage}
        self.event(handler, {"type": "message_start", "message": message}, "message_start")
        block = {"type": "text", "text": ""}
        start = {"type": "content_block_start", "index": 0, "content_block": block}
        self.event(handler, start, "content_block_start")

    def word(self, handler, text):
        delta = {"type": "text_delta", "text": text}
        data = {"type": "content_block_delta", "index": 0, "delta": delta}
        self.event(handler, data, "content_block_delta")

    def finish(self, handler, body, turn):
        cut = turn.fault in {"length", "thinking_only"}
        self.event(handler, {"type": "content_block_stop", "index": 0}, "content_block_stop")
        for index, (name, text) in enumerate(texts_of(turn.calls), start=1):
            block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
            at = {"type": "content_block_start", "index": index}
            self.event(handler, {**at, "content_block": block}, "content_block_start")
            at = {"type": "content_block_delta", "index": index}
            for start in range(0, len(text), 5):
                delta = {"type": "input_json_delta", "partial_json": text[start : start + 5]}
                self.event(handler, {**at, "delta": delta}, "content_block_delta")
            stop = {"type": "content_block_stop", "index": index}
            self.event(handler, stop, "content_block_stop")
        normal = "refusal" if turn.fault == "refusal" else "tool_use" if turn.calls else "end_turn"
        delta = {"stop_reason": "max_tokens" if cut else normal, "stop_sequence": None}
        usage = {"input_tokens": 0 if turn.fault == "missing_counts" else 9, "output_tokens": 4}
        usage["cache_read_input_tokens"] = 0
        data = {"type": "message_delta", "delta": delta, "usage": usage}
        self.event(handler, data, "message_delta")
        self.event(handler, {"type": "message_stop"}, "message_stop")
        handler.end_stream()

    def error_event(self, handler):
        error = {"type": "overloaded_error", "message": "Overloaded"}
        self.event(handler, {"type": "error", "error": error}, "error")
