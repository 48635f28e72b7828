"""The only door to processes. Every child leads a group of its own, and whole groups are killed."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAX_OUTPUT_BYTES = 16 << 20
_CHUNK_BYTES = 1 << 16
_GRACE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a finished process ended."""

    code: int
    """Exit code; negative: killed by that signal."""
    out: bytes
    err: bytes
    timed_out: bool = False
    overflowed: bool = False
    """It wrote more than allowed and was killed for it."""
    seconds: float = 0.0


class Child:
    """A running process with its pipes as file descriptors (blocking)."""

    def __init__(self, popen: "subprocess.Popen[bytes]") -> None:
        self._popen = popen
        self.pid = popen.pid

    @property
    def stdin(self) -> int:
        """File descriptor to write to."""
        return _pipe(self._popen.stdin).fileno()

    @property
    def stdout(self) -> int:
        """File descriptor to read from; standard error comes the same way unless kept apart."""
        return _pipe(self._popen.stdout).fileno()

    def close_input(self) -> None:
        """Tell the process that nothing more comes."""
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    def poll(self) -> int | None:
        """Exit code, `None` while it runs."""
        return self._popen.poll()

    def wait(self, timeout_s: float) -> int | None:
        """Exit code, `None` when it still runs after `timeout_s`."""
        try:
            return self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Kill the whole group; safe to call twice and after its end."""
        _kill_group(self._popen)

    def close(self) -> None:
        """Kill, reap and give the pipes back."""
        self.kill()
        self.wait(_GRACE_S)
        self.close_input()
        for pipe in (self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def start(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    merge_stderr: bool = True,
    stderr: int | None = None,
) -> Child:
    """Start a process and talk to it over its pipes.

    Args:
        argv: program and arguments; never a shell line.
        cwd: folder it starts in.
        env: its whole environment; `None` hands ours down.
        merge_stderr: standard error joins standard output; otherwise it is thrown away.
        stderr: a file descriptor that takes standard error instead; stays open here.

    Raises:
        OSError: the program is missing or cannot be started.
    """
    error_to = subprocess.STDOUT if merge_stderr else subprocess.DEVNULL
    return Child(_popen(argv, cwd, env, subprocess.PIPE, error_to if stderr is None else stderr))


def run(
    argv: Sequence[str],
    *,
    timeout_s: float,
    input: bytes | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    max_output_bytes: int = MAX_OUTPUT_BYTES,
) -> Done:
    """Run a process to its end; its group is killed past `timeout_s` or `max_output_bytes`.

    Raises:
        OSError: the program is missing or cannot be started.
    """
    began = time.monotonic()
    stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
    popen = _popen(argv, cwd, env, stdin, subprocess.PIPE)
    room = _Room(max_output_bytes)
    out, err = bytearray(), bytearray()
    threads = [
        _thread(_drain, popen, _pipe(popen.stdout), out, room),
        _thread(_drain, popen, _pipe(popen.stderr), err, room),
    ]
    if input is not None:
        threads.append(_thread(_feed, _pipe(popen.stdin), input))
    timed_out = _wait(popen, timeout_s)
    _kill_group(popen)  # what it left running in its group, holding the pipes
    for thread in threads:
        thread.join(_GRACE_S)
    return Done(
        code=popen.wait(),
        out=bytes(out),
        err=bytes(err),
        timed_out=timed_out,
        overflowed=room.overflowed,
        seconds=time.monotonic() - began,
    )


class _Room:
    """Bytes that may still be kept, for both streams together."""

    def __init__(self, left: int) -> None:
        self._left = left
        self._lock = threading.Lock()
        self.overflowed = False

    def take(self, wanted: int) -> int:
        with self._lock:
            given = min(wanted, self._left)
            self._left -= given
            self.overflowed = self.overflowed or given < wanted
            return given


def _popen(
    argv: Sequence[str],
    cwd: Path | None,
    env: Mapping[str, str] | None,
    stdin: int,
    stderr: int,
) -> "subprocess.Popen[bytes]":
    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return subprocess.Popen(
        list(argv),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=cwd,
        env=None if env is None else dict(env),
        bufsize=0,
        start_new_session=os.name != "nt",
        creationflags=flags,
    )


def _wait(popen: "subprocess.Popen[bytes]", timeout_s: float) -> bool:
    try:
        popen.wait(timeout_s)
    except subprocess.TimeoutExpired:
        _kill_group(popen)
        popen.wait()
        return True
    except BaseException:
        _kill_group(popen)
        raise
    return False


def _drain(popen: "subprocess.Popen[bytes]", pipe: IO[bytes], kept: bytearray, room: _Room) -> None:
    with pipe:
        while chunk := pipe.read(_CHUNK_BYTES):
            given = room.take(len(chunk))
            kept += chunk[:given]
            if given < len(chunk):
                _kill_group(popen)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    with contextlib.suppress(OSError), pipe:
        while view:
            view = view[pipe.write(view) or 0 :]


def _thread(work: object, *args: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=args, daemon=True)  # type: ignore[arg-type]
    thread.start()
    return thread


def _kill_group(popen: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(OSError):
        if os.name == "nt":
            popen.kill()
        else:
            os.killpg(popen.pid, signal.SIGKILL)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ValueError("this process was started without that pipe")
    return pipe
