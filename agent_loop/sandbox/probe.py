"""What the facts from inside a container say about each protection. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_loop.ports import Box, ProbeLine
from agent_loop.sandbox.flags import ENVIRONMENT, MIB, RUNSC, RUNSC_SPARE_MIB

Facts = Mapping[str, Any]
Line = tuple[bool, str]
# Kinds of file systems that an engine puts into every container, and the single files it adds.
OWN_KINDS = {"proc", "sysfs", "devpts", "mqueue", "cgroup", "cgroup2", "tmpfs"}
OWN_POINTS = {"/dev", "/dev/pts", "/dev/mqueue", "/dev/shm", "/tmp"}  # noqa: S108
OWN_FILES = {"/etc/resolv.conf", "/etc/hostname", "/etc/hosts", "/dev/console"}
OWN_INITS = {"/sbin/docker-init", "/usr/sbin/docker-init"}
OWN_DEVICES = {
    *("console", "core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random"),
    *("stderr", "stdin", "stdout", "tty", "urandom", "zero"),
}
# gVisor makes these for every container; they lead to nothing of the host.
RUNSC_DEVICES = {"fuse", "net", "shm"}
MAX_PROCESSES = 3
MANY = 5
"""Mounts that a line of the report names one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the container was asked to be."""

    box: Box
    runtime: str
    host_namespaces: Mapping[str, str]
    """Of this process; empty where the engine runs on another kernel."""
    host_kernel: str
    image_environment: Mapping[str, str]
    selinux: bool = False

    @property
    def runsc(self) -> bool:
        return self.runtime == RUNSC


class Seen(dict[str, Any]):
    """Facts of which a failed look cannot be taken for an answer."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        value = super().__getitem__(name)
        if isinstance(value, str) and value.startswith("error:"):
            raise ValueError(value)
        return value


def judge(facts: Facts, expected: Expected) -> list[ProbeLine]:
    """One line for each protection, in a fixed order."""
    lines = []
    seen = Seen(facts)
    for protection, look in PROTECTIONS.items():
        try:
            held, detail = look(seen, expected)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            held, detail = False, f"could not be seen: {error!r}"
        lines.append(ProbeLine(protection=protection, held=held, detail=detail))
    return lines


def missing(lines: Sequence[ProbeLine]) -> str:
    """The protections that did not hold, as text; empty when all did."""
    return "; ".join(f"{line.protection} ({line.detail})" for line in lines if not line.held)


def _user(facts: Facts, _expected: Expected) -> Line:
    uids = facts["uids"]
    return all(isinstance(n, int) and n > 0 for n in uids) and bool(uids), f"ids {uids}"


def _capabilities(facts: Facts, _expected: Expected) -> Line:
    names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    found = {n: facts["status"][n] for n in names if n in facts["status"]}
    return len(found) >= 4 and not any(int(v, 16) for v in found.values()), str(found)


def _privileges(facts: Facts, _expected: Expected) -> Line:
    return facts["no_new_privileges"] == 1, f"no_new_privs = {facts['no_new_privileges']}"


def _seccomp(facts: Facts, expected: Expected) -> Line:
    mode = facts["status"].get("Seccomp", "?")
    if expected.runsc:
        return True, "not visible under runsc: gVisor answers system calls itself"
    return mode == "2", f"Seccomp: {mode}"


def _network(facts: Facts, _expected: Expected) -> Line:
    interfaces, answer = facts["interfaces"], facts["connect"]
    closed = answer in ("ENETUNREACH", "EHOSTUNREACH", "ENETDOWN")
    return interfaces in (["lo"], []) and closed, f"interfaces {interfaces}, connect: {answer}"


def _workspace(facts: Facts, expected: Expected) -> Line:
    wanted = expected.box.workspace
    if wanted is None:
        return facts["workspace_bytes"] == 0, "none wanted"
    mount = next((m for m in facts["mounts"] if m["point"] == wanted.target), None)
    if mount is None:
        return False, f"{wanted.target} is missing"
    size, options = facts["workspace_bytes"], mount["options"].split(",")
    # gVisor reaches the host's folder through a mount of its own kind, and holds both itself.
    kinds = ("tmpfs", "9p") if expected.runsc else ("tmpfs",)
    safe = {"nosuid", "nodev"} <= set(options) or expected.runsc
    held = mount["kind"] in kinds and safe and 0 < size <= wanted.size_mib * MIB
    return held, f"{mount['kind']}, {size / MIB:.0f} MiB, {mount['options']}"


def _root(facts: Facts, expected: Expected) -> Line:
    root = next(m for m in facts["mounts"] if m["point"] == "/")
    # gVisor answers statvfs without the read-only flag; its mount options are true.
    read_only = "ro" in root["options"].split(",") and (expected.runsc or facts["root_read_only"])
    allowed = {"/tmp", "/dev/mqueue"}  # noqa: S108
    if expected.box.workspace is not None:
        allowed.add(expected.box.workspace.target)
    extra = sorted(set(facts["writable"]) - allowed)
    return bool(read_only) and not extra, f"writable: {facts['writable']}"


def _tmp_noexec(facts: Facts, _expected: Expected) -> Line:
    return facts["tmp_program"] == "refused", f"a program in /tmp: {facts['tmp_program']}"


def _tmp_size(facts: Facts, expected: Expected) -> Line:
    kind = next((m["kind"] for m in facts["mounts"] if m["point"] == "/tmp"), "none")  # noqa: S108
    size, wanted = facts["tmp_bytes"], expected.box.limits.tmp_mib * MIB
    return kind == "tmpfs" and 0 < size <= wanted, f"{kind}, {size / MIB:.0f} MiB"


def _mounts(facts: Facts, expected: Expected) -> Line:
    ours = {m.target for m in expected.box.mounts}
    strange = []
    for mount in facts["mounts"]:
        point, read_only = mount["point"], "ro" in mount["options"].split(",")
        own_file = point in OWN_FILES | OWN_INITS
        if point in ours or point in OWN_INITS:
            if not read_only:
                strange.append(f"{point} is writable")
        elif not (own_file or _engines_own(mount) or _is_workspace(mount, expected)):
            strange.append(f"{point} from {mount['root']} ({mount['kind']})")
    gone = sorted(ours - {m["point"] for m in facts["mounts"]})
    problems = strange + [f"{target} is missing" for target in gone]
    shown = f"{len(ours)} of ours" if len(ours) > MANY else str(sorted(ours) or "none")
    return not problems, ", ".join(problems) or f"nothing of the host but {shown}"


def _is_workspace(mount: Mapping[str, str], expected: Expected) -> bool:
    """What it is and how large is looked at apart."""
    wanted = expected.box.workspace
    return wanted is not None and mount["point"] == wanted.target


def _engines_own(mount: Mapping[str, str]) -> bool:
    """The kind alone proves nothing: a socket of the host lies on a tmpfs, too."""
    point = mount["point"]
    place = point in OWN_POINTS or point.startswith(("/proc", "/sys"))
    return point == "/" or (place and mount["kind"] in OWN_KINDS)


def _readable(facts: Facts, expected: Expected) -> Line:
    bad = {target: why for target, why in facts["readable"].items() if why != "ok"}
    if not bad:
        return True, f"{len(facts['readable'])} mounted folders"
    fix = "the files must be readable for everybody (user 65534 reads them)"
    if expected.selinux:
        fix = (
            "this machine enforces SELinux and containers may not read the folder. "
            "Fix: chcon -Rt container_file_t FOLDER, or give the file system the context option"
        )
    return False, f"{bad}: {fix}"


def _devices(facts: Facts, expected: Expected) -> Line:
    allowed = OWN_DEVICES | (RUNSC_DEVICES if expected.runsc else set())
    extra = sorted(set(facts["devices"]) - allowed - {"shm"})
    return not extra, f"extra: {extra}" if extra else f"{len(facts['devices'])} harmless ones"


def _memory(facts: Facts, expected: Expected) -> Line:
    wanted = expected.box.limits.memory_mib * MIB
    seen = _first(facts, "memory/memory.limit_in_bytes", "memory.max")
    if seen is None and expected.runsc:
        limit = facts["address_space"]
        spare = RUNSC_SPARE_MIB * MIB
        note = f"{limit / MIB:.0f} MiB of addresses a process; the sum is not visible under runsc"
        return 0 < limit <= wanted + spare, note
    return seen is not None and seen.isdecimal() and int(seen) <= wanted, f"{seen} bytes"


def _swap(facts: Facts, expected: Expected) -> Line:
    both = _first(facts, "memory/memory.memsw.limit_in_bytes")
    if both is not None:
        return int(both) <= expected.box.limits.memory_mib * MIB, f"memory and swap: {both} bytes"
    only = _first(facts, "memory.swap.max")
    if only is None and facts["swap_kib"] == 0:
        return True, "none to be seen"
    fix = "" if only == "0" else ". Fix: swapoff -a, or boot the kernel with swapaccount=1"
    return only == "0", f"swap: {only}{fix}"


def _pids(facts: Facts, expected: Expected) -> Line:
    wanted = expected.box.limits.pids
    seen = _first(facts, "pids/pids.max", "pids.max")
    if seen is None and expected.runsc:
        return 0 < facts["nproc"] <= wanted, f"{facts['nproc']} (counted by gVisor)"
    return seen is not None and seen.isdecimal() and int(seen) <= wanted, f"at most {seen}"


def _cpus(facts: Facts, expected: Expected) -> Line:
    wanted = expected.box.limits.cpus
    quota = _first(facts, "cpu/cpu.cfs_quota_us")
    period = _first(facts, "cpu/cpu.cfs_period_us")
    if quota is None and (both := _first(facts, "cpu.max")):
        quota, _, period = both.partition(" ")
    if quota is None and expected.runsc:
        return True, "not visible under runsc; the time limits hold without it"
    if quota in (None, "-1", "max"):
        return False, "no limit"
    share = int(str(quota)) / int(period or "1")
    return 0 < share <= wanted + 0.01, f"{share:.2f} processors"


def _files(facts: Facts, expected: Expected) -> Line:
    soft, hard = facts["nofile"]
    return 0 < hard <= expected.box.limits.open_files, f"{soft} soft, {hard} hard"


def _shared_memory(facts: Facts, expected: Expected) -> Line:
    found = facts["shared_memory"]
    usable = {"/dev/shm"} & set(facts["writable"])  # noqa: S108
    if expected.runsc:
        return not usable, f"{found}, writable: {sorted(usable)}"
    return "/dev/shm" not in found, f"{found or 'none'}"  # noqa: S108


def _processes(facts: Facts, expected: Expected) -> Line:
    seen = facts["processes"]
    return 0 < len(seen) <= MAX_PROCESSES and "1" in seen, f"{len(seen)} to be seen"


def _namespaces(facts: Facts, expected: Expected) -> Line:
    if expected.runsc:
        return True, "not visible under runsc: gVisor has its own"
    own, host = facts["namespaces"], expected.host_namespaces
    shared = sorted(name for name in own if own[name] == host.get(name))
    # Told apart from "not compared": an engine in a virtual machine has another kernel.
    return isinstance(own, dict) and not shared, (
        f"shared with the host: {shared}" if shared else f"{len(host)} compared with the host's"
    )


def _environment(facts: Facts, expected: Expected) -> Line:
    known = dict(expected.image_environment) | ENVIRONMENT
    extra = sorted(
        name
        for name, value in facts["environment"].items()
        if known.get(name) != value and name not in ("HOSTNAME", "LC_CTYPE")
    )
    return not extra, f"not ours: {extra}" if extra else f"{len(facts['environment'])} names"


def _kernel(facts: Facts, expected: Expected) -> Line:
    name = facts["kernel"].split("#")[0].strip()
    if expected.runsc:
        return expected.host_kernel not in name, f"gVisor's: {name}"
    return True, "the host's own, as runc has it"


PROTECTIONS: Mapping[str, Callable[[Facts, Expected], Line]] = {
    "non-root user": _user,
    "capabilities": _capabilities,
    "no-new-privileges": _privileges,
    "seccomp": _seccomp,
    "network": _network,
    "read-only root": _root,
    "noexec /tmp": _tmp_noexec,
    "size of /tmp": _tmp_size,
    "workspace": _workspace,
    "host paths": _mounts,
    "mounts readable": _readable,
    "devices": _devices,
    "memory limit": _memory,
    "swap": _swap,
    "process limit": _pids,
    "processor limit": _cpus,
    "file limit": _files,
    "shared memory": _shared_memory,
    "process space": _processes,
    "namespaces": _namespaces,
    "environment": _environment,
    "kernel": _kernel,
}


def _first(facts: Facts, *names: str) -> str | None:
    """The first of these cgroup files that is there."""
    cgroup = facts["cgroup"]
    return next((cgroup[name] for name in names if name in cgroup), None)
