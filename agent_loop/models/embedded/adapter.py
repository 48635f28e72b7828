"""The embedded model as a `Provider`."""

import hashlib
import queue
import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from agent_loop.config import ModelOptions, ModelSettings
from agent_loop.errors import Cancelled, ModelUnavailable
from agent_loop.models.embedded.engine import Done, Engine, Job, shared_engine
from agent_loop.models.embedded.loading import installed_runtime
from agent_loop.models.embedded.runtime import Sampling
from agent_loop.models.embedded.weights import weights_file
from agent_loop.models.provider import Attempt, Collected, Spent
from agent_loop.ports import Cancel, Clock, Fingerprint, Message, ToolSpec

_POLL_S = 0.05
_SEEDS = 2**31


class EmbeddedProvider:
    """Asks the engine of this process; several may share it."""

    native_tools = False

    def __init__(
        self, settings: ModelSettings, *, clock: Clock, engine: Engine | None = None
    ) -> None:
        self.answered = settings.name
        self._settings = settings
        self._clock = clock
        self._engine = engine

    def preflight(self) -> None:
        weights_file(self._settings.model)
        installed_runtime()

    def once(
        self,
        messages: Sequence[Message],
        into: Collected,
        *,
        attempt: Attempt,
        cancel: Cancel,
        tools: Sequence[ToolSpec] = (),
    ) -> Spent:
        engine = self._engine or shared_engine(weights_file(self._settings.model))
        options = self._settings.options
        job = Job(
            messages=messages,
            sampling=_sampling(options),
            num_ctx=options.num_ctx,
            num_predict=options.num_predict,
        )
        engine.submit(job)
        try:
            done = self._read(engine, job, into, cancel)
        finally:
            engine.cancel(job)
        return _spent(done)

    def _read(self, engine: Engine, job: Job, into: Collected, cancel: Cancel) -> Done:
        began = None
        while True:
            if cancel.is_set():
                raise Cancelled(f"{self.answered}: cancelled.")
            if began is None and job.started.is_set():
                began = self._clock.monotonic()
            if began is not None and self._clock.monotonic() - began > self._settings.total_s:
                raise ModelUnavailable(
                    f"{self.answered}: no whole answer within {self._settings.total_s:g} s. "
                    "Raise the total time limit or lower num_predict."
                )
            try:
                item = job.out.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if isinstance(item, Done):
                return item
            if isinstance(item, ModelUnavailable):
                raise item
            if isinstance(item, Exception):
                raise ModelUnavailable(f"{self.answered}: the engine failed: {item!r}") from item
            into.add(item)
            if into.full:
                engine.cancel(job)

    def fingerprint(self) -> Fingerprint:
        path = weights_file(self._settings.model)
        engine = self._engine or shared_engine(path)
        template = engine.template
        return Fingerprint(
            name=self.answered,
            answered=self.answered,
            digest=_digest(path),
            quantisation=path.stem.rpartition(".")[2],
            template_hash=hashlib.sha256(template.encode()).hexdigest() if template else None,
            server_version=engine.version,
            options=self._settings.options.model_dump(exclude={"reasoning"}),
        )

    def close(self) -> None:
        """The engine is the process's, not this role's."""


def _sampling(options: ModelOptions) -> Sampling:
    seed = options.seed
    return Sampling(
        temperature=options.temperature,
        top_p=options.top_p,
        seed=random.SystemRandom().randrange(_SEEDS) if seed is None else seed,
        repeat_penalty=options.repeat_penalty,
    )


def _spent(done: Done) -> Spent:
    notes = ["stopped: the same tokens came over and over"] if done.finish == "loop" else []
    return Spent(
        finish="stop" if done.finish == "stop" else "length",
        input_tokens=done.input_tokens,
        output_tokens=done.output_tokens,
        reused_tokens=done.reused_tokens,
        load_s=done.load_s,
        notes=tuple(notes),
    )


@lru_cache(maxsize=4)
def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
