"""Who a container belongs to: a process of a machine, and whether it still lives."""

import hashlib
import os
import platform
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_loop import procs

MARK = "agent-loop"
"""Label that every container of ours carries."""
HOST, BOOT, PID, STARTED = (f"{MARK}.{word}" for word in ("host", "boot", "pid", "started"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One process; a reused number has another `started`."""

    host: str
    """Machine and process-number space: numbers mean nothing outside it."""
    boot: str
    pid: int
    started: str

    def labels(self) -> dict[str, str]:
        return {
            MARK: "session",
            HOST: self.host,
            BOOT: self.boot,
            PID: str(self.pid),
            STARTED: self.started,
        }


def this_process() -> Owner:
    pid = os.getpid()
    return Owner(host=_host(), boot=_boot(), pid=pid, started=started(pid) or "unknown")


def gone(labels: Mapping[str, str], me: Owner) -> bool:
    """Whether the labels name an owner of this machine that lives no more.

    Anything doubtful is somebody else's and alive.
    """
    if labels.get(HOST) != me.host or not labels.get(PID, "").isdecimal():
        return False
    if labels.get(BOOT) != me.boot:
        return True
    now = started(int(labels[PID]))
    if now is None:
        return True
    return "unknown" not in (now, labels.get(STARTED)) and now != labels.get(STARTED)


def started(pid: int) -> str | None:
    """When a process started, in whatever the system counts; `None`: there is no such process."""
    if sys.platform == "linux":
        return _started_linux(pid)
    if os.name == "posix":
        done = procs.run(["ps", "-o", "lstart=", "-p", str(pid)], timeout_s=10)
        return done.out.decode("utf-8", "replace").strip() or None
    return "unknown"


def _started_linux(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError:
        return "unknown"
    # The name in brackets may hold anything; field 3 is the state, field 22 the start in ticks.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def _host() -> str:
    parts = [platform.node(), _text("/etc/machine-id") or str(uuid.getnode())]
    try:
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        parts.append("one")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _boot() -> str:
    return _text("/proc/sys/kernel/random/boot_id") or "unknown"


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError:
        return ""
