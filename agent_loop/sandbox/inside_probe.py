"""Looks at its own container and tells what it sees; judges nothing.

Runs inside, with the standard library only. Whatever cannot be looked at becomes an `error:` text,
which no protection accepts as held.
"""

import ctypes
import errno
import json
import os
import resource
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CGROUP_FILES = (
    "memory/memory.limit_in_bytes",
    "memory/memory.memsw.limit_in_bytes",
    "pids/pids.max",
    "cpu/cpu.cfs_quota_us",
    "cpu/cpu.cfs_period_us",
    "memory.max",
    "memory.swap.max",
    "pids.max",
    "cpu.max",
)
# A test network (RFC 5737): the route is looked up, and nobody is there to answer.
NOWHERE = ("192.0.2.1", 9)


def attempt(look: Callable[[], object]) -> object:
    try:
        return look()
    except Exception as error:
        return f"error: {error!r}"


def text(path: str) -> str:
    return Path(path).read_text("utf-8", "replace").strip()


def status() -> dict[str, str]:
    """/proc/self/status as a mapping."""
    lines = (line.partition(":") for line in text("/proc/self/status").splitlines())
    return {name: value.strip() for name, _, value in lines}


def mounts() -> list[dict[str, str]]:
    """Every mount: point, what of the source, kind, options of mount and file system."""
    found = []
    for line in text("/proc/self/mountinfo").splitlines():
        front, _, back = line.partition(" - ")
        root, point, options = front.split()[3:6]
        kind, source, more = [*back.split(), "", "", ""][:3]
        found.append(
            {
                "point": point,
                "root": root,
                "kind": kind,
                "source": source,
                "options": f"{options},{more}",
            }
        )
    return found


def connect() -> str:
    """The name of the error a connection gets."""
    with socket.socket() as sock:
        sock.settimeout(0.3)
        try:
            sock.connect(NOWHERE)
        except TimeoutError:
            return "TIMEOUT"
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, repr(error))
    return "CONNECTED"


def writable() -> list[str]:
    """Folders in which a file can be made."""
    folders = {str(entry["point"]) for entry in mounts()}
    folders |= {f"/{entry}" for entry in os.listdir("/")} | {"/", "/var/tmp", "/var/lib"}
    found = []
    for folder in sorted(folders):
        if folder.startswith("/proc") or not Path(folder).is_dir():
            continue
        try:
            with tempfile.NamedTemporaryFile(dir=folder):
                found.append(folder)
        except OSError:
            continue
    return found


def runs_from_tmp() -> str:
    """What happens to a program file in /tmp."""
    path = Path("/tmp/probe-program")
    path.write_text("#!/bin/sh\nexit 7\n")
    path.chmod(0o755)
    child = os.fork()
    if child == 0:
        try:
            os.execv(path, [str(path)])
        finally:
            os._exit(9)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    path.unlink()
    return {7: "runs", 9: "refused"}.get(code, f"error: exit code {code}")


def readable(targets: list[str]) -> dict[str, str]:
    """For each mounted folder or file: `ok`, or why its content cannot be read."""
    found = {}
    for target in targets:
        try:
            folder = Path(target).is_dir()
            for name in sorted(os.listdir(target)) if folder else [target]:
                path = Path(target) / name
                if path.is_file():
                    path.read_bytes()[:1]
                    break
            found[target] = "ok"
        except OSError as error:
            found[target] = errno.errorcode.get(error.errno or 0, repr(error))
    return found


def processes() -> dict[str, str]:
    """Every process that can be seen."""
    numbers = [name for name in os.listdir("/proc") if name.isdecimal()]
    return {number: str(attempt(lambda n=number: text(f"/proc/{n}/comm"))) for number in numbers}  # type: ignore[misc]


def cgroup() -> dict[str, str]:
    root = "/sys/fs/cgroup/"
    return {name: text(root + name) for name in CGROUP_FILES if Path(root + name).exists()}


def no_new_privileges() -> int:
    """Asked of the kernel: gVisor's status file does not say."""
    get_no_new_privs = 39
    return int(ctypes.CDLL(None).prctl(get_no_new_privs, 0, 0, 0, 0))


def size_bytes(folder: str) -> int:
    state = os.statvfs(folder)
    return state.f_blocks * state.f_frsize


def namespaces() -> dict[str, str]:
    names = ("net", "ipc", "pid", "mnt", "uts")
    return {name: os.readlink(f"/proc/self/ns/{name}") for name in names}


def look(targets: list[str], workspace: str = "") -> dict[str, object]:
    """All facts."""
    looks: dict[str, Callable[[], object]] = {
        "uids": lambda: [*os.getresuid(), *os.getresgid(), *os.getgroups()],
        "status": status,
        "interfaces": lambda: [name for _, name in socket.if_nameindex()],
        "connect": connect,
        "mounts": mounts,
        "root_read_only": lambda: bool(os.statvfs("/").f_flag & os.ST_RDONLY),
        "writable": writable,
        "tmp_bytes": lambda: size_bytes("/tmp"),
        "workspace_bytes": lambda: size_bytes(workspace) if workspace else 0,
        "tmp_program": runs_from_tmp,
        "cgroup": cgroup,
        "no_new_privileges": no_new_privileges,
        "nofile": lambda: list(resource.getrlimit(resource.RLIMIT_NOFILE)),
        "address_space": lambda: resource.getrlimit(resource.RLIMIT_AS)[1],
        "nproc": lambda: resource.getrlimit(resource.RLIMIT_NPROC)[1],
        "shared_memory": lambda: [p for p in ("/dev/shm", "/dev/mqueue") if Path(p).exists()],
        "namespaces": namespaces,
        "processes": processes,
        "environment": lambda: dict(os.environ),
        "devices": lambda: sorted(os.listdir("/dev")),
        "swap_kib": lambda: int(text("/proc/meminfo").partition("SwapTotal:")[2].split()[0]),
        "kernel": lambda: text("/proc/version"),
        "readable": lambda: readable(targets),
    }
    return {name: attempt(one) for name, one in looks.items()}


def main() -> None:
    """Facts for the targets that a module `wanted` names."""
    wanted = sys.modules["wanted"]
    print(json.dumps(look(list(wanted.TARGETS), wanted.WORKSPACE)), flush=True)
