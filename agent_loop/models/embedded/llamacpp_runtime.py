"""llama-cpp-python, for machines without a cyllama wheel; used only where it is installed."""

import os
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import llama_cpp

from agent_loop.models.embedded.runtime import BATCH, Sampling


class LlamaCppRuntime:
    """See `Runtime`."""

    def __init__(self, path: Path, *, n_ctx: int, threads: int) -> None:
        os.putenv("GGML_NO_BACKTRACE", "1")
        self._llama = llama_cpp.Llama(
            str(path),
            n_ctx=n_ctx,
            n_batch=BATCH,
            n_threads=threads,
            n_threads_batch=threads,
            n_gpu_layers=0,
            verbose=False,
        )
        self._stop = False
        # Kept alive here: the library holds only the bare pointer.
        self._callback = llama_cpp.ggml_abort_callback(lambda _: self._stop)
        llama_cpp.llama_set_abort_callback(self._llama.ctx, self._callback, None)
        self.n_ctx = int(self._llama.n_ctx())
        self.trained_ctx = int(llama_cpp.llama_model_n_ctx_train(self._llama.model))
        self.version = f"llama-cpp-python {version('llama-cpp-python')}"
        self.template = str(self._llama.metadata.get("tokenizer.chat_template", ""))

    def control_id(self, text: str) -> int:
        ids = self._llama.tokenize(text.encode(), add_bos=False, special=True)
        if len(ids) != 1:
            raise KeyError(text)
        return int(ids[0])

    def tokenize(self, text: str) -> list[int]:
        return list(self._llama.tokenize(text.encode(), add_bos=False, special=False))

    def piece(self, token: int) -> bytes:
        return bytes(self._llama.detokenize([token], special=False))

    def is_end(self, token: int) -> bool:
        vocab = llama_cpp.llama_model_get_vocab(self._llama.model)
        return bool(llama_cpp.llama_vocab_is_eog(vocab, token))

    def feed(self, tokens: Sequence[int], *, at: int) -> None:
        self._llama.n_tokens = at
        try:
            self._llama.eval(tokens)
        except RuntimeError as error:
            if self._stop:
                raise InterruptedError(str(error)) from error
            raise

    def sampler(self, sampling: Sampling) -> Callable[[], int]:
        self._llama.set_seed(sampling.seed)

        def draw() -> int:
            return int(
                self._llama.sample(
                    temp=sampling.temperature,
                    top_p=0.95 if sampling.top_p is None else sampling.top_p,
                    top_k=0,
                    min_p=0.0,
                    repeat_penalty=sampling.repeat_penalty or 1.0,
                )
            )

        return draw

    def trim(self, keep: int) -> int:
        memory = llama_cpp.llama_get_memory(self._llama.ctx)
        if not llama_cpp.llama_memory_seq_rm(memory, 0, keep, -1):
            llama_cpp.llama_memory_clear(memory, True)
            keep = 0
        self._llama.n_tokens = keep
        return keep

    def save(self) -> bytes:
        size = llama_cpp.llama_state_seq_get_size(self._llama.ctx, 0)
        room = (llama_cpp.ctypes.c_uint8 * size)()
        llama_cpp.llama_state_seq_get_data(self._llama.ctx, room, size, 0)
        return bytes(room)

    def restore(self, state: bytes) -> None:
        room = (llama_cpp.ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if not llama_cpp.llama_state_seq_set_data(self._llama.ctx, room, len(state), 0):
            raise ValueError("the saved prompt state was refused")

    def interrupt(self) -> None:
        self._stop = True

    def clear_interrupt(self) -> None:
        self._stop = False

    def close(self) -> None:
        self._llama.close()
