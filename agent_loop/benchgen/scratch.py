"""The folder a command works in: gone when it ends, however it ends."""

import contextlib
import shutil
import signal
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from agent_loop.assemble.stopping import leave_at_once
from agent_loop.store import ThreadLock, lock_holder

_PREFIX = "benchgen-"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def working_folder(state: Path) -> Iterator[Path]:
    """A new folder in `state` that containers can read.

    Its lock beside it dies with this process: what a killed one has left is removed by the next.
    """
    state.mkdir(parents=True, exist_ok=True)
    sweep(state)
    place = state / f"{_PREFIX}{uuid.uuid4().hex[:8]}"
    # The lock comes first and goes last: a folder without a lock has no owner.
    try:
        with ThreadLock(_lock_of(place), place.name, ""):
            place.mkdir(mode=0o755)
            place.chmod(0o755)
            yield place
    finally:
        discard(place)


def discard(place: Path) -> None:
    """Remove a working folder and its lock, as far as the system lets us."""
    shutil.rmtree(place, ignore_errors=True)
    with contextlib.suppress(OSError):
        _lock_of(place).unlink()


def sweep(state: Path) -> None:
    """Remove the folders whose owners are gone."""
    for place in sorted(state.glob(f"{_PREFIX}*/")):
        if not place.is_symlink() and lock_holder(_lock_of(place)) is None:
            discard(place)


def _lock_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.lock")


@contextlib.contextmanager
def leaving_clean(close: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM close and leave at once: nothing of a build is worth a wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def heard(number: int, frame: FrameType | None) -> None:
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        leave_at_once(close)

    before = {number: signal.signal(number, heard) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
