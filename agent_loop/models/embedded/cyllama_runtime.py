"""The low-level module of cyllama; the same calls on 0.2.18 and 0.7.0."""

import os
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import cyllama.llama.llama_cpp as lib

from agent_loop.models.embedded.runtime import BATCH, Sampling

_PENALTY_WINDOW = 64


def _byte_alphabet() -> dict[str, int]:
    """How GPT-2 style vocabularies write bytes: printable ones as they are, others shifted."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + n): b for n, b in enumerate(others)}


class CyllamaRuntime:
    """See `Runtime`."""

    def __init__(self, path: Path, *, n_ctx: int, threads: int) -> None:
        # An abort inside ggml would start gdb for a backtrace, where there is one.
        os.putenv("GGML_NO_BACKTRACE", "1")
        lib.disable_logging()
        lib.ggml_backend_load_all()
        params = lib.LlamaModelParams()
        params.n_gpu_layers = 0
        self._model = lib.LlamaModel(str(path), params)
        self._vocab = self._model.get_vocab()
        self._context = self._make_context(n_ctx, threads)
        self._context.install_cancel_callback()
        self._bytes = _byte_alphabet()
        self._control = {
            self._vocab.get_text(i): i
            for i in range(self._vocab.n_vocab)
            if self._vocab.is_control(i)
        }
        self.n_ctx = int(self._context.n_ctx)
        self.trained_ctx = int(self._model.n_ctx_train)
        self.version = f"cyllama {version('cyllama')}"
        self.template = self._model.get_default_chat_template() or ""

    def _make_context(self, n_ctx: int, threads: int) -> lib.LlamaContext:
        params = lib.LlamaContextParams()
        params.n_ctx, params.n_batch = n_ctx, BATCH
        params.n_threads = params.n_threads_batch = threads
        return lib.LlamaContext(self._model, params)

    def control_id(self, text: str) -> int:
        return self._control[text]

    def tokenize(self, text: str) -> list[int]:
        return [int(t) for t in self._vocab.tokenize(text, False, False)]

    def piece(self, token: int) -> bytes:
        if self._vocab.is_control(token):
            return b""
        if hasattr(self._vocab, "token_to_bytes"):
            return bytes(self._vocab.token_to_bytes(token, special=False))
        return bytes(self._bytes[c] for c in self._vocab.get_text(token))

    def is_end(self, token: int) -> bool:
        return bool(self._vocab.is_eog(token))

    def feed(self, tokens: Sequence[int], *, at: int) -> None:
        batch = lib.LlamaBatch(n_tokens=len(tokens), embd=0, n_seq_max=1)
        for n, token in enumerate(tokens):
            batch.add(token, at + n, [0], n == len(tokens) - 1)
        self._context.decode(batch)

    def sampler(self, sampling: Sampling) -> Callable[[], int]:
        chain = lib.LlamaSampler(lib.LlamaSamplerChainParams())
        if sampling.repeat_penalty is not None:
            chain.add_penalties(_PENALTY_WINDOW, sampling.repeat_penalty, 0.0, 0.0)
        if sampling.temperature <= 0:
            chain.add_greedy()
        else:
            chain.add_top_p(0.95 if sampling.top_p is None else sampling.top_p, 1)
            chain.add_temp(sampling.temperature)
            chain.add_dist(sampling.seed)
        return lambda: int(chain.sample(self._context, -1))

    def trim(self, keep: int) -> int:
        if self._context.memory_seq_rm(0, keep, -1):
            return keep
        self._context.kv_cache_clear()
        return 0

    def save(self) -> bytes:
        return bytes(self._context.get_state_seq_data(0))

    def restore(self, state: bytes) -> None:
        self._context.set_state_seq_data(state, 0)

    def interrupt(self) -> None:
        self._context.cancel = True

    def clear_interrupt(self) -> None:
        self._context.cancel = False

    def close(self) -> None:
        # The context first: a context whose model is gone takes the process with it.
        for part in self._parts():
            part.close()

    def _parts(self) -> Iterator[lib.LlamaContext | lib.LlamaModel]:
        yield self._context
        yield self._model
