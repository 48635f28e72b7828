"""One loaded model, one thread that alone touches it, and a queue of jobs for that thread."""

import codecs
import os
import queue
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from agent_loop.errors import ModelUnavailable
from agent_loop.models.embedded.lanes import Lanes
from agent_loop.models.embedded.loading import load_runtime
from agent_loop.models.embedded.prompt import chat_ids
from agent_loop.models.embedded.runtime import BATCH, Runtime, Sampling
from agent_loop.ports import Message

LARGEST_CONTEXT = 8192
_LOOP_EVERY = 16
_LONGEST_LOOP = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a job ended."""

    finish: Literal["stop", "length", "loop", "cancelled"]
    input_tokens: int
    output_tokens: int
    reused_tokens: int
    load_s: float


@dataclass(slots=True, kw_only=True)
class Job:
    """One chat call; `out` gives pieces of text, then a `Done` or an exception."""

    messages: Sequence[Message]
    sampling: Sampling
    num_ctx: int
    num_predict: int
    out: "queue.SimpleQueue[str | Done | Exception]" = field(default_factory=queue.SimpleQueue)
    cancelled: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)


class Engine:
    """Shared by every role of a process; a reader that stalls holds nobody up."""

    def __init__(self, path: Path, *, threads: int) -> None:
        self._path = path
        self._threads = threads
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._current: Job | None = None
        self._runtime: Runtime | None = None
        self._lanes: Lanes | None = None
        self._thread = threading.Thread(target=self._work, name="embedded model", daemon=True)
        self._thread.start()

    @property
    def version(self) -> str | None:
        """Library and version; `None` before the first job."""
        return self._runtime.version if self._runtime else None

    @property
    def template(self) -> str | None:
        return self._runtime.template if self._runtime else None

    def submit(self, job: Job) -> None:
        self._jobs.put(job)

    def cancel(self, job: Job) -> None:
        """From any thread; a job that has not begun never will."""
        with self._lock:
            job.cancelled.set()
            if self._current is job and self._runtime is not None:
                self._runtime.interrupt()

    def close(self) -> None:
        """End the thread after the jobs in hand and free the model; waits for it."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job.out.put(self._run(job))
            except Exception as error:
                job.out.put(error)
            finally:
                with self._lock:
                    self._current = None
        if self._runtime is not None:
            self._runtime.close()

    def _run(self, job: Job) -> Done:
        began = time.monotonic()
        lanes, runtime, loaded = self._ready(min(job.num_ctx, LARGEST_CONTEXT))
        load_s = time.monotonic() - began if loaded else 0.0
        with self._lock:
            self._current = job
            runtime.clear_interrupt()
            # A cancel from before this line has set the event; one after it interrupts.
            gone = job.cancelled.is_set()
        job.started.set()
        ids = [] if gone else chat_ids(runtime, job.messages)
        if gone:
            return _done("cancelled", ids, 0, 0, load_s)
        room = min(job.num_ctx, runtime.n_ctx, runtime.trained_ctx) - len(ids)
        if room < 1:
            raise ModelUnavailable(_too_long(len(ids), len(ids) + room))
        keep = lanes.switch(ids)
        writer = _Writer(job, runtime, lanes, limit=min(job.num_predict, room))
        finish = writer.write(ids[keep:])
        return _done(finish, ids, writer.count, keep, load_s)

    def _ready(self, num_ctx: int) -> tuple[Lanes, Runtime, bool]:
        if self._runtime is not None and self._lanes is not None and self._runtime.n_ctx >= num_ctx:
            return self._lanes, self._runtime, False
        with self._lock:
            if self._runtime is not None:
                self._runtime.close()
            self._runtime = None
            self._runtime = load_runtime(self._path, n_ctx=num_ctx, threads=self._threads)
            self._lanes = Lanes(self._runtime, parked_tokens=LARGEST_CONTEXT)
        return self._lanes, self._runtime, True


class _Writer:
    """Feeds a prompt and writes the reply to one job."""

    def __init__(self, job: Job, runtime: Runtime, lanes: Lanes, *, limit: int) -> None:
        self._job = job
        self._runtime = runtime
        self._lanes = lanes
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._drawn: list[int] = []

    @property
    def count(self) -> int:
        """Tokens drawn, the end token included."""
        return len(self._drawn)

    def write(self, fresh: Sequence[int]) -> Literal["stop", "length", "loop", "cancelled"]:
        draw = self._runtime.sampler(self._job.sampling)
        try:
            for at in range(0, len(fresh), BATCH):
                if self._job.cancelled.is_set():
                    return "cancelled"
                self._lanes.feed(fresh[at : at + BATCH])
            while self.count < self._limit:
                if self._job.cancelled.is_set():
                    return "cancelled"
                token = draw()
                self._drawn.append(token)
                if self._runtime.is_end(token):
                    return "stop"
                self._say(self._decoder.decode(self._runtime.piece(token)))
                if self.count % _LOOP_EVERY == 0 and in_a_loop(self._drawn):
                    return "loop"
                self._lanes.feed([token])
        except InterruptedError:
            return "cancelled"
        self._say(self._decoder.decode(b"", final=True))
        return "length"

    def _say(self, text: str) -> None:
        if text:
            self._job.out.put(text)


def in_a_loop(tokens: Sequence[int]) -> bool:
    """The same few tokens over and over at the end: 60 of one, 12 times a longer run."""
    for size in range(1, _LONGEST_LOOP + 1):
        times = max(12, 60 // size)
        tail = tokens[-size * times :]
        if len(tail) < size * 12:
            return False
        if len(tail) == size * times and tail[size:] == tail[:-size]:
            return True
    return False


def _done(
    finish: Literal["stop", "length", "loop", "cancelled"],
    ids: Sequence[int],
    drawn: int,
    keep: int,
    load_s: float,
) -> Done:
    return Done(
        finish=finish,
        input_tokens=len(ids),
        output_tokens=drawn,
        reused_tokens=keep,
        load_s=load_s,
    )


def _too_long(prompt: int, context: int) -> str:
    return (
        f"embedded: the prompt has {prompt} tokens and the context {context}. Raise num_ctx in "
        f"model_options (at most {LARGEST_CONTEXT}) or lower max_context_chars."
    )


def default_threads(cores: int | None) -> int:
    """All cores but one: threads that wait for a busy core make it 10 times slower."""
    return max(1, (cores or 2) - 1)


def usable_cores() -> int | None:
    """Cores this process may run on, where the system says; else those of the machine."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def shared_engine(path: Path) -> Engine:
    """The engine of this process: weights and context are loaded once for all roles."""
    return _engine_of(path, default_threads(usable_cores()), os.getpid())


@lru_cache(maxsize=4)
def _engine_of(path: Path, threads: int, _pid: int) -> Engine:
    # By process id: after a fork the thread of the parent's engine does not exist.
    return Engine(path, threads=threads)
